package planner_test

import (
	"bytes"
	"os"
	"reflect"
	"testing"

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

// TestSchemaOfPlans holds docs/schemas against the types, the types against the schema that was published last, and a saved plan
// against both. Those of 0.1.0 are validated with all other golden files, in internal/cli.
func TestSchemaOfPlans(t *testing.T) {
	const published, kept = "../docs/schemas/plan.schema.json", "../testdata/compat/schemas/plan.schema.json"
	schema.Hold(t, schemaOfPlans(), published, kept, suite.Update())
	text, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	strict := compiledPlans(t, text)
	validateLines(t, strict, "a sample", save(t, samplePlan(t)))
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
