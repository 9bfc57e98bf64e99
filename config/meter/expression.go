package meter

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// counted is an expression whose evaluation is metered. To HCL it is a pair of parentheses.
type counted struct {
	*hclsyntax.ParenthesesExpr

	meter *Meter
	cost  int64 // of each evaluation
	whole bool  // the value is weighed as well, and not its text alone
	at    *hcl.Range
}

// Value implements hclsyntax.Expression. An expression over its bound is a diagnostic once, and its value unknown
// from then on, so that a loop around it comes to its end; [Meter.Over] says so in the end.
func (c *counted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if c.meter.Over() != nil {
		return cty.DynamicVal, nil
	}
	if !c.meter.Spend(c.cost, c.at) {
		return cty.DynamicVal, hcl.Diagnostics{c.meter.Over()}
	}
	value, diags := c.Expression.Value(ctx)
	if _, isText := plainText(value); !isText && !c.whole {
		return value, diags
	}
	if !c.meter.Weigh(value, 1, c.at) {
		return cty.DynamicVal, append(diags, c.meter.Over())
	}
	return value, diags
}

// Inner is the expression that expr meters, or expr itself.
func Inner(expr hclsyntax.Expression) hclsyntax.Expression {
	if c, ok := expr.(*counted); ok {
		return c.Expression
	}
	return expr
}

// Wrap meters the parts of an expression that may cost more than they are long: what loops
// repeat, and what walks or copies values. It changes expr. Where isPlaced is false, places in
// expr are none of the configuration.
func (m *Meter) Wrap(expr hclsyntax.Expression, isPlaced bool) {
	if m == nil {
		return
	}
	w := wrapper{m, isPlaced, map[string]bool{}}
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if e, ok := node.(*hclsyntax.ForExpr); ok {
			w.bound[e.KeyVar], w.bound[e.ValVar] = true, true
		}
		return nil
	})
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		w.node(node)
		return nil
	})
}

type wrapper struct {
	meter    *Meter
	isPlaced bool
	bound    map[string]bool // names that loops give to their elements
}

func (w wrapper) node(node hclsyntax.Node) {
	switch e := node.(type) {
	case *hclsyntax.ForExpr:
		e.KeyExpr, e.ValExpr, e.CondExpr = w.pass(e.KeyExpr), w.pass(e.ValExpr), w.pass(e.CondExpr)
	case *hclsyntax.SplatExpr:
		e.Each = w.pass(e.Each)
	case *hclsyntax.TemplateExpr:
		for i := range e.Parts {
			e.Parts[i] = w.weighed(e.Parts[i])
		}
	case *hclsyntax.BinaryOpExpr:
		if !isLiteral(e.LHS) && !isLiteral(e.RHS) {
			e.LHS, e.RHS = w.weighed(e.LHS), w.weighed(e.RHS)
		}
	case *hclsyntax.ConditionalExpr:
		e.TrueResult, e.FalseResult = w.weighed(e.TrueResult), w.weighed(e.FalseResult)
	case *hclsyntax.FunctionCallExpr:
		w.arguments(e)
	}
}

// arguments meters those of a call, which are converted before the function sees them. A reference
// to a declared value was weighed when the value was made, and the function counts its own work
// on it.
func (w wrapper) arguments(call *hclsyntax.FunctionCallExpr) {
	switch call.Name {
	case "try", "can": // which take expressions
		return
	case "list", "set", "map", "object", "tuple", "optional": // which write a type
		return
	}
	for i, arg := range call.Args {
		path, isName := arg.(*hclsyntax.ScopeTraversalExpr)
		if !isName || w.bound[path.Traversal.RootName()] {
			call.Args[i] = w.weighed(arg)
		}
	}
}

func isLiteral(expr hclsyntax.Expression) bool {
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.TemplateExpr:
		return len(e.Parts) == 0 || len(e.Parts) == 1 && isLiteral(e.Parts[0])
	}
	return false
}

// passCost is what a pass costs by itself, in steps: HCL makes a context for it.
const passCost = 4

// pass meters what a loop repeats, by the number of its parts.
func (w wrapper) pass(expr hclsyntax.Expression) hclsyntax.Expression {
	return w.wrap(expr, func() int64 {
		parts := int64(passCost)
		_ = hclsyntax.VisitAll(expr, func(hclsyntax.Node) hcl.Diagnostics {
			parts++
			return nil
		})
		return parts
	}, false)
}

func (w wrapper) weighed(expr hclsyntax.Expression) hclsyntax.Expression {
	if expr == nil || isLiteral(expr) {
		return expr
	}
	return w.wrap(expr, func() int64 { return 0 }, true)
}

func (w wrapper) wrap(expr hclsyntax.Expression, cost func() int64, whole bool) hclsyntax.Expression {
	if _, isCounted := expr.(*counted); expr == nil || isCounted {
		return expr
	}
	c := &counted{
		ParenthesesExpr: &hclsyntax.ParenthesesExpr{Expression: expr, SrcRange: expr.Range()},
		meter:           w.meter, cost: cost(), whole: whole,
	}
	if w.isPlaced {
		at := expr.Range()
		c.at = &at
	}
	return c
}
