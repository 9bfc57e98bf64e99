package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/transfer"
)

// load writes files into a new directory and loads it.
func load(t *testing.T, files map[string]string, opts config.Options) (*config.Configuration, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, dir, name, []byte(text))
	}
	return config.Load(dir, opts)
}

// mustLoad is load for files without a mistake.
func mustLoad(t *testing.T, files map[string]string, opts config.Options) *config.Configuration {
	t.Helper()
	c, diags := load(t, files, opts)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return c
}

// all reads the whole stream.
func all(c *config.Configuration) ([]config.Transfer, hcl.Diagnostics) {
	var transfers []config.Transfer
	var mistakes mistake.Set
	for transfer, diags := range c.Transfers(context.Background()) {
		mistakes.Add(diags)
		if !diags.HasErrors() {
			transfers = append(transfers, transfer)
		}
	}
	return transfers, mistakes.Diagnostics()
}

// environment is a Getenv of the given pairs.
func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestBlocksThatAreNoTransfers(t *testing.T) {
	c := mustLoad(t, map[string]string{"main.hcl": `
remit { environment = "production" }
state "sqlite" { path = "books/${var.entity}.db" }
variable "entity" { default = "acme" }
service {
  base_url        = "HTTPS://API.Example.com:443/v1/"
  operator        = "brand"
  lookup_path     = "/v2/transfers"
  fingerprint_key = "fp"
  replay_window   = "2d12h"
  on_doubt        = "hold"
  precheck        = "new"
  max_in_flight   = 64
  timeout         = "5s"
  ca_file         = "ca.pem"
  rate_limit {
    internal = "10/1s"
    platform = "6000/5m"
  }
}
sandbox {
  opening_balance {
    profile_id = profile.a.profile_id
    asset      = "USD"
    amount     = "100.00"
  }
}
profile "a" { profile_id = "A-1" }
batch "b" { description = "Salaries" }
batch "a" {}
`}, config.Options{})
	want := config.Configuration{
		Dir: c.Dir, Environment: "production",
		State: config.StateBackend{Kind: "sqlite", Path: "books/acme.db"},
		Service: config.Service{
			BaseURL: "https://api.example.com/v1", Operator: "brand", LookupPath: "/v2/transfers", LookupMax: 100,
			FingerprintKey: "fp", ReplayWindow: 60 * time.Hour, HoldDoubt: true, PrecheckNew: true,
			AuthStyle: "auto", InFlightMax: 64, Timeout: 5 * time.Second, CAFile: "ca.pem",
			RateLimits: map[transfer.Operation]config.RateLimit{
				transfer.Internal: {Requests: 10, Window: time.Second},
				transfer.Platform: {Requests: 6000, Window: 5 * time.Minute},
			},
		},
		Sandbox: config.Sandbox{OpeningBalances: []config.OpeningBalance{
			{ProfileID: "A-1", Asset: "USD", Amount: transfer.MustAmount("100.00")},
		}},
		Batches: []config.Batch{
			{Name: "b", Description: "Salaries", Place: config.Place{File: "main.hcl", Line: 29}},
			{Name: "a", Place: config.Place{File: "main.hcl", Line: 30}},
		},
	}
	if diff := cmp.Diff(want, *c, cmpopts.IgnoreUnexported(config.Configuration{})); diff != "" {
		t.Error(diff)
	}
	if diags := c.RequireService(); diags.HasErrors() || !c.ServiceDeclared() {
		t.Error("the service is not seen as declared:", diags)
	}
}

func TestDefaults(t *testing.T) {
	c := mustLoad(t, map[string]string{"main.hcl": ""}, config.Options{})
	want := config.Configuration{
		Dir: c.Dir, Environment: "default",
		State: config.StateBackend{Kind: "sqlite", Path: "remit.db"},
		Service: config.Service{
			Operator: "platform", LookupMax: 100, ReplayWindow: 24 * time.Hour, AuthStyle: "auto", InFlightMax: 8, Timeout: 30 * time.Second,
			RateLimits: map[transfer.Operation]config.RateLimit{},
		},
	}
	if diff := cmp.Diff(want, *c, cmpopts.IgnoreUnexported(config.Configuration{})); diff != "" {
		t.Error(diff)
	}
	if diags := c.RequireService(); !diags.HasErrors() || c.ServiceDeclared() {
		t.Error("a service is seen as declared")
	}
}

func TestAddressesOfTheService(t *testing.T) {
	for sentence, c := range map[string]struct{ url, want string }{
		"https is normalised":               {"HTTPS://Api.Example.com:443/a/", "https://api.example.com/a"},
		"a port of its own stays":           {"https://api.example.com:8443", "https://api.example.com:8443"},
		"http on this host by name":         {"http://localhost:8080/", "http://localhost:8080"},
		"http on this host by number":       {"http://127.0.0.1:80", "http://127.0.0.1"},
		"http on this host by number of v6": {"http://[::1]:8080", "http://[::1]:8080"},
		"http elsewhere":                    {"http://api.example.com", ""},
		"a name that only looks local":      {"http://localhost.example.com", ""},
		"a user":                            {"https://u:p@api.example.com", ""},
		"a query":                           {"https://api.example.com/?a=b", ""},
		"no scheme":                         {"api.example.com", ""},
		"another scheme":                    {"ftp://api.example.com", ""},
		"dots in the path":                  {"https://api.example.com/v1/../v2", ""},
		"a dot in the path, escaped":        {"https://api.example.com/%2e/v2", ""},
		"a name with dots in the path":      {"https://api.example.com/v1..2/", "https://api.example.com/v1..2"},
		"an empty fragment":                 {"https://api.example.com/#", ""},
		"a port that there is not":          {"https://api.example.com:65536", ""},
		"port 0":                            {"https://api.example.com:0", ""},
		"a Cyrillic letter in the host":     {"https://аpi.example.com", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			c2, diags := load(t, map[string]string{"main.hcl": fmt.Sprintf("service { base_url = %q }", c.url)}, config.Options{})
			if c2.Service.BaseURL != c.want || diags.HasErrors() != (c.want == "") {
				t.Errorf("got %q, want %q; %v", c2.Service.BaseURL, c.want, diags)
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	secretFile := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secretFile, []byte("from-file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const variables = "variable \"id\" {}\nvariable \"secret\" { sensitive = true }\n"
	const whole = variables + `service {
  base_url      = "https://api.example.com"
  token_url     = "https://oauth.example.com/token"
  client_id     = var.id
  client_secret = var.secret
  scopes        = ["a", "b"]
}`
	const bare = `service {
  base_url  = "https://api.example.com"
  token_url = "https://oauth.example.com/token"
}`
	for sentence, c := range map[string]struct {
		text string
		env  map[string]string
		want config.Credentials
		fail string
	}{
		"variables": {
			text: whole, env: map[string]string{"REMIT_VAR_id": "me", "REMIT_VAR_secret": "s3"},
			want: config.Credentials{TokenURL: "https://oauth.example.com/token", ClientID: "me", ClientSecret: "s3", Scopes: []string{"a", "b"}},
		},
		"the block beats the environment": {
			text: whole, env: map[string]string{"REMIT_VAR_id": "me", "REMIT_VAR_secret": "s3", "REMIT_CLIENT_ID": "x", "REMIT_CLIENT_SECRET": "y"},
			want: config.Credentials{TokenURL: "https://oauth.example.com/token", ClientID: "me", ClientSecret: "s3", Scopes: []string{"a", "b"}},
		},
		"the environment stands in for variables without a value": {
			text: whole, env: map[string]string{"REMIT_CLIENT_ID": "x", "REMIT_CLIENT_SECRET": "y"},
			want: config.Credentials{TokenURL: "https://oauth.example.com/token", ClientID: "x", ClientSecret: "y", Scopes: []string{"a", "b"}},
		},
		"a file stands in for the secret": {
			text: bare, env: map[string]string{"REMIT_CLIENT_ID": "x", "REMIT_CLIENT_SECRET_FILE": secretFile},
			want: config.Credentials{TokenURL: "https://oauth.example.com/token", ClientID: "x", ClientSecret: "from-file"},
		},
		"a file that is not there": {
			text: bare, env: map[string]string{"REMIT_CLIENT_ID": "x", "REMIT_CLIENT_SECRET_FILE": secretFile + "x"},
			fail: "Secret cannot be read",
		},
		"a variable without a value":  {text: whole, env: map[string]string{"REMIT_VAR_id": "me"}, fail: "Variable has no value"},
		"nothing at all":              {text: bare, fail: "Credentials are missing"},
		"no service":                  {text: "", fail: "No service is declared"},
		"a token without encryption":  {text: `service { token_url = "http://oauth.example.com" }`, fail: "Invalid address of the token"},
		"a secret that is not a text": {text: `service { client_secret = 5 }`, fail: "Not text"},
	} {
		t.Run(sentence, func(t *testing.T) {
			loaded := mustLoad(t, map[string]string{"main.hcl": c.text}, config.Options{Getenv: environment(c.env), Sandbox: true})
			got, diags := loaded.Credentials()
			if c.fail == "" {
				if diff := cmp.Diff(c.want, got); diff != "" || diags.HasErrors() {
					t.Error(diff, diags)
				}
				return
			}
			if !strings.Contains(diags.Error(), c.fail) && !strings.Contains(fmt.Sprint(diags.Errs()), c.fail) {
				t.Errorf("got %v, want %q", diags.Errs(), c.fail)
			}
			if strings.Contains(fmt.Sprint(diags.Errs()), "from-file") {
				t.Error("a secret is shown")
			}
		})
	}
}

func TestEval(t *testing.T) {
	c := mustLoad(t, map[string]string{
		"main.hcl": `
variable "secret" {
  sensitive = true
  default   = "hunter2"
}
variable "later" {}
service { client_id = var.later }
locals { sum = decimal_add("1", "2.50") }
profile "a" { profile_id = "A-1" }
data "csv" "p" {
  file = "p.csv"
  key  = "id"
}
`, "p.csv": "id,net\n1,5.00\n",
	}, config.Options{Sandbox: true})
	for expression, want := range map[string]cty.Value{
		`local.sum`:                     cty.StringVal("3.50"),
		`profile["a"].profile_id`:       cty.StringVal("A-1"),
		`data.csv.p.rows["1"].net`:      cty.StringVal("5.00"),
		`[for k, v in {a = 1} : k]`:     cty.TupleVal([]cty.Value{cty.StringVal("a")}),
		`length(data.csv.p.rows) == 1 `: cty.True,
	} {
		got, diags := c.Eval(expression)
		if diags.HasErrors() || !got.RawEquals(want) {
			t.Errorf("%s: got %#v, %v", expression, got, diags)
		}
	}
	if secret, diags := c.Eval("upper(var.secret)"); diags.HasErrors() || !secret.IsMarked() {
		t.Errorf("a secret is not marked: %#v %v", secret, diags)
	}
	for expression, want := range map[string]string{
		`local.sun`:                            "Unknown reference",
		`each.key`:                             "each is not to be had here",
		`transfer.internal.x`:                  "A transfer is not a value",
		`var.later`:                            "Variable has no value",
		`1 +`:                                  "Missing expression",
		`1e99999`:                              "Number out of range",
		strings.Repeat("(", 100_000):           "Nested too deeply",
		strings.Repeat("!", 100_000) + "true":  "Nested too deeply",
		"1" + strings.Repeat("+ 1", 100_000):   "Nested too deeply",
		strings.Repeat(`"${`, 100_000):         "Nested too deeply",
		strings.Repeat("true ? 1 : ", 100_000): "Nested too deeply",
	} {
		_, diags := c.Eval(expression)
		if !diags.HasErrors() || !strings.Contains(fmt.Sprint(diags.Errs()), want) {
			t.Errorf("%.20s: got %.200v, want %q", expression, diags.Errs(), want)
		}
	}
}

func TestDeepNestingIsAMistake(t *testing.T) {
	for sentence, files := range map[string]map[string]string{
		"parentheses": {"main.hcl": "locals { a = " + strings.Repeat("(", 200_000)},
		"blocks":      {"main.hcl": strings.Repeat("a {\n", 200_000)},
		"directives":  {"main.hcl": `locals { a = "` + strings.Repeat("%{ if true }", 100_000) + `" }`},
		"JSON":        {"main.hcl.json": `{"locals": {"a": ` + strings.Repeat("[", 200_000)},
		"a template in JSON": {
			"main.hcl.json": `{"locals": {"a": "${` + strings.Repeat("(", 200_000) + `"}}`,
		},
		"a file of variables": {"main.hcl": "variable \"a\" {}", "remit.hclvars": "a = " + strings.Repeat("[", 200_000)},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, diags := load(t, files, config.Options{})
			if !strings.Contains(fmt.Sprint(diags.Errs()), "Nested too deeply") {
				t.Errorf("got %.300v", diags.Errs())
			}
		})
	}
}

func TestLongChainsOfLocals(t *testing.T) {
	var text strings.Builder
	text.WriteString("locals {\n  a0 = \"1\"\n")
	for i := 1; i <= 20_000; i++ {
		fmt.Fprintf(&text, "  a%d = local.a%d\n", i, i-1)
	}
	text.WriteString("}\n")
	c := mustLoad(t, map[string]string{"main.hcl": text.String()}, config.Options{})
	if got, diags := c.Eval("local.a20000"); diags.HasErrors() || !got.RawEquals(cty.StringVal("1")) {
		t.Errorf("got %#v, %v", got, diags)
	}
}

func TestFormat(t *testing.T) {
	got, diags := config.Format([]byte("profile \"a\" {\nprofile_id=\"A\"\n  account_id   = \"C\"\n}"), "a.hcl")
	if diff := cmp.Diff("profile \"a\" {\n  profile_id = \"A\"\n  account_id = \"C\"\n}", string(got)); diff != "" || diags.HasErrors() {
		t.Error(diff, diags)
	}
	for sentence, c := range map[string]struct{ source, name string }{
		"a source that cannot be parsed": {"profile {", "a.hcl"},
		"JSON":                           {"{}", "a.hcl.json"},
	} {
		if got, diags := config.Format([]byte(c.source), c.name); !diags.HasErrors() || got != nil {
			t.Errorf("%s: got %q", sentence, got)
		}
	}
}

func TestDirectoryThatIsNotThere(t *testing.T) {
	c, diags := config.Load(filepath.Join(t.TempDir(), "nowhere"), config.Options{})
	if !diags.HasErrors() || c == nil {
		t.Fatal("no mistake")
	}
	if transfers, _ := all(c); len(transfers) > 0 || len(c.Files()) > 0 {
		t.Error("something is declared in a directory that is not there")
	}
}

func TestFunctionsAreConfined(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "secret", []byte("x"))
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte(`locals { a = file("../`+filepath.Base(outside)+`/secret") }
data "csv" "link" {
  file = "link.csv"
  key  = "id"
}
`))
	write(t, outside, "rows.csv", []byte("id\n1\n"))
	if err := os.Symlink(filepath.Join(outside, "rows.csv"), filepath.Join(dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	_, diags := config.Load(dir, config.Options{})
	if len(diags.Errs()) != 2 {
		t.Errorf("want two mistakes, got %v", diags.Errs())
	}
}
