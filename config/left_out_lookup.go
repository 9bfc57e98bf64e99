package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/syntax"
)

// lookedUp are the rows of a data source of which a loop takes those that have its own keys, such as corrections of other rows.
type lookedUp struct {
	of    *dataSource
	keys  []string        // of all rows
	taken map[string]bool // those that the loop has
}

// rowsRead says how a for_each comes to rows of data sources.
type rowsRead struct {
	leftOut  []leftOut // by conditions
	lookedUp []lookedUp
	walked   []*dataSource // to which it comes otherwise than by a look at rows of a loop's own keys
}

// lookUps finds them in an argument.
func (l *leaving) lookUps(a *eval.Argument) {
	for loop, within := range loopsIn(a.Expr) {
		for _, list := range taken(loop) {
			of := l.sourceOf(a.Refs, list.Variables())
			ctx, ok, _ := l.scope.Context(a.Refs)
			if of == nil || !ok {
				continue
			}
			rows, ok := l.collection(list, a.Refs, ctx)
			if !ok {
				continue
			}
			up := lookedUp{of: of, taken: map[string]bool{}}
			for it := rows.ElementIterator(); it.Next(); {
				k, _ := it.Element()
				key, _ := keyOf(k)
				up.keys = append(up.keys, key)
			}
			isWhole := l.passes(append(within[:len(within):len(within)], loop), a.Refs, ctx, func(_ *hcl.EvalContext, k cty.Value, isIn bool) bool {
				key, ok := keyOf(k)
				up.taken[key] = up.taken[key] || isIn
				return ok
			})
			if isWhole {
				l.lookedUp = append(l.lookedUp, up)
			}
		}
	}
}

// taken are the maps of which a loop takes the element of its own key.
func taken(loop *hclsyntax.ForExpr) []hclsyntax.Expression {
	var all []hclsyntax.Expression
	isKey := func(expr hclsyntax.Expression) bool {
		path := syntax.Traversal(expr)
		return len(path) == 1 && loop.KeyVar != "" && path.RootName() == loop.KeyVar
	}
	_ = hclsyntax.VisitAll(loop.ValExpr, func(node hclsyntax.Node) hcl.Diagnostics {
		switch e := node.(type) {
		case *hclsyntax.FunctionCallExpr:
			if e.Name == "lookup" && len(e.Args) > 1 && isKey(e.Args[1]) {
				all = append(all, e.Args[0])
			}
		case *hclsyntax.IndexExpr:
			if isKey(e.Key) {
				all = append(all, e.Collection)
			}
		}
		return nil
	})
	return all
}

// otherwise notes the data sources to which an argument leads otherwise than by a look at rows of its own keys.
func (l *leaving) otherwise(a *eval.Argument, seen map[*eval.Argument]bool) {
	if seen[a] || a.Refs == nil {
		return
	}
	seen[a] = true
	skipped := map[hclsyntax.Expression]bool{}
	for loop := range loopsIn(a.Expr) {
		for _, list := range taken(loop) {
			skipped[list] = true
		}
	}
	_ = hclsyntax.Walk(a.Expr, &otherwiseWalk{skipped: skipped, found: func(path hcl.Traversal) {
		for _, n := range a.Refs.Nodes {
			if n.Root != path.RootName() || !isNamed(path, n.Name) {
				continue
			}
			if d := l.data[n]; d != nil {
				l.walked = append(l.walked, d)
			}
			if n.Root == "local" {
				for _, inner := range n.Arguments {
					l.otherwise(inner, seen)
				}
			}
		}
	}})
}

// otherwiseWalk goes through an expression without some of its nodes, and without what a call of can tries.
type otherwiseWalk struct {
	skipped map[hclsyntax.Expression]bool
	depth   int // of skipped nodes
	found   func(hcl.Traversal)
}

func (w *otherwiseWalk) skips(node hclsyntax.Node) bool {
	expr, ok := node.(hclsyntax.Expression)
	if !ok {
		return false
	}
	call, isCall := expr.(*hclsyntax.FunctionCallExpr)
	return w.skipped[expr] || isCall && call.Name == "can"
}

// Enter is called before the nodes below a node.
func (w *otherwiseWalk) Enter(node hclsyntax.Node) hcl.Diagnostics {
	if w.skips(node) {
		w.depth++
	}
	if e, ok := node.(*hclsyntax.ScopeTraversalExpr); ok && w.depth == 0 {
		w.found(e.Traversal)
	}
	return nil
}

// Exit is called after them.
func (w *otherwiseWalk) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if w.skips(node) {
		w.depth--
	}
	return nil
}

// leftOutByLookUp counts the rows of a data source that loops look up by their own keys, and that none of them has: nobody is paid for
// them. There are none where a transfer has its elements of the rows otherwise.
func leftOutByLookUp(d *dataSource, reads []rowsRead) ReadWarning {
	left := ReadWarning{File: d.file.Name, Sheet: d.sheet, Name: LeftOutByLookUp}
	taken, all := map[string]bool{}, map[string]bool{}
	for _, read := range reads {
		if slices.Contains(read.walked, d) {
			return left
		}
		for _, up := range read.lookedUp {
			if up.of != d {
				continue
			}
			for _, key := range up.keys {
				all[key], taken[key] = true, taken[key] || up.taken[key]
			}
		}
	}
	left.Of = len(all)
	for key := range all {
		if !taken[key] {
			left.Count++
		}
	}
	return left
}
