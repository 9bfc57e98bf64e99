package config

import (
	"iter"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
)

// loopsIn yields the for expressions of an expression, each with those around it whose elements it sees, the outermost first.
func loopsIn(expr hclsyntax.Expression) iter.Seq2[*hclsyntax.ForExpr, []*hclsyntax.ForExpr] {
	return func(yield func(*hclsyntax.ForExpr, []*hclsyntax.ForExpr) bool) {
		w := &loopWalk{yield: yield}
		_ = hclsyntax.Walk(expr, w)
	}
}

// loopWalk goes through an expression.
type loopWalk struct {
	yield  func(*hclsyntax.ForExpr, []*hclsyntax.ForExpr) bool
	over   bool
	loops  []*hclsyntax.ForExpr // around the node
	within []*hclsyntax.ForExpr // whose elements the node sees: a loop's collection does not see them
}

// Enter is called before the nodes below a node.
func (w *loopWalk) Enter(node hclsyntax.Node) hcl.Diagnostics {
	switch node := node.(type) {
	case *hclsyntax.ForExpr:
		w.over = w.over || !w.yield(node, w.within)
		w.loops = append(w.loops, node)
	case hclsyntax.ChildScope:
		w.within = append(w.within, w.loops[len(w.loops)-1])
	}
	return nil
}

// Exit is called after them.
func (w *loopWalk) Exit(node hclsyntax.Node) hcl.Diagnostics {
	switch node.(type) {
	case *hclsyntax.ForExpr:
		w.loops = w.loops[:len(w.loops)-1]
	case hclsyntax.ChildScope:
		w.within = w.within[:len(w.within)-1]
	}
	return nil
}

// countKeys counts the rows that a loop leaves out in each of its passes within others: one that another pass takes is not left out.
func (l *leaving) countKeys(a *eval.Argument, loop *hclsyntax.ForExpr, within []*hclsyntax.ForExpr) {
	d, ctx, ok := l.rowsOf(a, loop)
	if !ok {
		return
	}
	taken := map[string]bool{} // by the key of each row
	isWhole := l.passes(append(within[:len(within):len(within)], loop), a.Refs, ctx, func(_ *hcl.EvalContext, key cty.Value, isIn bool) bool {
		text, ok := keyOf(key)
		taken[text] = taken[text] || isIn
		return ok
	})
	if !isWhole {
		return
	}
	left := ReadWarning{File: d.file.Name, Sheet: d.sheet, Name: LeftOutByIf, Of: len(taken)}
	for _, isIn := range taken {
		if !isIn {
			left.Count++
		}
	}
	l.leftOut = append(l.leftOut, leftOut{d, loop, left})
}

// passes goes through the passes of the last of loops, each within the passes of the one before, and tells what the body is evaluated in,
// the key of the element and whether the condition lets it in. It is false where that has no value, or told wants no more.
func (l *leaving) passes(loops []*hclsyntax.ForExpr, refs *eval.References, ctx *hcl.EvalContext, told func(inner *hcl.EvalContext, key cty.Value, isIn bool) bool) bool {
	loop := loops[0]
	of, ok := l.collection(loop.CollExpr, refs, ctx)
	if !ok {
		return false
	}
	for it := of.ElementIterator(); it.Next(); {
		key, value := it.Element()
		inner := ctx.NewChild()
		inner.Variables = map[string]cty.Value{loop.ValVar: value}
		if loop.KeyVar != "" {
			inner.Variables[loop.KeyVar] = key
		}
		isIn := true
		if loop.CondExpr != nil {
			if isIn, ok = l.isTrue(loop.CondExpr, refs, inner); !ok {
				return false
			}
		}
		switch {
		case len(loops) == 1:
			ok = told(inner, key, isIn)
		case isIn:
			ok = l.passes(loops[1:], refs, inner, told)
		}
		if !ok {
			return false
		}
	}
	return true
}

// isTrue evaluates a condition; ok is false where it is neither true nor false.
func (l *leaving) isTrue(condition hclsyntax.Expression, refs *eval.References, ctx *hcl.EvalContext) (is, ok bool) {
	value, diags := l.scope.Evaluate(condition, refs, ctx)
	value, _ = value.Unmark()
	if diags.HasErrors() || !value.IsKnown() || value.IsNull() || value.Type() != cty.Bool {
		return false, false
	}
	return value.True(), true
}

// keyOf is a key of a map or an index of a list as text.
func keyOf(key cty.Value) (text string, ok bool) {
	switch key.Type() {
	case cty.String:
		return key.AsString(), true
	case cty.Number:
		return key.AsBigFloat().String(), true
	}
	return "", false
}
