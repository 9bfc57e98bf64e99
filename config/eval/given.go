package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
)

// EvaluateOver evaluates an argument over the scope and over the values that within gives, and says
// whether a secret could be in the value, whose marks are taken off. It is not ok where
// diagnostics say why there is no value.
func (s *Scope) EvaluateOver(a *Argument, within Reach) (value cty.Value, ctx *hcl.EvalContext, isSecret, ok bool, diags hcl.Diagnostics) {
	refs, diags := s.Resolve(a.Expr, within)
	a.Refs = refs
	if diags.HasErrors() {
		return cty.NilVal, nil, false, false, diags
	}
	ctx, ok, diags = s.Context(refs)
	if !ok {
		return cty.NilVal, nil, false, false, append(diags, mistake.New(a.Expr.Range(), "Value cannot be evaluated",
			"The expression refers to something that has no value here."))
	}
	for name, value := range within.Given {
		ctx.Variables[name] = value
	}
	value, more := s.Evaluate(a.Expr, refs, ctx)
	diags = append(diags, more...)
	if diags.HasErrors() {
		return cty.NilVal, ctx, false, false, diags
	}
	value, _ = Unmark(value)
	isSecret = refs.Sensitive() || value.ContainsMarked()
	value, _ = value.UnmarkDeep()
	return value, ctx, isSecret, true, diags
}
