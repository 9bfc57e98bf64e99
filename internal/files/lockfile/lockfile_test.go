package lockfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"remit/internal/files/lockfile"
	"remit/state"
)

func file() lockfile.File {
	return lockfile.File{
		Lineage:     "5a1e0000-0000-4000-8000-000000000001",
		Environment: "production",
		Service:     state.Identity{BaseURL: "https://api.example.com", Operator: "platform", ClientID: "remit-${x}"},
	}
}

const whole = `# Made by "remit init". It binds this configuration to its state and its service, so that
# nothing is paid again from another copy. Commit it beside the configuration.

lineage     = "5a1e0000-0000-4000-8000-000000000001"
environment = "production"

service {
  base_url  = "https://api.example.com"
  operator  = "platform"
  client_id = "remit-$${x}"
}
`

func TestWriteThenRead(t *testing.T) {
	dir := t.TempDir()
	if _, ok, err := lockfile.Read(dir, lockfile.Name); ok || err != nil {
		t.Fatalf("an empty directory has a lock file: %v", err)
	}
	for range 2 { // the second one replaces the first
		if err := lockfile.Write(dir, lockfile.Name, file()); err != nil {
			t.Fatal(err)
		}
	}
	got, ok, err := lockfile.Read(dir, lockfile.Name)
	if err != nil || !ok {
		t.Fatalf("read: %v, %v", ok, err)
	}
	if diff := cmp.Diff(file(), got); diff != "" {
		t.Error(diff)
	}
	src, err := os.ReadFile(filepath.Join(dir, lockfile.Name))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, string(src)); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("left behind: %v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestReadRefusesAllThatIsNotWhole(t *testing.T) {
	for name, c := range map[string]struct {
		change [2]string
		want   string
	}{
		"a value that is missing":       {[2]string{"environment = \"production\"\n", ""}, `"environment" is required`},
		"a block that is missing":       {[2]string{whole[strings.Index(whole, "service {"):], ""}, `0 service blocks`},
		"a block too many":              {[2]string{"service {", "service {\n}\nservice {"}, "2 service blocks"},
		"an argument that is unknown":   {[2]string{"lineage", "serial = \"1\"\nlineage"}, `"serial" is not expected`},
		"an argument of the service":    {[2]string{"operator", "scopes = \"1\"\n operator"}, `"scopes" is not expected`},
		"an argument given twice":       {[2]string{"environment", "lineage = \"2\"\nenvironment"}, "somebody edited it"},
		"a number":                      {[2]string{`"production"`, "1"}, "is not a quoted string"},
		"null":                          {[2]string{`"production"`, "null"}, "is not a quoted string"},
		"an empty string":               {[2]string{`"production"`, `""`}, "is empty"},
		"a reference":                   {[2]string{`"production"`, "var.x"}, "Variables not allowed"},
		"a function":                    {[2]string{`"production"`, `upper("x")`}, "Function"},
		"a character that hides":        {[2]string{"production", "produ\u202ection"}, "U+202E"},
		"a line that only shows":        {[2]string{"lineage", "# merged\rlineage = \"2\"\nlineage"}, "U+000D"},
		"an address out of normal form": {[2]string{"api.example", "API.example"}, "https://api.example.com"},
		"a token's whole address":       {[2]string{"client_id", "token_url = \"https://oauth.example.com/token\"\n client_id"}, `"https://oauth.example.com"`},
		"a token from no address":       {[2]string{"client_id", "token_url = \"oauth.example.com\"\n client_id"}, "must begin with https://"},
		"the word of the sandbox":       {[2]string{"https://api.example.com", "sandbox"}, "https://"},
		"an operator that is no word":   {[2]string{"platform", "../x"}, "lower-case"},
		"a merge that was left undone":  {[2]string{"lineage", "<<<<<<< ours\nlineage"}, "A merge left its marks"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			src := strings.Replace(whole, c.change[0], c.change[1], 1)
			if err := os.WriteFile(filepath.Join(dir, lockfile.Name), []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
			got, ok, err := lockfile.Read(dir, lockfile.Name)
			var diags hcl.Diagnostics
			if ok || !errors.As(err, &diags) {
				t.Fatalf("read %v, %v", got, err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
			if diags[0].Subject == nil || diags[0].Subject.Filename != lockfile.Name {
				t.Errorf("no place: %v", diags[0])
			}
		})
	}
}

func TestReadBoundsWhatItReads(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, lockfile.Name), []byte(whole+strings.Repeat("\n", 1<<17)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := lockfile.Read(dir, lockfile.Name); ok || err == nil {
		t.Error("read a file of 128 KiB")
	}
}

func TestWriteRefusesWhatCouldNotBeRead(t *testing.T) {
	for name, change := range map[string]func(*lockfile.File){
		"the sandbox":   func(f *lockfile.File) { f.Service = state.SandboxIdentity() },
		"no lineage":    func(f *lockfile.File) { f.Lineage = "" },
		"no client":     func(f *lockfile.File) { f.Service.ClientID = "" },
		"a line break":  func(f *lockfile.File) { f.Environment = "a\nb" },
		"no address":    func(f *lockfile.File) { f.Service.BaseURL = "" },
		"a raw address": func(f *lockfile.File) { f.Service.BaseURL += "/" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f := file()
			change(&f)
			if err := lockfile.Write(dir, lockfile.Name, f); err == nil {
				t.Error("written")
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 0 {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("service {")
	f.Fuzz(func(t *testing.T, src string) {
		once, diags := lockfile.Parse([]byte(src), lockfile.Name)
		if diags.HasErrors() {
			return
		}
		if twice, diags := lockfile.Parse(lockfile.Format(once), lockfile.Name); diags.HasErrors() || twice != once {
			t.Errorf("read %v, then %v, %v", once, twice, diags)
		}
	})
}
