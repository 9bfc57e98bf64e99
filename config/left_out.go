package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/meter"
)

// leftOut counts the rows of a data source that the condition of a for expression leaves out.
type leftOut struct {
	of      *dataSource
	loop    *hclsyntax.ForExpr // several for_each may go through the value of one local
	counted ReadWarning
}

// leaving finds the for expressions that leave out rows on their way to one for_each.
type leaving struct {
	scope *eval.Scope
	data  map[*eval.Node]*dataSource
	seen  map[*eval.Argument]bool
	rowsRead
}

// rowsReadBy counts the rows that conditions leave out on their way to a for_each, which made so many elements: conditions of its
// own for expressions, and of those in the locals that it names. It finds those that its loops look up as well.
func rowsReadBy(s *eval.Scope, data map[*eval.Node]*dataSource, forEach *eval.Argument, made int) rowsRead {
	l := &leaving{scope: s, data: data, seen: map[*eval.Argument]bool{}}
	s.Meter.Aside(func() { l.look(forEach, made) })
	l.otherwise(forEach, map[*eval.Argument]bool{})
	return l.rowsRead
}

// look counts in an argument, whose value has so many elements; -1 for a value that is none of a loop.
func (l *leaving) look(a *eval.Argument, made int) {
	if l.seen[a] || a.Refs == nil {
		return
	}
	l.seen[a] = true
	l.lookUps(a)
	whole := meter.Inner(a.Expr)
	for loop, within := range loopsIn(a.Expr) {
		switch {
		case loop.CondExpr == nil:
		case len(within) > 0 || loop.Group:
			l.countKeys(a, loop, within)
		case loop == whole:
			l.count(a, loop, made)
		default:
			l.count(a, loop, -1)
		}
	}
	for _, n := range a.Refs.Nodes {
		if n.Root != "local" || n.Progress != eval.Known {
			continue
		}
		made := -1
		if v, _ := n.Value.Unmark(); v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
			made = v.LengthInt()
		}
		for _, inner := range n.Arguments {
			l.look(inner, made)
		}
	}
}

// count counts in one loop, which made so many elements; -1 where that is not known.
func (l *leaving) count(a *eval.Argument, loop *hclsyntax.ForExpr, made int) {
	d, ctx, ok := l.rowsOf(a, loop)
	if !ok {
		return
	}
	of, ok := l.elements(loop.CollExpr, a.Refs, ctx)
	if !ok {
		return
	}
	if made < 0 {
		if made, ok = l.elements(loop, a.Refs, ctx); !ok {
			return
		}
	}
	l.leftOut = append(l.leftOut, leftOut{d, loop, ReadWarning{File: d.file.Name, Sheet: d.sheet, Name: LeftOutByIf, Of: of, Count: of - made}})
}

// rowsOf is the data source whose rows a loop goes through, and what the loop is evaluated in; false where one of them is not known.
func (l *leaving) rowsOf(a *eval.Argument, loop *hclsyntax.ForExpr) (*dataSource, *hcl.EvalContext, bool) {
	d := l.sourceOf(a.Refs, loop.CollExpr.Variables())
	if d == nil {
		return nil, nil, false
	}
	ctx, ok, _ := l.scope.Context(a.Refs) // its mistakes were told when the whole was evaluated
	return d, ctx, ok
}

// elements is how many elements an expression has.
func (l *leaving) elements(expr hclsyntax.Expression, refs *eval.References, ctx *hcl.EvalContext) (int, bool) {
	value, ok := l.collection(expr, refs, ctx)
	if !ok {
		return 0, false
	}
	return value.LengthInt(), true
}

// collection is the value of an expression that has elements.
func (l *leaving) collection(expr hclsyntax.Expression, refs *eval.References, ctx *hcl.EvalContext) (cty.Value, bool) {
	value, diags := l.scope.Evaluate(expr, refs, ctx)
	value, _ = value.Unmark()
	return value, !diags.HasErrors() && value.IsKnown() && !value.IsNull() && value.CanIterateElements()
}

// sourceOf is the one data source whose rows references lead to, by way of locals as well; nil for none, or several.
func (l *leaving) sourceOf(refs *eval.References, named []hcl.Traversal) *dataSource {
	if len(named) != 1 {
		return nil
	}
	if of := l.sourcesOf(refs, named); len(of) == 1 {
		return of[0]
	}
	return nil
}

// sourcesOf are the data sources that references lead to, by way of locals as well.
func (l *leaving) sourcesOf(refs *eval.References, named []hcl.Traversal) []*dataSource {
	var of []*dataSource
	for _, t := range named {
		for _, n := range refs.Nodes {
			if n.Root == t.RootName() && isNamed(t, n.Name) {
				of = append(of, l.under(n, map[*eval.Node]bool{})...)
			}
		}
	}
	slices.SortFunc(of, func(a, b *dataSource) int { return a.block.At.Start.Byte - b.block.At.Start.Byte })
	return slices.Compact(of)
}

// isNamed reports whether a reference begins with a name: NAME of a local, TYPE.NAME of a data source.
func isNamed(t hcl.Traversal, name string) bool {
	for _, word := range strings.Split(name, ".") {
		t = t[1:]
		if len(t) == 0 {
			return false
		}
		if attr, ok := t[0].(hcl.TraverseAttr); !ok || attr.Name != word {
			return false
		}
	}
	return true
}

// under are the data sources below a node.
func (l *leaving) under(n *eval.Node, seen map[*eval.Node]bool) []*dataSource {
	if seen[n] {
		return nil
	}
	seen[n] = true
	if d := l.data[n]; d != nil {
		return []*dataSource{d}
	}
	var of []*dataSource
	if n.Root != "local" {
		return nil
	}
	for _, a := range n.Arguments {
		if a.Refs == nil {
			continue
		}
		for _, inner := range a.Refs.Nodes {
			of = append(of, l.under(inner, seen)...)
		}
	}
	return of
}

// sourcesUnder are the data sources to which references lead, by way of locals as well.
func sourcesUnder(data map[*eval.Node]*dataSource, refs *eval.References) []*dataSource {
	l, seen := &leaving{data: data}, map[*eval.Node]bool{}
	var of []*dataSource
	if refs == nil {
		return nil
	}
	for _, n := range refs.Nodes {
		of = append(of, l.under(n, seen)...)
	}
	return of
}
