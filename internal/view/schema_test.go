package view_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"remit/internal/proof/schema"
	"remit/internal/proof/suite"
	"remit/internal/view"
)

const (
	linesSchema = "../../docs/schemas/lines.schema.json"
	linesKept   = "../../testdata/compat/schemas/lines.schema.json"
)

// schemaOfLines is the schema of a line of --json, with the fields of each type.
func schemaOfLines() schema.Schema {
	types := view.LineTypes()
	rules, definitions := []any{}, schema.Schema{}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		definitions[name] = schema.Of(types[name], nil)
		rules = append(rules, schema.Schema{
			"if":   schema.Schema{"properties": schema.Schema{"type": schema.Schema{"const": name}}},
			"then": schema.Schema{"$ref": "#/$defs/" + name},
		})
	}
	return schema.Schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:remit:lines:1", "title": "A line of --json, of the format " + view.Format,
		"type": "object", "required": []any{"type"}, "properties": schema.Schema{"type": schema.Schema{"type": "string"}},
		"allOf": rules, "$defs": definitions,
	}
}

// TestSchemasOfLines holds docs/schemas against the types, and the types against the schema that was published last.
func TestSchemasOfLines(t *testing.T) {
	text, err := json.MarshalIndent(schemaOfLines(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if suite.Update() {
		if err := os.WriteFile(linesSchema, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(readGolden(t, linesSchema)), string(text)); diff != "" {
		t.Errorf("docs/schemas is not what the types say; .ci/update ./internal/view writes it anew (-docs +types):\n%s", diff)
	}
	var before, now any
	if err := json.Unmarshal(readGolden(t, linesKept), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &now); err != nil {
		t.Fatal(err)
	}
	for _, loss := range schema.Lost(before, now) {
		t.Errorf("programs that read %s break: %s", view.Format, loss)
	}
}

// TestEachTypeOfLineHasASchema reads the types that the source says.
func TestEachTypeOfLineHasASchema(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	types, found := view.LineTypes(), 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, field := range regexp.MustCompile("`json:\"type\"`(.*)").FindAllSubmatch(readGolden(t, file), -1) {
			words := regexp.MustCompile(`"([a-z_]+)"`).FindAllSubmatch(field[1], -1)
			if len(words) == 0 {
				t.Errorf("%s: a comment has to say the type of a line", file)
			}
			for _, word := range words {
				if found++; types[string(word[1])] == nil {
					t.Errorf("%s: LineTypes lacks %q", file, word[1])
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d types were found", found)
	}
}

// TestLinesAreAsTheirSchemaSays validates every line that a golden file has: of this package, of the scripts, and of 0.1.0,
// which lacks fields that were added since.
func TestLinesAreAsTheirSchemaSays(t *testing.T) {
	strict, lenient := compiled(t, schemaOfLines(), true), compiled(t, schemaOfLines(), false)
	types := view.LineTypes()
	validated := map[string]int{}
	for root, s := range map[string]*jsonschema.Schema{"testdata": strict, "../../testdata/script": strict, "../../testdata/compat": lenient} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !slices.Contains([]string{".jsonl", ".txtar"}, filepath.Ext(path)) {
				return err
			}
			for line := range bytes.Lines(readGolden(t, path)) {
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
				object, is := value.(map[string]any)
				if err != nil || !is || !bytes.HasPrefix(line, []byte(`{"type":"`)) {
					continue
				}
				kind := object["type"].(string)
				if types[kind] == nil {
					t.Errorf("%s: a line of the type %q has no schema", path, kind)
				}
				if err := s.Validate(value); err != nil {
					t.Errorf("%s: %s%v", path, line, err)
				}
				validated[root]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if validated[root] == 0 {
			t.Errorf("%s has no line of JSON", root)
		}
	}
	wrong := map[string]any{"type": "error", "error": json.Number("5")}
	if strict.Validate(wrong) == nil || strict.Validate(map[string]any{"type": "error"}) == nil {
		t.Error("a line with a wrong field, or without one, is valid")
	}
}

// compiled is a schema to validate with; without required fields where they need not all be there.
func compiled(t *testing.T, s schema.Schema, isStrict bool) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if !isStrict {
		text = regexp.MustCompile(`"required":\[[^\]]*\]`).ReplaceAll(text, []byte(`"required":[]`))
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("urn:remit:lines:1", value); err != nil {
		t.Fatal(err)
	}
	made, err := compiler.Compile("urn:remit:lines:1")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func readGolden(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
