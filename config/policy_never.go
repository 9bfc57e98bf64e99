package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// checkComparison refuses what a condition compares as a text, and no value that it sees need equal.
func (p policyTexts) checkComparison(r *eval.Reader, node hclsyntax.Node) {
	switch e := node.(type) {
	case *hclsyntax.TemplateExpr:
		p.checkQuoted(r, e)
	case *hclsyntax.BinaryOpExpr:
		switch e.Op {
		case hclsyntax.OpEqual:
			p.checkAmount(r, e.LHS, e.RHS, "==", e.Range())
		case hclsyntax.OpNotEqual:
			p.checkAmount(r, e.LHS, e.RHS, "!=", e.Range())
		}
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "contains" && len(e.Args) == 2 && p.isAmount(e.Args[1]) {
			p.checkAmount(r, e.Args[1], e.Args[0], "==", e.Range())
		}
	}
}

// checkQuoted refuses a text in a condition that is the name of a part of the subject: it is compared letter by letter, and equals nothing.
func (p policyTexts) checkQuoted(r *eval.Reader, e *hclsyntax.TemplateExpr) {
	text, isText := syntax.LiteralText(e)
	if !isText {
		return
	}
	rest, isSubject := strings.CutPrefix(text.AsString(), p.subject+".")
	if name, _, _ := strings.Cut(rest, "."); !isSubject || !slices.Contains(p.attributes, name) {
		return
	}
	r.Refuse(e.Range(), "Name of a value is text", "%q is text here, letter by letter, and equals no value that the policy sees. Write the name without quotation marks:\n\n  %s", text.AsString(), text.AsString())
}

// checkAmount refuses an amount that is compared as a text with another one: the same amount may be written otherwise, and passes.
func (p policyTexts) checkAmount(r *eval.Reader, left, right hclsyntax.Expression, op string, at hcl.Range) {
	if !p.isAmount(left) {
		left, right = right, left
	}
	if !p.isAmount(left) {
		return
	}
	other := `"10.00"`
	if text, isText := syntax.LiteralText(syntax.Unwrap(right)); isText {
		if _, err := transfer.ParseAmount(text.AsString()); err == nil {
			other = fmt.Sprintf("%q", text.AsString())
		}
	}
	r.Refuse(at, "Amounts are compared as texts", "An amount may be written as 10, 10.0 or 10.00, and these are different texts. Compare it as a number:\n\n  decimal_cmp(self.amount, %s) %s 0", other, op)
}

// isAmount reports whether an expression is the amount of the transfer that a policy looks at.
func (p policyTexts) isAmount(expr hclsyntax.Expression) bool {
	of := syntax.Traversal(syntax.Unwrap(expr))
	if p.subject != "self" || len(of) != 2 || of.RootName() != p.subject {
		return false
	}
	name, isName := eval.StepName(of[1], true)
	return isName && name == "amount"
}

// checkBatch looks at a batch for which a policy looks by its name, and that no block need declare.
func (p policyTexts) checkBatch(r *eval.Reader, name namedText) {
	if slices.Contains(p.batches, name.text) {
		return
	}
	hint := mistake.DidYouMean(name.text, p.batches)
	detail := fmt.Sprintf("No batch %q is declared, so the policy would never see one.%s", name.text, hint)
	r.Diags = append(r.Diags, unknownName(name, hint != "", "Unknown batch", detail)...)
}

// isShared reports whether several configurations may share the directory of a policy.
func (policyTexts) isShared(r *eval.Reader) bool {
	return r.Block.Policy != nil || r.Block.Included != nil
}
