package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/syntax"
)

// asReference says how a block of a kind, such as a batch, is named by an argument that somebody gave its name as text; "" for any
// other value.
func asReference(kind string, value cty.Value, at hcl.Range) string {
	if !syntax.IsText(value) || value.IsMarked() {
		return ""
	}
	name := strings.TrimPrefix(value.AsString(), kind+".")
	if !hclsyntax.ValidIdentifier(name) {
		return ""
	}
	if isJSON(at.Filename) {
		return fmt.Sprintf(" In JSON a reference is between ${ and }. Write:\n\n  %q: \"${%s.%s}\"", kind, kind, name)
	}
	return fmt.Sprintf(" Write it without quotation marks:\n\n  %s = %[1]s.%s", kind, name)
}
