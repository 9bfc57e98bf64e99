package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// assignEnvironment gives variables the values of the chosen environment, and refuses names of all
// environments that nothing declares.
func (vs *variables) assignEnvironment(all []*eval.Block, chosen *eval.Block, files map[string]*hcl.File) {
	for _, b := range all {
		a := b.Arguments["variables"]
		if a == nil {
			if b == chosen && b.Incomplete { // the part that could not be read may have its values
				for _, v := range vs.all {
					v.Progress = eval.Failed
				}
			}
			continue
		}
		object, ok := syntax.Unwrap(a.Expr).(*hclsyntax.ObjectConsExpr)
		if !ok {
			vs.report(mistake.New(a.Expr.Range(), "No map of variables", "variables has a value for each variable, as in:\n\n  variables = { period = \"2026-11\" }"))
			continue
		}
		for _, item := range object.Items {
			name, isName := variableKey(item.KeyExpr)
			v := vs.named(name)
			switch {
			case !isName:
				vs.report(mistake.New(item.KeyExpr.Range(), "No name of a variable", "A key in variables is the name of a variable, as in:\n\n  variables = { period = \"2026-11\" }"))
			case v == nil:
				vs.report(mistake.New(item.KeyExpr.Range(), "Variable is not declared", "No variable %q is declared.%s Declare it:\n\n  variable %[1]q {\n  }",
					name, mistake.DidYouMean(name, vs.variableNames())))
			case b == chosen:
				vs.assignLiteral(v, item.ValueExpr, files)
			}
		}
	}
}

// variableKey is the name that a key is; in JSON all keys are text.
func variableKey(key hclsyntax.Expression) (string, bool) {
	if text, isText := syntax.LiteralText(key); isText {
		return text.AsString(), true
	}
	return syntax.LiteralKey(key)
}

// assignLiteral gives a variable a value that is written out in the configuration. Where the variable is
// sensitive, no message shows the place of the value.
func (vs *variables) assignLiteral(v *variable, expr hclsyntax.Expression, files map[string]*hcl.File) {
	at := expr.Range()
	var content []byte
	if file := files[at.Filename]; file != nil {
		content = file.Bytes
	}
	value, diags := expr.Value(nil)
	if d := vs.checkWritten(v, expr, content); d != nil && len(expr.Variables()) == 0 {
		diags = hcl.Diagnostics{d}
	}
	diags = explainLiteral(diags, "A value of an environment is a text in quotation marks, a number, a list or a map, such as", v.Name+" = \"2026-11\"")
	if v.Sensitive {
		at = hcl.Range{}
		for _, d := range diags {
			d.Subject, d.Context = v.At.Ptr(), nil
		}
	}
	vs.report(diags...)
	if diags.HasErrors() {
		v.Progress = eval.Failed
		return
	}
	vs.set(v, value, at)
}
