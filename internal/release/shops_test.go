package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// released is a directory with small files in the place of archives.
func released(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheFormulaNamesWhatTheReleaseHas(t *testing.T) {
	dir := released(t, "remit_1.2.0~git1_darwin_arm64.tar.gz", "remit_1.2.0~git1_darwin_amd64.tar.gz", "remit_1.2.0~git1_linux_arm64.tar.gz",
		"remit_1.1.0_linux_amd64.tar.gz")
	var got bytes.Buffer
	if err := writeFormula(dir, "1.2.0~git1", "https://downloads.example.com/remit/", &got); err != nil {
		t.Fatal(err)
	}
	_, systems, _ := strings.Cut(got.String(), "\n  on_macos do")
	systems, _, _ = strings.Cut("\n  on_macos do"+systems, "\n  def install")
	// The sums are those of sha256sum.
	want := `
  on_macos do
    on_arm do
      url "https://downloads.example.com/remit/remit_1.2.0~git1_darwin_arm64.tar.gz"
      sha256 "SUM remit_1.2.0~git1_darwin_arm64.tar.gz"
    end
    on_intel do
      url "https://downloads.example.com/remit/remit_1.2.0~git1_darwin_amd64.tar.gz"
      sha256 "SUM remit_1.2.0~git1_darwin_amd64.tar.gz"
    end
  end

  on_linux do
    on_arm do
      url "https://downloads.example.com/remit/remit_1.2.0~git1_linux_arm64.tar.gz"
      sha256 "SUM remit_1.2.0~git1_linux_arm64.tar.gz"
    end
  end
`
	for name, sum := range map[string]string{
		"darwin_arm64": "7602c337605101a03a6dd045762abb50b0f11195afb7bb13cc8d194da4f9e9a2", "darwin_amd64": "7b6809cbd85a1911b90330fec3b4b6680af8123964d8ac55c3488d3f972ecf4c", "linux_arm64": "562be9f37476fe88d5fa38a89dbcde627471ae68d3c789f9e8b7547057753b82",
	} {
		want = strings.ReplaceAll(want, "SUM remit_1.2.0~git1_"+name+".tar.gz", sum)
	}
	if diff := cmp.Diff(want, systems); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(got.String(), "version \"1.2.0-git1\"\n") {
		t.Errorf("the version is not in Homebrew's words:\n%s", got.String())
	}
}

func TestAnOfferNeedsAnAddressAndArchives(t *testing.T) {
	full := released(t, "remit_1.2.0_linux_amd64.tar.gz", "remit_1.2.0_windows_amd64.zip")
	for name, c := range map[string]struct {
		dir, base, want string
	}{
		"an address that is not encrypted":   {full, "http://downloads.example.com", "begins with https://"},
		"an address that ends the string":    {full, `https://downloads.example.com/"#{exit}`, "begins with https://"},
		"an address with a query":            {full, "https://downloads.example.com/?a=b", "begins with https://"},
		"no address":                         {full, "", "begins with https://"},
		"a directory without these archives": {released(t, "remit_1.1.0_linux_amd64.tar.gz"), "https://downloads.example.com", "has no archive of 1.2.0"},
	} {
		for kind, write := range map[string]func(*bytes.Buffer) error{
			"formula": func(b *bytes.Buffer) error { return writeFormula(c.dir, "1.2.0", c.base, b) },
			"scoop":   func(b *bytes.Buffer) error { return writeScoop(c.dir, "1.2.0", c.base, b) },
		} {
			var b bytes.Buffer
			err := write(&b)
			if err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
				t.Errorf("%s, %s: %v and %d bytes, want an error with %q and none", kind, name, err, b.Len(), c.want)
			}
		}
	}
}

// rules are those of Scoop's manifests that apply to what a release of remit says; Scoop takes no other fields.
const rules = `{
	"type": "object", "additionalProperties": false, "required": ["version", "homepage", "license", "architecture", "bin"],
	"properties": {
		"version": {"type": "string", "pattern": "^[\\w.+-]+$"},
		"description": {"type": "string", "minLength": 1},
		"homepage": {"type": "string", "format": "uri", "pattern": "^https://"},
		"license": {"const": "Apache-2.0"},
		"notes": {"type": "array", "minItems": 1, "items": {"type": "string"}},
		"bin": {"type": "string", "pattern": "[.]exe$"},
		"architecture": {
			"type": "object", "additionalProperties": false, "required": ["64bit"],
			"properties": {"64bit": {
				"type": "object", "additionalProperties": false, "required": ["url", "hash"],
				"properties": {
					"url": {"type": "string", "format": "uri", "not": {"pattern": "[$]"}},
					"hash": {"type": "string", "pattern": "^[a-f0-9]{64}$"}
				}
			}}
		}
	}
}`

func TestTheManifestIsAsScoopTakesIt(t *testing.T) {
	dir := released(t, "remit_1.2.0~git1_windows_amd64.zip")
	var got bytes.Buffer
	if err := writeScoop(dir, "1.2.0~git1", "https://downloads.example.com/remit", &got); err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(rules))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("rules.json", document); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	schema := compiler.MustCompile("rules.json")
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
	value.(map[string]any)["version"] = "1.2.0~git1"
	if schema.Validate(value) == nil {
		t.Error("a version that Scoop does not take passes")
	}
	var said manifest
	if err := json.Unmarshal(got.Bytes(), &said); err != nil {
		t.Fatal(err)
	}
	want := scoopMachine{"https://downloads.example.com/remit/remit_1.2.0~git1_windows_amd64.zip", "df0fcc45ca6027fc3614d8790445a0eff687fddd8c67da1974244ec5c880c05e"}
	if diff := cmp.Diff(want, said.Architecture["64bit"]); diff != "" {
		t.Error(diff)
	}
}
