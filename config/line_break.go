package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/mistake"
	"remit/config/syntax"
)

// lineBreakAtEnd refuses a text that ends in a line break because its expression writes one, such as a text between <<EOT and EOT: no row
// can mend it. It is nil for any other text.
func lineBreakAtEnd(expr hclsyntax.Expression, name, text string) *hcl.Diagnostic {
	template, isTemplate := syntax.Unwrap(expr).(*hclsyntax.TemplateExpr)
	if !isTemplate || !strings.HasSuffix(text, "\n") {
		return nil
	}
	last, isLiteral := syntax.Unwrap(template.Parts[len(template.Parts)-1]).(*hclsyntax.LiteralValueExpr)
	if !isLiteral || !syntax.IsText(last.Val) || !strings.HasSuffix(last.Val.AsString(), "\n") {
		return nil
	}
	return mistake.New(expr.Range(), "Text ends with a line break",
		"%s ends with a line break, as a text between <<EOT and EOT does. Write it on one line, in quotation marks, such as:\n\n  %[1]s = \"…\"", name)
}
