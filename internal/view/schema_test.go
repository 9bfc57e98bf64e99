package view_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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
	schema.Hold(t, schemaOfLines(), linesSchema, linesKept, suite.Update())
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

func readGolden(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
