package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"remit/config/mistake"
)

// secretMark is on every value that comes from a sensitive variable.
type secretMark struct{}

// variable is one variable block.
type variable struct {
	*node
	block    *block
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

func variableKind() blockKind {
	return blockKind{
		name: "variable", labels: []string{"name"},
		optional: []string{"type", "default", "description", "sensitive", "nullable"},
		nested:   []blockKind{{name: "validation", required: []string{"condition", "error_message"}}},
		read:     (*loader).readVariable,
	}
}

func (l *loader) readVariable(b *block) {
	if !l.declareNamed(b, "var."+b.label(0)) {
		return
	}
	v := &variable{
		node:  &node{root: "var", name: b.label(0), at: b.at},
		block: b, typ: cty.DynamicPseudoType, literal: true, nullable: true,
	}
	if a, ok := b.arguments["type"]; ok {
		typ, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.raw)
		l.report(diags...)
		if diags.HasErrors() {
			v.progress = failed
		} else {
			v.typ, v.defaults, v.literal = typ, defaults, typ.IsPrimitiveType()
		}
	}
	if v.sensitive = l.literalBool(b, "sensitive", false); !v.sensitive {
		l.config.open[v.name] = true
	}
	v.nullable = l.literalBool(b, "nullable", true)
	l.literalText(b, "description")
	if a, ok := b.arguments["default"]; ok {
		value, diags := a.expr.Value(nil)
		l.report(diags...)
		if diags.HasErrors() {
			v.progress = failed
		} else if value, ok := l.converted(v, value, a.expr.Range()); ok {
			v.otherwise = value
		}
	}
	l.variables = append(l.variables, v)
	l.config.scope.add(v.node)
}

// literalBool reads an argument that decides how a block is read and so names nothing.
func (l *loader) literalBool(b *block, name string, otherwise bool) bool {
	a, ok := b.arguments[name]
	if !ok {
		return otherwise
	}
	value, diags := a.expr.Value(nil)
	l.report(diags...)
	if diags.HasErrors() || value.IsNull() {
		return otherwise
	}
	if value.Type() != cty.Bool {
		l.report(mistake.New(a.expr.Range(), "Not true or false", "%s must be true or false.", name))
		return otherwise
	}
	return value.True()
}

func (l *loader) literalText(b *block, name string) {
	a, ok := b.arguments[name]
	if !ok {
		return
	}
	value, diags := a.expr.Value(nil)
	l.report(diags...)
	if !diags.HasErrors() && !value.IsNull() && value.Type() != cty.String {
		l.report(mistake.New(a.expr.Range(), "Not text", "%s must be a string.", name))
	}
}

// converted fits a value to the variable's type, or reports why it does not fit. It fails
// the variable then.
func (l *loader) converted(v *variable, value cty.Value, at hcl.Range) (cty.Value, bool) {
	if v.progress == failed {
		return cty.NilVal, false
	}
	if v.defaults != nil && !value.IsNull() {
		value = v.defaults.Apply(value)
	}
	fit, err := convert.Convert(value, v.typ)
	if err == nil {
		return fit, true
	}
	v.progress = failed
	d := mistake.New(at, "Value does not fit the variable", "The value of var.%s does not fit its type: %s", v.name, mistake.Sentence(err))
	if at.Filename == "" {
		d.Subject = v.at.Ptr()
	}
	l.report(d)
	return cty.NilVal, false
}

// finish decides the variable's value once all assignments are made.
func (l *loader) finish(v *variable) {
	switch {
	case v.progress == failed:
		return
	case v.assigned && v.value.IsNull() && !v.nullable && v.otherwise != cty.NilVal:
		v.value = v.otherwise
	case !v.assigned && v.otherwise != cty.NilVal:
		v.value = v.otherwise
	case !v.assigned:
		v.missing = []*node{v.node}
		return
	}
	if v.value.IsNull() && !v.nullable {
		l.report(mistake.New(v.at, "Variable may not be null", "var.%s is not nullable.", v.name))
		v.progress = failed
		return
	}
	value := v.value
	if v.sensitive {
		value = value.Mark(secretMark{})
	}
	v.compute = func() (cty.Value, hcl.Diagnostics) { return value, nil }
}

// validate checks the validation blocks of every variable that has a value.
func (l *loader) validate() {
	for _, v := range l.variables {
		for _, b := range v.block.nestedOf("validation") {
			l.resolveBlock(b, reach{self: true, noEach: wideReach().noEach})
			if b.incomplete || v.progress != known {
				continue
			}
			r := reader{scope: l.config.scope, block: b, secret: true}
			holds := r.truth("condition")
			l.report(r.diags...)
			if holds || r.diags.HasErrors() {
				continue
			}
			r = reader{scope: l.config.scope, block: b} // a message may not show a secret
			message, _ := r.required("error_message")
			l.report(r.diags...)
			if message != "" {
				l.report(mistake.Blame(mistake.New(v.place(), "Value of a variable is not valid", "var.%s: %s", v.name, message), v.address()))
			}
		}
	}
}

// place is where the value was assigned, or else the variable's block.
func (v *variable) place() hcl.Range {
	if v.assignedAt.Filename != "" {
		return v.assignedAt
	}
	return v.at
}
