package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// policyTexts are what the texts of a policy may be.
type policyTexts struct {
	subject    string
	attributes []string // of the subject
	signals    []string // that a plan can have
	batches    []string // that are declared

	ctx       *hcl.EvalContext // of the condition, without the subject
	meter     *meter.Meter
	addresses *[]namedText // of transfers, which are checked when all blocks are read
}

// check refuses texts of a policy that nothing it sees can equal: a control with one would never fail, or always,
// and nobody would notice.
func (p policyTexts) check(r *eval.Reader, arguments ...*eval.Argument) {
	for _, a := range arguments {
		_ = hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
			node = unmetered(node)
			if a.Name == "condition" {
				p.checkComparison(r, node)
			}
			switch e := node.(type) {
			case *hclsyntax.TemplateExpr:
				p.checkID(r, e)
			case *hclsyntax.ScopeTraversalExpr:
				if path := e.Traversal; len(path) > 2 {
					if key, isKey := eval.StepName(path[2], true); isKey {
						p.checkKey(r, path[:2], key, eval.RangeOfStep(path[2]))
					}
				}
			case *hclsyntax.FunctionCallExpr:
				if (e.Name == "lookup" || e.Name == "contains") && len(e.Args) > 1 {
					if key, isText := syntax.LiteralText(syntax.Unwrap(e.Args[1])); isText {
						p.checkKey(r, syntax.Traversal(listed(e.Args[0])), key.AsString(), e.Args[1].Range())
					}
				}
			}
			return nil
		})
		if a.Name == "condition" {
			_ = hclsyntax.Walk(a.Expr, &comparedNames{policyTexts: p, r: r})
		}
	}
}

// listed is the map whose keys an expression lists, or the expression itself.
func listed(expr hclsyntax.Expression) hclsyntax.Expression {
	if call, isCall := syntax.Unwrap(expr).(*hclsyntax.FunctionCallExpr); isCall && call.Name == "keys" && len(call.Args) == 1 {
		return call.Args[0]
	}
	return expr
}

// checkID refuses a UUID that is not in the one spelling in which a policy sees those of transfers as well. Digits without
// hyphens may be a hash.
func (policyTexts) checkID(r *eval.Reader, e *hclsyntax.TemplateExpr) {
	text, isText := syntax.LiteralText(e)
	if !isText || !strings.Contains(text.AsString(), "-") {
		return
	}
	if one := transfer.PartySpelled(text.AsString()); one != text.AsString() {
		r.Refuse(e.Range(), "UUID in another form", "A service reads a UUID in any letters as the same, and a policy compares texts. Write it as policies see the IDs of transfers:\n\n  %q", one)
	}
}

// checkKey refuses a key that a map of the subject, which has keys of its own, never has.
func (p policyTexts) checkKey(r *eval.Reader, of hcl.Traversal, key string, at hcl.Range) {
	if len(of) != 2 || of.RootName() != p.subject {
		return
	}
	attribute, _ := eval.StepName(of[1], true)
	switch {
	case attribute == "signals":
		if !slices.Contains(p.signals, key) {
			hint := mistake.DidYouMean(key, p.signals)
			if hint == "" {
				hint = " There are: " + strings.Join(mistake.QuotedAll(p.signals), ", ") + "."
			}
			r.Refuse(at, "Unknown signal", "No plan has a signal %q, so the policy would never see one.%s", key, hint)
		}
	case attribute == "batches" && p.subject == "plan":
		p.checkBatch(r, namedText{text: key, at: at, isShared: p.isShared(r)})
	case attribute == "totals" && p.subject == "plan":
		if one := transfer.AssetSpelled(key); one != key {
			r.Refuse(at, "Asset in small letters", "The totals of a plan count an asset in capitals, however a transfer spells it. Write:\n\n  %q", one)
		}
	}
}

// spelledValues are the values that a policy names, with their UUIDs in one spelling; isAnother where one is another then.
func spelledValues(written map[string]cty.Value) (values map[string]cty.Value, isAnother bool) {
	values = make(map[string]cty.Value, len(written))
	for name, value := range written {
		values[name], _ = cty.Transform(value, func(_ cty.Path, v cty.Value) (cty.Value, error) { return spelledValue(v), nil })
		isAnother = isAnother || !values[name].RawEquals(value)
	}
	return values, isAnother
}

// spelledValue is a text, or the keys of a map, with UUIDs in one spelling. Keys that would be the same stay as they are.
func spelledValue(v cty.Value) cty.Value {
	if syntax.IsText(v) {
		return cty.StringVal(transfer.PartySpelled(v.AsString()))
	}
	if t := v.Type(); !v.IsKnown() || v.IsNull() || v.IsMarked() || !t.IsMapType() && !t.IsObjectType() || v.LengthInt() == 0 {
		return v
	}
	elements := make(map[string]cty.Value, v.LengthInt())
	for key, value := range v.AsValueMap() {
		elements[transfer.PartySpelled(key)] = value
	}
	switch {
	case len(elements) < v.LengthInt():
		return v
	case v.Type().IsMapType():
		return cty.MapVal(elements)
	}
	return cty.ObjectVal(elements)
}
