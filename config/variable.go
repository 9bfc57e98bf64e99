package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// secretMark is on every value that comes from a sensitive variable.
type secretMark struct{}

// variables are the variables of a configuration.
type variables struct {
	*checker
	all  []*variable
	open map[string]bool // names of those that are not sensitive

	unassigned []string // see [Configuration.Unassigned]

	hasEnvironments bool // the directory names one
}

// variable is one variable block.
type variable struct {
	*eval.Node
	block    *eval.Block
	typ      cty.Type
	defaults *typeexpr.Defaults
	// literal says that text of the command line and the environment is the value itself
	// and not an expression.
	literal    bool
	nullable   bool
	otherwise  cty.Value // default; NilVal for none
	assigned   bool
	assignedAt hcl.Range // empty where it was not assigned in a file
}

func variableKind() eval.Kind {
	return eval.Kind{
		Name: "variable", Labels: []string{"name"},
		Optional: []string{"type", "default", "description", "sensitive", "nullable"},
		Nested:   []eval.Kind{{Name: "validation", Required: []string{"condition", "error_message"}}},
		Shared:   true,
	}
}

func (vs *variables) read(b *eval.Block) {
	if !vs.declareNamed(b, "var."+b.Label(0)) {
		return
	}
	v := &variable{
		Node:  &eval.Node{Root: "var", Name: b.Label(0), At: b.At},
		block: b, typ: cty.DynamicPseudoType, literal: true, nullable: true,
	}
	if b.Incomplete {
		v.Progress = eval.Failed
	}
	if a, ok := b.Arguments["type"]; ok {
		typ, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.Raw)
		vs.report(explainType(diags)...)
		if diags.HasErrors() {
			v.Progress = eval.Failed
		} else {
			v.typ, v.defaults, v.literal = typ, defaults, typ.IsPrimitiveType()
		}
	}
	if v.Sensitive = literalBool(vs.checker, b, "sensitive", false); !v.Sensitive {
		vs.open[v.Name] = true
	}
	v.nullable = literalBool(vs.checker, b, "nullable", true)
	checkLiteralText(vs.checker, b, "description")
	if a, ok := b.Arguments["default"]; ok {
		value, diags := a.Expr.Value(nil)
		diags = explainDefault(diags, a.Expr, v.Name, vs.scope)
		vs.report(explainLiteral(diags, "The default of a variable is a value by itself. Put a value that is made of others in a locals block, such as", "locals {\n    rent = \"rent-${var.month}\"\n  }")...)
		if diags.HasErrors() {
			v.Progress = eval.Failed
		} else if value, ok := vs.converted(v, value, a.Expr.Range()); ok {
			v.otherwise = value
		}
	}
	vs.all = append(vs.all, v)
	vs.scope.Add(v.Node)
}

// literalBool reads an argument that decides how a block is read and so names nothing.
func literalBool(c *checker, b *eval.Block, name string, otherwise bool) bool {
	a, ok := b.Arguments[name]
	if !ok {
		return otherwise
	}
	value, diags := a.Expr.Value(nil)
	c.report(explainLiteral(diags, name+" is true or false, such as", name+" = true")...)
	if diags.HasErrors() || value.IsNull() {
		return otherwise
	}
	if value.Type() != cty.Bool {
		c.report(mistake.New(a.Expr.Range(), "Not true or false", "%s must be true or false, without quotation marks:\n\n  %s = true", name, name))
		return otherwise
	}
	return value.True()
}

// explainLiteral explains a mistake in a place that may refer to nothing.
func explainLiteral(diags hcl.Diagnostics, what, line string) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary == "Variables not allowed" || d.Summary == "Function calls not allowed" {
			d.Summary, d.Detail = "Nothing can be referred to here", what+":\n\n  "+line
		}
	}
	return diags
}

// explainDefault explains a default that calls a function, of which the scope may not know the name: the clock, above all.
func explainDefault(diags hcl.Diagnostics, expr hclsyntax.Expression, name string, scope *eval.Scope) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary != "Function calls not allowed" {
			continue
		}
		if wrong := scope.UnknownFunction(expr); wrong != nil {
			*d = *wrong
		} else {
			d.Summary, d.Detail = "Nothing can be computed here", "The default of a variable is written out."
		}
		d.Detail += fmt.Sprintf(" Write the value as it is, or leave the default out and give the value to each command:\n\n  --var=%s=VALUE", name)
	}
	return diags
}

// explainType lists the types of variables where one is none.
func explainType(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary == "Invalid type specification" {
			d.Detail = "This is no type. Types are string, number, bool, list(string), map(string), object({ … }) and any, without quotation marks:\n\n  type = string"
		}
	}
	return diags
}

func checkLiteralText(c *checker, b *eval.Block, name string) {
	a, ok := b.Arguments[name]
	if !ok {
		return
	}
	value, diags := a.Expr.Value(nil)
	c.report(diags...)
	if !diags.HasErrors() && !value.IsNull() && value.Type() != cty.String {
		c.report(mistake.New(a.Expr.Range(), "Not text", "%s must be a string.", name))
	}
}

// converted fits a value to the variable's type, or reports why it does not fit. It fails
// the variable then.
func (vs *variables) converted(v *variable, value cty.Value, at hcl.Range) (cty.Value, bool) {
	if v.Progress == eval.Failed {
		return cty.NilVal, false
	}
	if v.defaults != nil && !value.IsNull() {
		value = v.defaults.Apply(value)
	}
	fit, err := convert.Convert(value, v.typ)
	if err == nil {
		return fit, true
	}
	v.Progress = eval.Failed
	d := mistake.New(at, "Value does not fit the variable", "The value of var.%s does not fit its type: %s", v.Name, mistake.Sentence(err)+v.instead(value))
	if at.Filename == "" {
		d.Subject = v.At.Ptr()
	}
	vs.report(d)
	return cty.NilVal, false
}

// instead shows a text that a variable of another type was given; "" where it may be a secret.
func (v *variable) instead(value cty.Value) string {
	if v.Sensitive || !syntax.IsText(value) || value.IsMarked() || len(value.AsString()) > shownMax {
		return ""
	}
	if v.typ == cty.Number {
		return fmt.Sprintf(" It is %q. If it is text, declare:\n\n  type = string", value.AsString())
	}
	return fmt.Sprintf(" It is %q.", value.AsString())
}

// shownMax is how many bytes of a value a message shows.
const shownMax = 80

// finish decides the variable's value once all assignments are made.
func (vs *variables) finish(v *variable) {
	switch {
	case v.Progress == eval.Failed:
		return
	case v.assigned && v.Value.IsNull() && !v.nullable && v.otherwise != cty.NilVal:
		v.Value = v.otherwise
	case !v.assigned && v.otherwise != cty.NilVal:
		v.Value = v.otherwise
	case !v.assigned:
		v.Missing = []*eval.Node{v.Node}
		return
	}
	if v.Value.IsNull() && !v.nullable {
		vs.report(mistake.New(v.At, "Variable may not be null", "var.%s is not nullable.", v.Name))
		v.Progress = eval.Failed
		return
	}
	value := v.Value
	if v.Sensitive {
		value = value.Mark(secretMark{})
	}
	v.Compute = func() (cty.Value, hcl.Diagnostics) { return value, nil }
}

// validate checks the validation blocks of every variable that has a value.
func (vs *variables) validate() {
	for _, v := range vs.all {
		for _, b := range v.block.NestedOf("validation") {
			vs.resolveBlock(b, eval.Reach{Self: true, NoEach: eval.WideReach().NoEach})
			if b.Incomplete || v.Progress != eval.Known {
				continue
			}
			r := eval.Reader{Scope: vs.scope, Block: b, Secret: true}
			holds := r.Truth("condition")
			vs.report(r.Diags...)
			if holds || r.Diags.HasErrors() {
				continue
			}
			r = eval.Reader{Scope: vs.scope, Block: b} // a message may not show a secret
			message, _ := r.Required("error_message")
			vs.report(r.Diags...)
			if strings.TrimSpace(message) != "" { // else it was told
				vs.report(mistake.Blame(mistake.New(v.place(), "Value of a variable is not valid", "var.%s: %s", v.Name, message), v.Address()))
			}
		}
	}
}

// place is where the value was assigned, or else the variable's block.
func (v *variable) place() hcl.Range {
	if v.assignedAt.Filename != "" {
		return v.assignedAt
	}
	return v.At
}
