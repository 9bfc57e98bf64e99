package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/functions"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/text/lazyregexp"
)

// FilterFile is the name under which diagnostics of a [Filter] show its expression.
const FilterFile = "<where>"

// Filter is an expression that keeps some of many things, of which it names attributes: by
// themselves, or of self as a policy does. It sees the functions of the language that read no
// file, and nothing of a configuration. It is not for use by several goroutines at once.
type Filter struct {
	expr  hclsyntax.Expression
	names []string
	ctx   *hcl.EvalContext
	meter *meter.Meter
}

// Attribute is what a [Filter] may name.
type Attribute struct {
	Name string
	// Decimal says that it is a quoted decimal, which == compares as text and < as a float:
	// either can be wrong, so both are mistakes.
	Decimal bool
	// Values are all that there are of it; nil for any. A comparison with another one, which
	// never holds, is a mistake.
	Values []string
	// Open says that others than Values may occur, but none that is one of them in other letters:
	// a comparison with another one is a warning.
	Open bool
	// Time says that it is a time in RFC 3339, which timecmp compares: as a text, one time is
	// written in many ways.
	Time bool
	// Bool says that it is true or false, which no text equals.
	Bool bool
}

// oneEquals is a comparison as a database has it.
var oneEquals = lazyregexp.New(`[\w"\s]=[\w"'\s]`)

// NewFilter reads an expression over attributes. The places of the diagnostics are in [FilterFile].
// Where done is closed, evaluation ends; nil never is.
func NewFilter(expression string, attributes []Attribute, done <-chan struct{}) (*Filter, hcl.Diagnostics) {
	source := []byte(expression)
	if diags := syntax.CheckNesting(source, FilterFile, hcl.InitialPos, hclsyntax.LexExpression); diags.HasErrors() {
		return nil, diags
	}
	expr, diags := hclsyntax.ParseExpression(source, FilterFile, hcl.InitialPos)
	if oneEquals.MatchString(expression) && diags.HasErrors() {
		return nil, hcl.Diagnostics{mistake.New(*diags[0].Subject, "Comparison has one equals sign", "A comparison has two equals signs, and text is in quotation marks, such as:\n\n  --where='status == \"recorded\"'")}
	}
	if !diags.HasErrors() {
		diags = append(diags, syntax.CheckNumbers(expr)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	m := meter.New(done)
	table := functions.TableOf(functions.Directory{}, m)
	f := &Filter{expr: expr, ctx: &hcl.EvalContext{Functions: table}, meter: m}
	for name := range table {
		if functions.ReadsFiles(name) {
			delete(table, name)
		}
	}
	for _, t := range expr.Variables() {
		name, diag := filterName(t, attributes)
		if diag != nil {
			diags = append(diags, diag)
			continue
		}
		f.names = append(f.names, name)
	}
	diags = append(diags, checkComparisons(expr, attributes)...)
	m.Wrap(expr, true)
	return f, diags
}

// Names reports whether the expression names one of the attributes.
func (f *Filter) Names(attributes ...string) bool {
	return slices.ContainsFunc(attributes, func(name string) bool { return slices.Contains(f.names, name) })
}

// Keeps evaluates the expression over the attributes that it names; value is asked for each.
// The diagnostics say why there is no answer: also that there is none within
// [meter.RowStepsMax] steps, or that evaluation was interrupted.
func (f *Filter) Keeps(value func(attribute string) cty.Value) (bool, hcl.Diagnostics) {
	values := make(map[string]cty.Value, len(f.names)+1)
	for _, name := range f.names {
		values[name] = value(name)
	}
	ctx := f.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{"self": cty.ObjectVal(values)}
	for name, v := range values {
		ctx.Variables[name] = v
	}
	defer f.meter.Resume(f.meter.Begin(meter.RowStepsMax))
	result, diags := f.expr.Value(ctx)
	if over := f.meter.Over(); over != nil {
		why := *over
		if why.Subject == nil {
			why.Subject = f.expr.Range().Ptr()
		}
		return false, hcl.Diagnostics{&why}
	}
	switch {
	case diags.HasErrors():
		return false, diags
	case result.IsNull() || !result.IsWhollyKnown() || result.Type() != cty.Bool:
		return false, hcl.Diagnostics{mistake.New(f.expr.Range(), "Condition is neither true nor false",
			"It keeps what it is true of, as in status == \"in_doubt\".")}
	}
	return result.True(), nil
}

// filterName is the attribute that a traversal names.
func filterName(t hcl.Traversal, attributes []Attribute) (string, *hcl.Diagnostic) {
	name, at := t.RootName(), t[0].SourceRange()
	if name == "self" {
		ok := len(t) > 1
		if ok {
			name, ok = eval.StepName(t[1], true)
		}
		if !ok {
			return "", mistake.New(t.SourceRange(), "Attribute is missing", "Write self.ATTRIBUTE. There are: %s.", strings.Join(attributeNames(attributes), ", "))
		}
		at = eval.RangeOfStep(t[1])
	}
	known := attributeNames(attributes)
	if slices.Contains(known, name) {
		return name, nil
	}
	hint := mistake.DidYouMean(name, known)
	if len(t) == 1 && at.Start.Byte > 0 {
		hint = fmt.Sprintf(" If it is text, write it in quotation marks:\n\n  %q", name)
	}
	if hint == "" {
		hint = " There are: " + strings.Join(known, ", ") + "."
	}
	return "", mistake.New(at, "Unknown attribute", "There is no %q to filter by.%s", name, hint)
}

func attributeNames(attributes []Attribute) []string {
	var names []string
	for _, a := range attributes {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// checkComparisons finds comparisons that would silently keep nothing, or the wrong things.
func checkComparisons(expr hclsyntax.Expression, attributes []Attribute) hcl.Diagnostics {
	operators := map[*hclsyntax.Operation]string{
		hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=", hclsyntax.OpGreaterThan: ">",
		hclsyntax.OpGreaterThanOrEqual: ">=", hclsyntax.OpLessThan: "<", hclsyntax.OpLessThanOrEqual: "<=",
	}
	return hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if call, ok := node.(*hclsyntax.FunctionCallExpr); ok {
			return checkContains(call, attributes)
		}
		e, ok := node.(*hclsyntax.BinaryOpExpr)
		operator := ""
		if ok {
			operator = operators[e.Op]
		}
		if operator == "" {
			return nil
		}
		for _, sides := range [][2]hclsyntax.Expression{{e.LHS, e.RHS}, {e.RHS, e.LHS}} {
			a := attributeOf(sides[0], attributes)
			if a == nil {
				continue
			}
			text, isLiteral := literalText(sides[1])
			switch {
			case a.Decimal:
				return hcl.Diagnostics{mistake.New(e.Range(), "A decimal is compared with decimal_cmp",
					"%s is a quoted decimal, and neither a text nor a float. Write:\n\n  decimal_cmp(%[1]s, \"100.00\") %s 0", a.Name, operator)}
			case isLiteral && a.Time:
				return hcl.Diagnostics{mistake.New(e.Range(), "A time is compared with timecmp",
					"%s is a time, or null. Write:\n\n  %[1]s != null && timecmp(%[1]s, \"2026-11-01T00:00:00Z\") %s 0", a.Name, operator)}
			case isLiteral && a.Bool:
				return hcl.Diagnostics{mistake.New(sides[1].Range(), "Value that never occurs",
					"%s is true or false, without quotes. Write %[1]s or !%[1]s.", a.Name)}
			case isLiteral:
				return a.unusual(text, sides[1].Range())
			}
		}
		return nil
	})
}

// unusual says that the attribute is never text, or hardly ever, where that is so.
func (a *Attribute) unusual(text string, at hcl.Range) hcl.Diagnostics {
	if a.Values == nil || slices.Contains(a.Values, text) {
		return nil
	}
	values := slices.Clone(a.Values)
	if i := slices.Index(values, ""); i >= 0 {
		values[i] = `""`
	}
	same := slices.IndexFunc(a.Values, func(value string) bool { return strings.EqualFold(value, text) })
	if a.Open && same < 0 {
		warning := mistake.New(at, "Value that is not usual", "%s is %q only where the service has words of its own.%s The usual ones are: %s.",
			a.Name, text, mistake.DidYouMean(text, a.Values), strings.Join(values, ", "))
		warning.Severity = hcl.DiagWarning
		return hcl.Diagnostics{warning}
	}
	hint := mistake.DidYouMean(text, a.Values)
	if same >= 0 {
		hint = " Did you mean \"" + a.Values[same] + "\"?"
	}
	return hcl.Diagnostics{mistake.New(at, "Value that never occurs",
		"%s is never %q.%s It is one of: %s.", a.Name, text, hint, strings.Join(values, ", "))}
}

// checkContains finds the same in contains([…], ATTRIBUTE), which is how one of several is asked for.
func checkContains(call *hclsyntax.FunctionCallExpr, attributes []Attribute) hcl.Diagnostics {
	if call.Name != "contains" || len(call.Args) != 2 {
		return nil
	}
	a := attributeOf(call.Args[1], attributes)
	if a == nil {
		return nil
	}
	if a.Decimal {
		return hcl.Diagnostics{mistake.New(call.Range(), "A decimal is compared with decimal_cmp",
			"%s is a quoted decimal, and contains compares texts. Write:\n\n  decimal_cmp(%[1]s, \"100.00\") == 0", a.Name)}
	}
	list, ok := call.Args[0].(*hclsyntax.TupleConsExpr)
	if !ok {
		return nil
	}
	var diags hcl.Diagnostics
	for _, element := range list.Exprs {
		if text, isLiteral := literalText(element); isLiteral {
			diags = append(diags, a.unusual(text, element.Range())...)
		}
	}
	return diags
}

// attributeOf is the attribute that an expression is, or nil.
func attributeOf(expr hclsyntax.Expression, attributes []Attribute) *Attribute {
	t := syntax.Traversal(expr)
	if len(t) == 0 {
		return nil
	}
	name, diag := filterName(t, attributes)
	if diag != nil {
		return nil
	}
	i := slices.IndexFunc(attributes, func(a Attribute) bool { return a.Name == name })
	return &attributes[i]
}

// literalText is the text of a quoted literal.
func literalText(expr hclsyntax.Expression) (string, bool) {
	value, ok := syntax.LiteralText(syntax.Unwrap(expr))
	if !ok {
		return "", false
	}
	return value.AsString(), true
}
