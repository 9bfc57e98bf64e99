package evidence

import (
	"testing"

	"remit/internal/proof/schema"
	"remit/internal/proof/suite"
)

// TestSchemaOfPacks holds docs/schemas against what evidence.json and a line of journal.jsonl are made of.
func TestSchemaOfPacks(t *testing.T) {
	made := schema.Published("evidence", "evidence.json and a line of journal.jsonl in an evidence pack, of the format "+Format, schema.Schema{
		"if":    schema.Schema{"required": []any{"seq"}},
		"then":  schema.Schema{"$ref": "#/$defs/event"},
		"else":  schema.Schema{"$ref": "#/$defs/facts"},
		"$defs": schema.Schema{"event": schema.Of(line{}, nil), "facts": schema.Of(Facts{}, nil)},
	})
	schema.Hold(t, made, "../../docs/schemas/evidence.schema.json", "../../testdata/compat/schemas/evidence.schema.json", suite.Update())
}
