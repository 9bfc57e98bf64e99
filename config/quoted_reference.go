package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/text/lazyregexp"
)

// ownDoubt are arguments whose values are held to a reader of their own, which says what a reference in quotation
// marks should have been there.
var ownDoubt = []string{
	"amount", "max_amount", "asset", "ref_id", "from", "to", "from_profile_id", "to_profile_id", "profile_id", "batch", "window", "calendar", "depends_on",
}

// prose are arguments in which a sentence may name a value.
var prose = []string{"error_message", "description"}

// blockAsText is a reference to a block that is all of a text.
var blockAsText = lazyregexp.New(`^(profile|batch|schedule|calendar|window)\.([A-Za-z_][\w-]*)(?:\.[A-Za-z_]\w*)?$`)

// unfilled is text that a template left open, or its author.
var unfilled = lazyregexp.New(`(?i)\{\{.*\}\}|^<[^<>]+>$|^(todo|tbd|fixme|xxx+|change[-_ ]?me)$`)

// quotedReferences warns of text in an argument that is the name of a value: it would be sent, or shown, letter by
// letter. It is no mistake, since a transfer that was sent so stays declared.
func quotedReferences(s *eval.Scope, a *eval.Argument) hcl.Diagnostics {
	if a.Expr == nil || slices.Contains(ownDoubt, a.Name) {
		return nil
	}
	if text, isText := syntax.LiteralText(a.Expr); isText {
		return warnOfReference(s, a, text.AsString(), a.Expr.Range())
	}
	return hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		literal, isLiteral := node.(*hclsyntax.LiteralValueExpr)
		if !isLiteral || !syntax.IsText(literal.Val) {
			return nil
		}
		return warnOfReference(s, a, literal.Val.AsString(), literal.Range())
	})
}

func warnOfReference(s *eval.Scope, a *eval.Argument, text string, at hcl.Range) hcl.Diagnostics {
	if isShown := strings.HasSuffix(a.Name, "metadata") || a.Name == "display_name"; isShown && unfilled.MatchString(text) {
		return hcl.Diagnostics{mistake.Warning(at, "Text has a placeholder", "%q is text here, letter by letter. Write what is meant, or the name of a value between ${ and }, such as:\n\n  \"Rent of ${var.period}\"", text)}
	}
	if !strings.Contains(text, ".") {
		return nil
	}
	reference := writtenReference(text)
	if block := blockAsText.FindStringSubmatch(text); block != nil && s.Nodes[block[1]][block[2]] != nil {
		reference = text
	}
	switch {
	case reference == "", slices.Contains(prose, a.Name) && reference != text:
		return nil
	case reference == text && !isJSON(at.Filename):
		return hcl.Diagnostics{mistake.Warning(at, "Name of a value is text", "%q is text here, letter by letter. If the value is meant, write its name without quotation marks:\n\n  %s", text, reference)}
	}
	return hcl.Diagnostics{mistake.Warning(at, "Name of a value is text", "The text has %q in it, letter by letter. If the value is meant, write its name between ${ and }:\n\n  %s", reference, "${"+reference+"}")}
}
