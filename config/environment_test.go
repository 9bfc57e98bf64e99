package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

// twoWorlds is a directory with two environments; more is put into the first.
func twoWorlds(more string) map[string]string {
	return map[string]string{"main.hcl": `
environment "production" {
  variables = { period = "of the environment" }
` + more + `
}

environment "staging" {}

variable "period" {
  type    = string
  default = "of the default"
}

transfer "internal" "rent" {
  ref_id          = var.period
  from_profile_id = "treasury"
  to_profile_id   = "landlord"
  amount          = "1.00"
  asset           = "USD"
}
`}
}

func TestAVariableHasItsLastValue(t *testing.T) {
	const automatic = "1.auto.hclvars"
	tests := map[string]struct {
		environment string
		files       map[string]string
		getenv      map[string]string
		assignments []config.Assignment
		want        string
	}{
		"the default is the first":                       {environment: "staging", want: "of the default"},
		"values of another environment do not count":     {environment: "staging", getenv: map[string]string{"REMIT_VAR_period": "of REMIT_VAR"}, want: "of REMIT_VAR"},
		"an environment goes before REMIT_VAR":           {environment: "production", getenv: map[string]string{"REMIT_VAR_period": "of REMIT_VAR"}, want: "of the environment"},
		"an environment goes before remit.hclvars":       {environment: "production", files: map[string]string{"remit.hclvars": `period = "of a file"`}, want: "of the environment"},
		"an environment goes before *.auto.hclvars":      {environment: "production", files: map[string]string{automatic: `period = "of a file"`}, want: "of the environment"},
		"the command line goes before all":               {environment: "production", assignments: []config.Assignment{{Var: "period=typed"}}, want: "typed"},
		"so does its file":                               {environment: "production", files: map[string]string{"v.hclvars": `period = "of its file"`}, assignments: []config.Assignment{{File: "v.hclvars"}}, want: "of its file"},
		"the environment variable chooses":               {getenv: map[string]string{config.EnvironmentVariable: "production"}, want: "of the environment"},
		"what the command line chooses goes before that": {environment: "staging", getenv: map[string]string{config.EnvironmentVariable: "production"}, want: "of the default"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := twoWorlds("")
			for file, text := range test.files {
				files[file] = text + "\n"
			}
			c := mustLoad(t, files, config.Options{Environment: test.environment, Getenv: environment(test.getenv), Assignments: test.assignments})
			transfers, diags := all(c)
			if diags.HasErrors() || len(transfers) != 1 {
				t.Fatal(len(transfers), diags)
			}
			if got := transfers[0].Request.RefID; got != test.want {
				t.Errorf("the variable is %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnEnvironmentHasItsOwnBlocks(t *testing.T) {
	top := "\nstate \"postgres\" {\n  url = \"postgres://db.example/remit\"\n}\n\nservice {\n  base_url   = \"https://api.example.com\"\n  client_id  = \"top\"\n  timeout    = \"7s\"\n}\n"
	own := "  state \"sqlite\" {\n    path = \"own.db\"\n  }\n  service {\n    base_url = \"https://own.example.com\"\n  }\n"
	tests := map[string]struct {
		environment, own, top string
		wantState             config.StateBackend
		wantURL               string
		wantClient            string
	}{
		"of its own, as a whole":     {"production", own, top, config.StateBackend{Kind: "sqlite", Path: "own.db"}, "https://own.example.com", ""},
		"of the top level":           {"staging", own, top, config.StateBackend{Kind: "postgres", URL: "postgres://db.example/remit", Schema: "remit_staging"}, "https://api.example.com", "top"},
		"a state by the name":        {"staging", own, "", config.StateBackend{Kind: "sqlite", Path: "remit.staging.db"}, "", ""},
		"a state by the name, twice": {"production", "", "", config.StateBackend{Kind: "sqlite", Path: "remit.production.db"}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := twoWorlds(test.own)
			files["main.hcl"] += test.top
			c := mustLoad(t, files, config.Options{Environment: test.environment})
			if diff := cmp.Diff(test.wantState, c.State); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if c.Service.BaseURL != test.wantURL || c.Named().ID != test.wantClient {
				t.Errorf("service %q with client %q, want %q with %q", c.Service.BaseURL, c.Named().ID, test.wantURL, test.wantClient)
			}
		})
	}
}

func TestMistakesOfEnvironments(t *testing.T) {
	tests := map[string]struct {
		text        string // instead of what twoWorlds has, where it begins with a line break; else more of it
		environment string
		want        string // in the summary or the detail of an error
	}{
		"none is chosen":                            {want: "--environment=production"},
		"none has the name":                         {environment: "prod", want: `Did you mean "production"?`},
		"a variable of another one is not declared": {environment: "staging", text: "\nenvironment \"a\" {\n  variables = { perod = \"x\" }\n}\n\nenvironment \"staging\" {}\n", want: `No variable "perod" is declared`},
		"a value is computed":                       {environment: "a", text: "\nvariable \"period\" {}\n\nenvironment \"a\" {\n  variables = { period = 2026-11 }\n}\n", want: "Date is computed"},
		"a value refers to something":               {environment: "a", text: "\nvariable \"period\" {}\n\nenvironment \"a\" {\n  variables = { period = var.period }\n}\n", want: "Nothing can be referred to here"},
		"a value is no map":                         {environment: "a", text: "\nenvironment \"a\" {\n  variables = \"no\"\n}\n", want: "No map of variables"},
		"a reserved name":                           {environment: "Sandbox", text: "\nenvironment \"Sandbox\" {}\n", want: "is reserved"},
		"a name that leads out":                     {environment: "../a", text: "\nenvironment \"../a\" {}\n", want: "part of the name of a file"},
		"two names in other letters":                {environment: "a", text: "\nenvironment \"a\" {}\n\nenvironment \"A\" {}\n", want: "case of letters"},
		"one name twice":                            {environment: "a", text: "\nenvironment \"a\" {}\n\nenvironment \"a\" {}\n", want: "already declared"},
		"one state by words":                        {environment: "a", text: "\nenvironment \"a\" {}\n\nenvironment \"b\" {\n  state \"sqlite\" {\n    path = \"./remit.a.db\"\n  }\n}\n", want: "Two environments with one state"},
		"one state by an absolute path":             {environment: "a", text: "\nenvironment \"a\" {\n  state \"sqlite\" {\n    path = \"/nowhere/x.db\"\n  }\n}\n\nenvironment \"b\" {\n  state \"sqlite\" {\n    path = \"/nowhere/./X.db\"\n  }\n}\n", want: "Two environments with one state"},
		"protection that is computed":               {environment: "a", text: "\nenvironment \"a\" {\n  protected = true && false\n}\n", want: "Value is computed"},
		"protection by a variable":                  {environment: "a", text: "\nvariable \"p\" {\n  default = true\n}\n\nenvironment \"a\" {\n  protected = var.p\n}\n", want: "Nothing can be referred to here"},
		"protection as text":                        {environment: "a", text: "\nenvironment \"a\" {\n  protected = \"true\"\n}\n", want: "protected"},
		"the name of a device":                      {environment: "Con", text: "\nenvironment \"Con\" {}\n", want: "device on Windows"},
		"the name of a port":                        {environment: "lpt1", text: "\nenvironment \"lpt1\" {}\n", want: "device on Windows"},
		"a name of look-alikes":                     {environment: "prоd", text: "\nenvironment \"prоd\" {}\n", want: "letters without accents"},
		"a name with a dot":                         {environment: "a.b", text: "\nenvironment \"a.b\" {}\n", want: "letters without accents"},
		"a name of 101 characters":                  {text: "\nenvironment \"" + strings.Repeat("a", 101) + "\" {}\n", want: "at most 100 are possible"},
		"one state of the top level":                {environment: "a", text: "\nenvironment \"a\" {}\n\nenvironment \"b\" {}\n\nstate \"sqlite\" {\n  path = \"remit.db\"\n}\n", want: "Two environments with one state"},
		"one state by what is chosen":               {environment: "a", text: "\nvariable \"p\" {\n  default = \"x.db\"\n}\n\nenvironment \"a\" {\n  state \"sqlite\" {\n    path = var.p\n  }\n}\n\nenvironment \"b\" {\n  state \"sqlite\" {\n    path = \"x.db\"\n  }\n}\n", want: "Two environments with one state"},
		"one schema":                                {environment: "a", text: "\nstate \"postgres\" {\n  url    = \"postgres://db.example/remit\"\n  schema = \"one\"\n}\n\nenvironment \"a\" {}\n\nenvironment \"b\" {}\n", want: "Two environments with one state"},
		"the remit block names one too":             {environment: "a", text: "\nremit {\n  environment = \"a\"\n}\n\nenvironment \"a\" {}\n", want: "Environment is said twice"},
		"a directory without blocks has another":    {environment: "a", text: "\nremit {\n  environment = \"b\"\n}\n", want: `has the environment "b" alone`},
		"two state blocks":                          {environment: "a", text: "\nenvironment \"a\" {\n  state \"sqlite\" {}\n  state \"sqlite\" {}\n}\n", want: "has a state block already"},
		"an expression asks which is chosen":        {environment: "a", text: "\nenvironment \"a\" {}\n\nlocals {\n  which = environment.a\n}\n", want: "environment"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := twoWorlds(test.text)
			if strings.HasPrefix(test.text, "\n") {
				files["main.hcl"] = test.text
			}
			_, diags := load(t, files, config.Options{Environment: test.environment})
			for _, d := range diags {
				if strings.Contains(d.Summary+": "+d.Detail, test.want) {
					return
				}
			}
			t.Errorf("no mistake has %q: %v", test.want, diags)
		})
	}
}

// TestASecretOfAnEnvironmentIsNotShown has a mistake in the value of a sensitive variable: no message has its
// place, whose line would be shown.
func TestASecretOfAnEnvironmentIsNotShown(t *testing.T) {
	for name, value := range map[string]string{"of another type": `["hunter2"]`, "that refers": "hunter2", "that is computed": "1-hunter2"} {
		t.Run(name, func(t *testing.T) {
			_, diags := load(t, map[string]string{"main.hcl": "variable \"key\" {\n  type      = string\n  sensitive = true\n}\n\nenvironment \"a\" {\n  variables = { key = " + value + " }\n}\n"}, config.Options{})
			if !diags.HasErrors() {
				t.Fatal("there is no mistake")
			}
			for _, d := range diags {
				if d.Subject != nil && d.Subject.Start.Line > 5 || strings.Contains(d.Detail, "hunter2") {
					t.Errorf("a mistake shows the value: %v", d)
				}
			}
		})
	}
}

func TestEnvironmentsAreFoundWithoutTheRest(t *testing.T) {
	files := twoWorlds("  protected = true\n  description = \"what treasury runs\"")
	files["wrong.hcl"] = "transfer \"internal\" \"x\" {\n  amount = 12\n}\n"
	c, _ := load(t, files, config.Options{Environment: "staging"})
	got, diags := config.Environments(c.Dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := []config.DeclaredEnvironment{
		{Name: "production", Description: "what treasury runs", Protected: true, Place: config.Place{File: "main.hcl", Line: 2}},
		{Name: "staging", Place: config.Place{File: "main.hcl", Line: 8}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOtherEnvironmentsNeedNoValues has a variable for the state of each environment: a job has that of its own alone.
func TestOtherEnvironmentsNeedNoValues(t *testing.T) {
	text := `
variable "place_a" { type = string }
variable "place_b" { type = string }
variable "client" { type = string }
variable "nothing" { type = string }

environment "a" {
  state "sqlite" {
    path = var.place_a
  }
  service {
    base_url  = "https://a.example.com"
    client_id = "a"
  }
}

environment "b" {
  state "sqlite" {
    path = var.place_b
  }
}

service {
  base_url  = "https://b.example.com/${var.client}"
  client_id = "b"
}
`
	for name, test := range map[string]struct {
		environment string
		given       map[string]string
		want        string // the variables that are missing
	}{
		"its own is missing":                    {"a", map[string]string{"REMIT_VAR_nothing": "x"}, "place_a"},
		"it has its own":                        {"a", map[string]string{"REMIT_VAR_nothing": "x", "REMIT_VAR_place_a": "a.db"}, ""},
		"what no block uses is missing":         {"a", map[string]string{"REMIT_VAR_place_a": "a.db"}, "nothing"},
		"another uses what is of the top level": {"b", map[string]string{"REMIT_VAR_nothing": "x", "REMIT_VAR_place_b": "b.db"}, "client"},
		"an empty one is none":                  {"b", map[string]string{"REMIT_VAR_nothing": "x", "REMIT_VAR_place_b": "b.db", "REMIT_VAR_client": "c", "REMIT_VAR_place_a": ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := load(t, map[string]string{"main.hcl": text}, config.Options{Environment: test.environment, Getenv: environment(test.given)})
			var missing []string
			for _, d := range diags {
				if d.Summary != "Variable has no value" {
					t.Errorf("another mistake: %v", d)
				}
				missing = append(missing, strings.TrimPrefix(strings.Fields(d.Detail)[0], "var."))
			}
			if got := strings.Join(missing, ","); got != test.want {
				t.Errorf("missing: %q, want %q", got, test.want)
			}
		})
	}
}

// TestALinkIsNoOtherState has two environments whose states are one file by a link of the directory.
func TestALinkIsNoOtherState(t *testing.T) {
	c, diags := load(t, twoWorlds(""), config.Options{Environment: "staging"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if err := os.Symlink(".", filepath.Join(c.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	text := "environment \"a\" {\n  state \"sqlite\" {\n    path = \"x.db\"\n  }\n}\n\nenvironment \"b\" {\n  state \"sqlite\" {\n    path = \"link/x.db\"\n  }\n}\n"
	if err := os.WriteFile(filepath.Join(c.Dir, "main.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags = config.Load(c.Dir, config.Options{Environment: "a", Getenv: environment(nil)})
	if !diags.HasErrors() || diags[0].Summary != "Two environments with one state" {
		t.Errorf("not refused: %v", diags)
	}
}
