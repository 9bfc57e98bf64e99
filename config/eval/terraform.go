package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/internal/text/terraform"
)

// explainTerraform says what to do behind what HCL says of arguments and blocks of Terraform that a
// block of remit does not have.
func explainTerraform(body hcl.Body, own map[string]bool, diags hcl.Diagnostics) {
	native, ok := body.(*hclsyntax.Body)
	if !ok || !diags.HasErrors() {
		return
	}
	explain := func(why string, known bool, at hcl.Range) {
		i := slices.IndexFunc(diags, func(d *hcl.Diagnostic) bool {
			return d.Subject != nil && *d.Subject == at && strings.HasPrefix(d.Summary, "Unsupported ")
		})
		if known && i >= 0 {
			diags[i].Detail = why
		}
	}
	for name, attribute := range native.Attributes {
		why, known := terraform.Part(name)
		explain(why, known && !own["max_"+name], attribute.NameRange) // a limit's count is its max_count
	}
	for _, inner := range native.Blocks {
		why, known := terraform.Nested(inner.Type)
		explain(why, known, inner.TypeRange)
	}
}
