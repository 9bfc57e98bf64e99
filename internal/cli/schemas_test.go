package cli_test

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"remit/internal/cli"
	"remit/internal/proof/schema"
	"remit/internal/proof/suite"
)

// TestSchemasOfObjects holds docs/schemas against what commands print as one JSON object.
func TestSchemasOfObjects(t *testing.T) {
	titles := map[string]string{"version": "The object of remit version --json", "sandbox": "The object of remit sandbox serve --json"}
	for name, value := range cli.ObjectTypes() {
		file := "schemas/" + name + ".schema.json"
		schema.Hold(t, schema.Published(name, titles[name], schema.Of(value, nil)), "../../docs/"+file, "../../testdata/compat/"+file, suite.Update())
	}
}

// noOutput are files with JSON that remit reads, or that a test of ours writes for itself.
var noOutput = map[string]string{
	"config/testdata/*.txtar":                   "configurations",
	"testdata/mistakes/*.txtar":                 "configurations with mistakes",
	"testdata/script/mistakes.txtar":            "configurations with mistakes",
	"testdata/script/include-confined.txtar":    "a configuration",
	"testdata/script/json-rows.txtar":           "rows of data",
	"testdata/script/lsp.txtar":                 "messages of an editor",
	"testdata/script/recipe-gitlab-tree.txtar":  "a line with a path in front, as a hostile artifact has it",
	"internal/proof/simulation/testdata/*.json": "which seeds caught which broken client",
	"internal/view/testdata/plan/*.json":        "plans that are shown, in a form of the test's own",
	"testdata/compat/schemas/*.json":            "schemas themselves",
}

// TestEachGoldenIsAsItsSchemaSays validates all JSON that the tree has in golden files, scripts and documents with the schemas
// that are published. What 0.1.0 wrote lacks fields that were added since.
func TestEachGoldenIsAsItsSchemaSays(t *testing.T) {
	strict, lenient := published(t, true), published(t, false)
	validated, excused := map[string]int{}, map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != "../.." || entry.Name() == "dist"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.Contains(name, "testdata/") && !strings.HasPrefix(name, "docs/") && !strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "docs/schemas/"):
			return nil
		case !slices.Contains([]string{".json", ".jsonl", ".plan", ".txtar", ".md", ".golden"}, filepath.Ext(name)):
			return nil
		}
		schemas := strict
		if strings.HasPrefix(name, "testdata/compat/") {
			schemas = lenient
		}
		for _, text := range objects(readFile(t, path)) {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			object, is := value.(map[string]any)
			if err != nil || !is {
				continue
			}
			if pattern := matching(name); pattern != "" {
				excused[pattern] = true
				continue
			}
			kind := kindOf(object)
			if schemas[kind] == nil {
				t.Errorf("%s: no schema is known for %.200s", name, text)
				continue
			}
			if err := schemas[kind].Validate(value); err != nil {
				t.Errorf("%s: %.200s: %v", name, text, err)
			}
			validated[kind]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind := range strict {
		if validated[kind] == 0 && kind != "sandbox" { // whose port and secret are others each time: the script sandbox-serve has it
			t.Errorf("no golden has what %s.schema.json is of", kind)
		}
	}
	for pattern := range noOutput {
		if !excused[pattern] {
			t.Errorf("%s has no JSON any more: take it off the list", pattern)
		}
	}
}

func matching(name string) string {
	for pattern := range noOutput {
		if is, err := filepath.Match(pattern, name); err == nil && is {
			return pattern
		}
	}
	return ""
}

// objects are the JSON of a file: all of it, or its lines.
func objects(content string) []string {
	if _, err := jsonschema.UnmarshalJSON(strings.NewReader(content)); err == nil && strings.HasPrefix(content, "{") {
		return []string{content}
	}
	var lines []string
	for line := range strings.Lines(content) {
		if strings.HasPrefix(line, "{") {
			lines = append(lines, line)
		}
	}
	return lines
}

// kindOf says by the fields of an object of which schema it is.
func kindOf(object map[string]any) string {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, is := object[name]; return !is })
	}
	switch {
	case has("id", "direction"):
		return "record"
	case has("type"):
		return "lines"
	case has("seq"), has("format", "run", "journal"):
		return "evidence"
	case has("format", "plan_id", "lineage"), has("action"), has("kept"), has("totals", "sha256"):
		return "plan"
	case has("version", "go"):
		return "version"
	case has("token_url", "client_secret"):
		return "sandbox"
	}
	return ""
}

// published are the schemas of docs/schemas by their names; without required fields where they need not all be there.
func published(t *testing.T, isStrict bool) map[string]*jsonschema.Schema {
	t.Helper()
	files, err := filepath.Glob("../../docs/schemas/*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*jsonschema.Schema{}
	for _, file := range files {
		text := []byte(readFile(t, file))
		if !isStrict {
			// Those of rules, on one line, say which kind of line it is, and stay.
			text = regexp.MustCompile(`(?s)"required": \[[^\]]*\](,?)\n +"type": "object"`).ReplaceAll(text, []byte(`"type": "object"`))
			text = regexp.MustCompile(`(?s),\n +"required": \[[^\]]*\]\n( +)\}`).ReplaceAll(text, []byte("\n$1}"))
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if err := compiler.AddResource("urn:of-a-test", value); err != nil {
			t.Fatal(err)
		}
		made, err := compiler.Compile("urn:of-a-test")
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".schema.json")] = made
	}
	return all
}
