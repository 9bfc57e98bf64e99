package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"remit/config/eval"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
)

// decimalCheck looks for numbers in the making of an amount. HCL's numbers are binary floats, so
// that arithmetic on them, or turning one into text, may lose a cent that nobody sees (law 6). It
// follows the value: conditions, index keys and arguments that are counts, such as a scale, may be
// numbers.
type decimalCheck struct {
	scope *eval.Scope
	ctx   *hcl.EvalContext // to find the types of parts; parts that it can't evaluate pass
	local string           // address of the local that is looked into; "" in the amount
	use   hcl.Range        // the amount
	seen  map[*eval.Node]bool
	diags hcl.Diagnostics
}

// strictness says where a number is a mistake.
type strictness uint8

const (
	loose    strictness = iota // nowhere: only what computes with numbers is
	strict                     // a number here becomes text
	elements                   // a number in a list here becomes text
)

// checkDecimal reports numbers in an amount, and in the locals that it names.
func checkDecimal(s *eval.Scope, amount hclsyntax.Expression, ctx *hcl.EvalContext) hcl.Diagnostics {
	c := decimalCheck{scope: s, ctx: ctx, use: amount.Range(), seen: map[*eval.Node]bool{}}
	c.flow(amount, loose) // a number as the whole amount is reported where it is read
	return c.diags
}

func (c *decimalCheck) refuse(r hcl.Range, summary, detail string, args ...any) {
	d := mistake.New(r, summary, detail, args...)
	if c.local != "" {
		d.Detail += " The amount at " + mistake.At(c.use) + " uses " + c.local + "."
	}
	c.diags = append(c.diags, d)
}

// flow follows the value of expr into the amount.
func (c *decimalCheck) flow(expr hclsyntax.Expression, where strictness) {
	if where == strict && c.isNumber(expr) {
		c.refuse(expr.Range(), "Number in an amount",
			"A number becomes text here, and numbers are binary floats. Quote the decimal, or compute it with decimal_add, decimal_sub, decimal_mul, decimal_div or decimal_round.")
		return
	}
	switch e := meter.Inner(expr).(type) {
	case *hclsyntax.ParenthesesExpr:
		c.flow(e.Expression, where)
	case *hclsyntax.TemplateWrapExpr:
		c.flow(e.Wrapped, where)
	case *hclsyntax.ConditionalExpr:
		c.flow(e.TrueResult, max(where, c.mixed(e)))
		c.flow(e.FalseResult, max(where, c.mixed(e)))
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			c.flow(part, strict)
		}
	case *hclsyntax.TemplateJoinExpr:
		c.flow(e.Tuple, elements)
	case *hclsyntax.BinaryOpExpr:
		c.operator(e)
	case *hclsyntax.UnaryOpExpr:
		if _, isLiteral := syntax.Unwrap(e.Val).(*hclsyntax.LiteralValueExpr); e.Op == hclsyntax.OpNegate && !isLiteral {
			c.refuse(e.SrcRange, "Number arithmetic in an amount",
				"'-' computes with binary floats. Write decimal_sub(a, b), which computes with quoted decimals exactly.")
		}
	case *hclsyntax.FunctionCallExpr:
		c.call(e)
	case *hclsyntax.IndexExpr:
		c.flow(e.Collection, loose)
	case *hclsyntax.RelativeTraversalExpr:
		c.flow(e.Source, loose)
	case *hclsyntax.SplatExpr:
		c.flow(e.Source, loose)
		c.flow(e.Each, loose)
	case *hclsyntax.ForExpr:
		c.flow(e.CollExpr, loose)
		c.flow(e.ValExpr, map[bool]strictness{true: strict, false: loose}[where == elements])
	case *hclsyntax.TupleConsExpr:
		for _, item := range e.Exprs {
			c.flow(item, map[bool]strictness{true: strict, false: loose}[where == elements])
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			c.flow(item.ValueExpr, loose)
		}
	case *hclsyntax.ScopeTraversalExpr:
		c.traversal(e.Traversal)
	}
}

// mixed is strict where one result of a condition is a number and the other is not: HCL
// then makes text of the number.
func (c *decimalCheck) mixed(e *hclsyntax.ConditionalExpr) strictness {
	if c.isNumber(e.TrueResult) != c.isNumber(e.FalseResult) {
		return strict
	}
	return loose
}

func (c *decimalCheck) operator(e *hclsyntax.BinaryOpExpr) {
	if e.Op.Type != cty.Number {
		return // a comparison
	}
	symbol, remedy := "%", "the decimal functions, which compute"
	switch e.Op {
	case hclsyntax.OpAdd:
		symbol, remedy = "+", "decimal_add(a, b), which computes"
	case hclsyntax.OpSubtract:
		symbol, remedy = "-", "decimal_sub(a, b), which computes"
	case hclsyntax.OpMultiply:
		symbol, remedy = "*", "decimal_mul(a, b), which computes"
	case hclsyntax.OpDivide:
		symbol, remedy = "/", "decimal_div(a, b, scale, rounding), which computes"
	}
	c.refuse(e.SrcRange, "Number arithmetic in an amount",
		"'%s' computes with binary floats. Write %s with quoted decimals exactly.", symbol, remedy)
}

func (c *decimalCheck) call(e *hclsyntax.FunctionCallExpr) {
	called, ok := c.scope.Functions[e.Name]
	if !ok {
		return
	}
	switch e.Name {
	case "format", "formatlist":
		c.format(e)
		return
	case sumOfNumbers:
		c.refuse(e.Range(), "Number arithmetic in an amount",
			"sum adds binary floats. Write decimal_sum(list), which adds quoted decimals exactly.")
		return
	}
	params := called.Params()
	for i, arg := range e.Args {
		ty := cty.DynamicPseudoType
		if i < len(params) {
			ty = params[i].Type
		} else if variadic := called.VarParam(); variadic != nil {
			ty = variadic.Type
		}
		switch {
		case ty == cty.Number || ty == cty.Bool:
		case ty == cty.String || ty == cty.DynamicPseudoType:
			c.flow(arg, strict)
		case ty.IsCollectionType() && ty.ElementType() == cty.String:
			c.flow(arg, elements)
		default:
			c.flow(arg, loose)
		}
	}
}

// format may print numbers only where its verbs say so; %s and %v of text are harmless.
func (c *decimalCheck) format(e *hclsyntax.FunctionCallExpr) {
	numbers := len(e.Args) == 0
	for i, arg := range e.Args {
		if i == 0 {
			numbers = !isTextFormat(arg, c.ctx)
			continue
		}
		numbers = numbers || c.isNumber(arg)
		c.flow(arg, loose)
	}
	if numbers {
		c.refuse(e.Range(), "Format of a number in an amount",
			"%s prints a binary float. Write decimal_round(value, scale, rounding), which keeps quoted decimals exact.", e.Name)
	}
}

// isTextFormat reports whether a format string is known and has no verb but %s, %v and %%.
func isTextFormat(expr hclsyntax.Expression, ctx *hcl.EvalContext) bool {
	value, diags := expr.Value(ctx)
	if diags.HasErrors() || !syntax.IsText(value) {
		return false
	}
	text := strings.ReplaceAll(value.AsString(), "%%", "")
	return strings.Count(text, "%") == strings.Count(text, "%s")+strings.Count(text, "%v")
}

// traversal looks into the local that a traversal names.
func (c *decimalCheck) traversal(t hcl.Traversal) {
	if t.RootName() != "local" || len(t) < 2 {
		return
	}
	name, _ := eval.StepName(t[1], false)
	n, ok := c.scope.Nodes["local"][name]
	if !ok || c.seen[n] || n.Progress != eval.Known {
		return
	}
	c.seen[n] = true
	argument := n.Arguments[0]
	ctx, ok, _ := c.scope.Context(argument.Refs)
	if !ok {
		return
	}
	inner := decimalCheck{scope: c.scope, ctx: ctx, local: n.Address(), use: c.use, seen: c.seen}
	inner.flow(argument.Expr, loose)
	c.diags = append(c.diags, inner.diags...)
}

// isNumber reports whether expr is known to be a number.
func (c *decimalCheck) isNumber(expr hclsyntax.Expression) bool {
	switch e := meter.Inner(expr).(type) {
	case *hclsyntax.BinaryOpExpr, *hclsyntax.UnaryOpExpr:
		return false // reported for what they are
	case *hclsyntax.LiteralValueExpr:
		return !e.Val.IsNull() && e.Val.Type() == cty.Number
	case *hclsyntax.FunctionCallExpr:
		called, ok := c.scope.Functions[e.Name]
		if !ok {
			return false
		}
		if e.Name == sumOfNumbers {
			return false // reported as arithmetic
		}
		if ty := resultOf(called, len(e.Args)); ty != cty.DynamicPseudoType {
			return ty == cty.Number
		}
	case *hclsyntax.TemplateExpr, *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr, *hclsyntax.ForExpr:
		return false
	}
	value, diags := expr.Value(c.ctx)
	return !diags.HasErrors() && value.Type() == cty.Number && !value.IsNull()
}

// sumOfNumbers is the function that adds a list, whatever its type.
const sumOfNumbers = "sum"

// resultOf is the type of a function's result, with any arguments; DynamicPseudoType where that depends on it.
func resultOf(f function.Function, args int) cty.Type {
	types := slices.Repeat([]cty.Type{cty.DynamicPseudoType}, args)
	if ty, err := f.ReturnType(types); err == nil && ty != cty.DynamicPseudoType {
		return ty
	}
	for i, p := range f.Params() {
		if i < args {
			types[i] = p.Type // cty does not ask a function about an argument whose type is not known
		}
	}
	if ty, err := f.ReturnType(types); err == nil && ty == cty.Number {
		return ty
	}
	return cty.DynamicPseudoType
}
