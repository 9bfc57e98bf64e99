package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/syntax"
)

// elementWalk goes from an expression to all those that decide which elements it has, by way of locals as well. It goes each way once.
type elementWalk struct {
	*leaving
	went map[wayPoint]bool
	// meet is called for each expression on the way, before those that it is made of.
	meet func(expr hclsyntax.Expression, at spot, path []string)
}

// wayPoint is an expression, and which part of its value becomes the elements.
type wayPoint struct {
	expr hclsyntax.Expression
	path string
}

// spot is where an expression stands.
type spot struct {
	refs   *eval.References
	within *enclosing
}

// enclosing is a loop around an expression that sees its elements, and those around the loop.
type enclosing struct {
	loop  *hclsyntax.ForExpr
	outer *enclosing
}

// anyKey is a step of a path that leads to each element. A key of that name is taken for it as well, which finds no less.
const anyKey = "*"

func newElementWalk(s *eval.Scope, data map[*eval.Node]*dataSource, meet func(expr hclsyntax.Expression, at spot, path []string)) *elementWalk {
	return &elementWalk{
		leaving: &leaving{scope: s, data: data, seen: map[*eval.Argument]bool{}},
		went:    map[wayPoint]bool{}, meet: meet,
	}
}

// elements goes from an expression to those that its elements are made of: the elements at the end of the path, each step of which is a
// key of the value before.
func (w *elementWalk) elements(expr hclsyntax.Expression, at spot, path []string) {
	expr = syntax.Unwrap(expr)
	point := wayPoint{expr, strings.Join(path, "\x00")}
	if w.went[point] || at.refs == nil {
		return
	}
	w.went[point] = true
	w.meet(expr, at, path)
	switch e := expr.(type) {
	case *hclsyntax.FunctionCallExpr:
		w.call(e, at, path)
	case *hclsyntax.ForExpr:
		w.loop(e, at, path)
	case *hclsyntax.ConditionalExpr:
		w.either(e, at, path)
	case *hclsyntax.ScopeTraversalExpr:
		w.named(e.Traversal, at, path)
	case *hclsyntax.RelativeTraversalExpr:
		w.elements(e.Source, at, append(stepsOf(e.Traversal), path...))
	case *hclsyntax.IndexExpr:
		w.elements(e.Collection, at, after(literalStep(e.Key), path))
	case *hclsyntax.SplatExpr:
		w.elements(e.Source, at, nil)
	case *hclsyntax.TupleConsExpr:
		for _, item := range e.Exprs {
			if len(path) > 0 {
				w.elements(item, at, path[1:])
			}
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if key, isLiteral := syntax.LiteralKey(item.KeyExpr); len(path) > 0 && (!isLiteral || path[0] == anyKey || path[0] == key) {
				w.elements(item.ValueExpr, at, path[1:])
			}
		}
	}
}

// call goes on to the arguments of which a function makes its elements.
func (w *elementWalk) call(e *hclsyntax.FunctionCallExpr, at spot, path []string) {
	for i, arg := range e.Args {
		of := path
		switch e.Name {
		case "lookup":
			if i == 0 && len(e.Args) > 1 {
				of = after(literalStep(e.Args[1]), path)
			}
		case "element", "one":
			of = after(anyKey, path)
		case "flatten":
			w.elements(arg, at, path)
			of = after(anyKey, path)
		case "chunklist":
			of = path[min(1, len(path)):]
		case "keys":
			of = nil
		case "matchkeys", "setsubtract":
			if i > 0 {
				return
			}
		}
		if e.ExpandFinal && i == len(e.Args)-1 {
			of = after(anyKey, of)
		}
		w.elements(arg, at, of)
	}
}

// loop goes on to the collection of a loop, which makes its elements, and to its body, which makes their parts.
func (w *elementWalk) loop(e *hclsyntax.ForExpr, at spot, path []string) {
	if len(path) == 0 || path[0] == anyKey || e.Group {
		w.elements(e.CollExpr, at, nil)
	}
	levels := 1
	if e.Group {
		levels = 2
	}
	if len(path) >= levels {
		w.elements(e.ValExpr, spot{at.refs, &enclosing{e, at.within}}, path[levels:])
	}
}

// either goes on to the side that a conditional takes, or to both within a loop.
func (w *elementWalk) either(e *hclsyntax.ConditionalExpr, at spot, path []string) {
	sides := []hclsyntax.Expression{e.TrueResult, e.FalseResult}
	if ctx, ok, _ := w.scope.Context(at.refs); ok && at.within == nil {
		if is, ok := w.isTrue(e.Condition, at.refs, ctx); ok && is {
			sides = sides[:1]
		} else if ok {
			sides = sides[1:]
		}
	}
	for _, side := range sides {
		w.elements(side, at, path)
	}
}

// named goes on to what a local says, or to the collection of which a loop has an element.
func (w *elementWalk) named(t hcl.Traversal, at spot, path []string) {
	for in := at.within; in != nil; in = in.outer {
		switch t.RootName() {
		case in.loop.ValVar:
			w.elements(in.loop.CollExpr, spot{at.refs, in.outer}, after(anyKey, append(stepsOf(t[1:]), path...)))
			return
		case in.loop.KeyVar:
			return
		}
	}
	for _, n := range at.refs.Nodes {
		if n.Root != "local" || t.RootName() != "local" || n.Progress != eval.Known || !isNamed(t, n.Name) {
			continue
		}
		for _, a := range n.Arguments {
			w.elements(a.Expr, spot{refs: a.Refs}, append(stepsOf(t[2:]), path...))
		}
	}
}

// after is a path behind a step.
func after(step string, path []string) []string { return append([]string{step}, path...) }

// stepsOf are the keys that a traversal takes.
func stepsOf(t hcl.Traversal) []string {
	steps := make([]string, len(t))
	for i, step := range t {
		steps[i] = anyKey
		if name, ok := eval.StepName(step, true); ok {
			steps[i] = name
		}
	}
	return steps
}

// literalStep is a key as it is written.
func literalStep(key hclsyntax.Expression) string {
	if text, ok := literalText(key); ok {
		return text
	}
	return anyKey
}
