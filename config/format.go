package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"remit/config/mistake"
	"remit/config/syntax"
)

// Format returns the canonical layout of a source in HCL's native syntax. A source that
// cannot be parsed, or that is JSON, is returned with diagnostics and without a layout.
func Format(source []byte, filename string) ([]byte, hcl.Diagnostics) {
	if strings.HasSuffix(filename, ".json") {
		return nil, hcl.Diagnostics{mistake.Placeless("Not in HCL's native syntax",
			"%s is JSON, which has no canonical layout here.", filename)}
	}
	if _, diags := syntax.Parse(source, filename); diags.HasErrors() {
		return nil, syntax.Explain(source, filename, diags, true)
	}
	return hclwrite.Format(source), nil
}
