package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/meter"
)

// TreeOf returns expr as a tree of HCL's native syntax, whatever it was written in, so that
// every check and evaluation has one kind of tree to deal with, metered by m. In JSON a string is a
// template, as in Terraform.
func TreeOf(expr hcl.Expression, m *meter.Meter) (hclsyntax.Expression, hcl.Diagnostics) {
	tree, ok := expr.(hclsyntax.Expression)
	var diags hcl.Diagnostics
	if !ok {
		tree, diags = fromJSON(expr)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	if isLiteral(tree) {
		return tree, diags
	}
	if object, ok := LiteralObject(tree); ok {
		return tree, append(diags, checkKeysOfObject(object)...)
	}
	diags = append(diags, CheckNumbers(tree)...)
	diags = append(diags, checkDates(tree)...)
	diags = append(diags, checkKeys(tree)...)
	m.Wrap(tree, true)
	return tree, diags
}

func fromJSON(expr hcl.Expression) (hclsyntax.Expression, hcl.Diagnostics) {
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		return listFromJSON(expr, items)
	}
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		return objectFromJSON(expr, pairs)
	}
	value, diags := expr.Value(nil) // without a context a string stays as it is written
	if diags.HasErrors() {
		return nil, diags
	}
	if value.IsNull() || value.Type() != cty.String {
		return &hclsyntax.LiteralValueExpr{Val: value, SrcRange: expr.Range()}, nil
	}
	start := expr.Range().Start
	start.Column++ // after the quotation mark
	start.Byte++
	text := []byte(value.AsString())
	if diags := CheckNesting(text, expr.Range().Filename, start, hclsyntax.LexTemplate); diags.HasErrors() {
		return nil, diags
	}
	return hclsyntax.ParseTemplate(text, expr.Range().Filename, start)
}

func listFromJSON(expr hcl.Expression, items []hcl.Expression) (hclsyntax.Expression, hcl.Diagnostics) {
	list := &hclsyntax.TupleConsExpr{SrcRange: expr.Range(), OpenRange: expr.StartRange()}
	var diags hcl.Diagnostics
	for _, item := range items {
		tree, more := fromJSON(item)
		diags = append(diags, more...)
		list.Exprs = append(list.Exprs, tree)
	}
	return list, diags
}

func objectFromJSON(expr hcl.Expression, pairs []hcl.KeyValuePair) (hclsyntax.Expression, hcl.Diagnostics) {
	object := &hclsyntax.ObjectConsExpr{SrcRange: expr.Range(), OpenRange: expr.StartRange()}
	var diags hcl.Diagnostics
	for _, pair := range pairs {
		key, more := fromJSON(pair.Key)
		diags = append(diags, more...)
		value, more := fromJSON(pair.Value)
		diags = append(diags, more...)
		object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: value})
	}
	return object, diags
}

// Unwrap takes parentheses, a meter and a template of a single interpolation off an expression.
func Unwrap(expr hclsyntax.Expression) hclsyntax.Expression {
	for {
		expr = meter.Inner(expr)
		switch e := expr.(type) {
		case *hclsyntax.ParenthesesExpr:
			expr = e.Expression
		case *hclsyntax.TemplateWrapExpr:
			expr = e.Wrapped
		default:
			return expr
		}
	}
}

// Traversal returns the traversal that an expression is, or nil where it is anything else.
func Traversal(expr hclsyntax.Expression) hcl.Traversal {
	if scope, ok := Unwrap(expr).(*hclsyntax.ScopeTraversalExpr); ok {
		return scope.Traversal
	}
	return nil
}

// LiteralText is the value of an expression that is text as it is written, without
// interpolation. Most arguments are, and mean the same in every place.
func LiteralText(expr hclsyntax.Expression) (cty.Value, bool) {
	template, ok := expr.(*hclsyntax.TemplateExpr)
	if !ok || len(template.Parts) != 1 {
		return cty.NilVal, false
	}
	literal, ok := template.Parts[0].(*hclsyntax.LiteralValueExpr)
	if !ok || !IsText(literal.Val) {
		return cty.NilVal, false
	}
	return literal.Val, true
}

// isLiteral reports whether an expression is text or a reference as it is written: no other
// expression is in it.
func isLiteral(expr hclsyntax.Expression) bool {
	if _, isReference := expr.(*hclsyntax.ScopeTraversalExpr); isReference {
		return true
	}
	_, isText := LiteralText(expr)
	return isText
}

// LiteralObject is an expression that is an object whose keys and values are text as it is
// written, such as most metadata; false where it is anything else.
func LiteralObject(expr hclsyntax.Expression) (*hclsyntax.ObjectConsExpr, bool) {
	object, ok := expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil, false
	}
	for _, item := range object.Items {
		_, isKey := LiteralKey(item.KeyExpr)
		if _, isText := LiteralText(item.ValueExpr); !isKey || !isText {
			return nil, false
		}
	}
	return object, true
}

// LiteralKey is the key of an object that is a name or text as it is written.
func LiteralKey(expr hclsyntax.Expression) (string, bool) {
	key, ok := expr.(*hclsyntax.ObjectConsKeyExpr)
	if !ok || key.ForceNonLiteral {
		return "", false
	}
	if name, ok := key.Wrapped.(*hclsyntax.ScopeTraversalExpr); ok && len(name.Traversal) == 1 {
		return cty.NormalizeString(name.Traversal.RootName()), true
	}
	value, ok := LiteralText(key.Wrapped)
	if !ok {
		return "", false
	}
	return value.AsString(), true
}

// IsText reports whether v is a string that can be read.
func IsText(v cty.Value) bool {
	return v != cty.NilVal && !v.IsMarked() && v.IsKnown() && !v.IsNull() && v.Type() == cty.String
}
