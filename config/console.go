package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// shownStepsMax bounds a value of the console, in steps: writing one takes about 500 bytes of memory
// for each.
const shownStepsMax = 100_000

// Eval evaluates one expression of the console, which may refer to what a local may. A value
// that contains marks is sensitive and not to be shown.
func (c *Configuration) Eval(expression string) (cty.Value, hcl.Diagnostics) {
	const name = "<console>"
	source := []byte(expression)
	if c.scope == nil {
		return cty.DynamicVal, hcl.Diagnostics{mistake.Placeless("Value cannot be evaluated", "The configuration cannot be read.")}
	}
	if diags := syntax.CheckNesting(source, name, hcl.InitialPos, hclsyntax.LexExpression); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	expr, diags := hclsyntax.ParseExpression(source, name, hcl.InitialPos)
	if !diags.HasErrors() {
		diags = append(diags, syntax.CheckNumbers(expr)...)
		c.scope.Meter.Reset()
		c.scope.Meter.Wrap(expr, true)
	}
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	refs, diags := c.scope.Resolve(expr, eval.WideReach())
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	value, ok, diags := c.scope.Value(&eval.Argument{Name: name, Expr: expr, Raw: expr, Refs: refs})
	if ok {
		c.scope.Meter.Begin(shownStepsMax)
		if !c.scope.Meter.Weigh(value, 1, nil) && !c.scope.Meter.Interrupted() {
			return cty.DynamicVal, append(diags, mistake.New(expr.Range(), "Value is too large to show",
				"It has more than %d elements, or their texts are too long. Ask for a part of it, or for its length.", shownStepsMax))
		}
		value, _ = unmoved(value)
		return value, diags
	}
	for _, n := range refs.Nodes {
		for _, missing := range n.Missing {
			diags = append(diags, missingValue(missing))
		}
	}
	if !diags.HasErrors() {
		diags = append(diags, mistake.New(expr.Range(), "Value cannot be evaluated",
			"The configuration has mistakes in what the expression refers to."))
	}
	return cty.DynamicVal, diags
}
