package planner_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"remit/internal/proof/schema"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/planner"
)

// schemaOfPlans is the schema of a line of a saved plan. A line has no type: its fields say which it is.
func schemaOfPlans() schema.Schema {
	others := map[reflect.Type]schema.Schema{
		reflect.TypeFor[transfer.Request](): schema.Of(struct {
			Operation      string `json:"operation"`
			FingerprintKey string `json:"fingerprint_key,omitempty"`
			Body           string `json:"body"`
		}{}, nil),
	}
	definitions := schema.Schema{}
	for name, value := range planner.LineTypes() {
		definitions[name] = schema.Of(value, others)
	}
	with := func(field, kind string, otherwise schema.Schema) schema.Schema {
		return schema.Schema{"if": schema.Schema{"required": []any{field}}, "then": schema.Schema{"$ref": "#/$defs/" + kind}, "else": otherwise}
	}
	root := with("format", "header", with("action", "change", with("kept", "kept", schema.Schema{"$ref": "#/$defs/footer"})))
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", "urn:remit:plan:1"
	root["title"], root["type"], root["$defs"] = "A line of a saved plan, of the format remit-plan/1", "object", definitions
	return root
}

// TestSchemaOfPlans holds docs/schemas against the types, the types against the schema that was published last, and saved plans against both.
func TestSchemaOfPlans(t *testing.T) {
	const published, kept = "../docs/schemas/plan.schema.json", "../testdata/compat/schemas/plan.schema.json"
	text, err := json.MarshalIndent(schemaOfPlans(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if suite.Update() {
		if err := os.WriteFile(published, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) []byte {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	if diff := cmp.Diff(string(read(published)), string(text)); diff != "" {
		t.Errorf("docs/schemas is not what the types say; .ci/update ./planner writes it anew (-docs +types):\n%s", diff)
	}
	var before, now any
	if err := json.Unmarshal(read(kept), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &now); err != nil {
		t.Fatal(err)
	}
	for _, loss := range schema.Lost(before, now) {
		t.Errorf("programs that read saved plans break: %s", loss)
	}
	strict := compiledPlans(t, text)
	validateLines(t, strict, "a sample", save(t, samplePlan(t)))
	// 0.1.0 lacks fields that were added since.
	lenient := compiledPlans(t, regexp.MustCompile(`"required": \[\n[^\]]*"(,\n[^\]]*)+\n\s*\]`).ReplaceAll(text, []byte(`"required": []`)))
	plans, err := filepath.Glob("../testdata/compat/0.1.0/*/*.plan")
	if err != nil || len(plans) == 0 {
		t.Fatalf("no saved plan of 0.1.0: %v", err)
	}
	for _, path := range plans {
		validateLines(t, lenient, path, read(path))
	}
	if strict.Validate(map[string]any{"action": "submit"}) == nil {
		t.Error("a line without its fields is valid")
	}
}

func validateLines(t *testing.T, s *jsonschema.Schema, name string, content []byte) {
	t.Helper()
	for line := range bytes.Lines(content) {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err == nil {
			err = s.Validate(value)
		}
		if err != nil {
			t.Errorf("%s: %s%v", name, line, err)
		}
	}
}

func compiledPlans(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("urn:remit:plan:1", value); err != nil {
		t.Fatal(err)
	}
	made, err := compiler.Compile("urn:remit:plan:1")
	if err != nil {
		t.Fatal(err)
	}
	return made
}
