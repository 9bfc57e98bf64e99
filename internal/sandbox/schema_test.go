package sandbox

import (
	"testing"

	jsonschema "remit/internal/proof/schema"
	"remit/internal/proof/suite"
)

// TestSchemaOfRecords holds docs/schemas against what the sandbox answers and exports.
func TestSchemaOfRecords(t *testing.T) {
	s := jsonschema.Published("record", "A transfer record, as sandbox export writes one into a line", jsonschema.Of(record{}, nil))
	jsonschema.Hold(t, s, "../../docs/schemas/record.schema.json", "../../testdata/compat/schemas/record.schema.json", suite.Update())
}
