package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/functions"
	"remit/config/syntax"
)

// call is what a function makes of its arguments.
func (p *positions) call(e *hclsyntax.FunctionCallExpr, names loopNames) shape {
	args := make([]shape, len(e.Args))
	for i, arg := range e.Args {
		args[i] = p.value(arg, names)
	}
	if e.ExpandFinal && len(args) > 0 {
		args[len(args)-1] = args[len(args)-1].each()
	}
	if len(args) == 0 {
		return shape{}
	}
	switch e.Name {
	case "try", "coalesce", "coalescelist":
		return join(args...)
	case "tomap":
		return args[0]
	case "merge":
		return merged(e, args)
	case "one":
		return args[0].each()
	case "lookup", "element", "zipmap", "index", "length":
		if len(args) > 1 || e.Name == "length" {
			return p.callOnRows(e, args, names)
		}
	case "keys":
		return listOf(shape{counted: args[0].keys, kind: kindText})
	case "transpose":
		return shape{kind: kindMap, keys: text(args[0].each()).counted, element: new(listOf(shape{counted: args[0].keys, kind: kindText}))}
	}
	if made, ok := p.list(e, args); ok {
		return made
	}
	made := text(args...)
	made.kind = 0
	return made
}

// list is the list or the set that a function makes; false for a function of another kind.
func (p *positions) list(e *hclsyntax.FunctionCallExpr, args []shape) (shape, bool) {
	elements := make([]shape, len(args))
	for i, arg := range args {
		elements[i] = arg.each()
	}
	set := func(element shape) shape { return shape{kind: kindSet, element: &element} }
	switch e.Name {
	case "range":
		return listOf(shape{counted: counted{counts: true, byLength: slices.ContainsFunc(e.Args, p.hasLength)}, kind: kindText}), true
	case "values", "tolist", "distinct", "reverse", "sort", "compact", "matchkeys":
		return listOf(elements[0]), true
	case "slice":
		elements[0].is = elements[0].is || text(args[1:]...).is
		return listOf(elements[0]), true
	case "concat":
		return listOf(join(elements...)), true
	case "flatten":
		return listOf(elements[0].flattened()), true
	case "chunklist":
		return listOf(listOf(elements[0])), true
	case "toset", "setsubtract":
		return set(elements[0]), true
	case "setunion", "setintersection":
		return set(join(elements...)), true
	case "setproduct":
		one := shape{kind: kindList, parts: map[string]shape{}}
		for i, element := range elements {
			key, _ := keyOf(number(i))
			one.parts[key] = element
		}
		if e.ExpandFinal {
			one = listOf(join(elements...))
		}
		return listOf(one), true
	case "split", "regexall", "formatlist", "allocate", "fileset", "csvdecode":
		of := text(args...)
		of.kind = 0
		return listOf(of), true
	}
	return shape{}, false
}

// callOnRows is what those functions make for which it matters whether a list is one of rows.
func (p *positions) callOnRows(e *hclsyntax.FunctionCallExpr, args []shape, names loopNames) shape {
	switch e.Name {
	case "lookup":
		key, isKnown := literalText(e.Args[1])
		made := args[0].at(key, isKnown)
		if len(args) > 2 {
			made = made.or(args[2])
		}
		made.is = made.is || args[1].is
		return made
	case "element":
		made := args[0].each()
		made.is = made.is || args[1].is
		return made
	case "index":
		return shape{counted: counted{is: p.isOfRows(e.Args[0]) || args[1].is}, kind: kindText}
	case "length":
		return shape{counted: counted{is: p.areRowsBeside(e.Args[0], names)}, kind: kindText}
	}
	keys, element := args[0].each().anywhere(), args[1].each() // of zipmap
	keys.is = keys.is || p.isOfRows(e.Args[1]) && (keys.counts || !p.isOfRows(e.Args[0]))
	return shape{kind: kindMap, keys: keys, element: &element}
}

// areRowsBeside reports whether an expression is a collection of rows that hangs on the row at hand: those of its group, or those that a
// condition compares with it. Their number changes when a row is added.
func (p *positions) areRowsBeside(expr hclsyntax.Expression, names loopNames) bool {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ForExpr:
		isBeside := e.CondExpr != nil && slices.ContainsFunc(e.CondExpr.Variables(), names.has)
		return isBeside && p.isOfRows(e.CollExpr) || p.areRowsBeside(e.CollExpr, names)
	case *hclsyntax.SplatExpr:
		return p.areRowsBeside(e.Source, names)
	case *hclsyntax.FunctionCallExpr:
		switch e.Name {
		case "values", "keys", "tolist", "toset", "distinct", "reverse", "sort", "compact", "flatten", "concat":
			return slices.ContainsFunc(e.Args, func(arg hclsyntax.Expression) bool { return p.areRowsBeside(arg, names) })
		}
	case *hclsyntax.ScopeTraversalExpr:
		return names.has(e.Traversal) && p.value(e, names).kind&(kindList|kindMap|kindSet) != 0
	case *hclsyntax.IndexExpr:
		return slices.ContainsFunc(e.Key.Variables(), names.has) && p.isOfRows(e.Collection) &&
			p.value(e, names).kind&(kindList|kindMap|kindSet) != 0
	}
	return false
}

// merged is one map of several. Its part of a name is that of the last one where it is written there.
func merged(e *hclsyntax.FunctionCallExpr, args []shape) shape {
	made := args[0]
	for i, arg := range args[1:] {
		object, isWritten := syntax.Unwrap(e.Args[i+1]).(*hclsyntax.ObjectConsExpr)
		made = made.or(arg)
		if !isWritten {
			continue
		}
		for _, item := range object.Items {
			if name, ok := syntax.LiteralKey(item.KeyExpr); ok {
				made.parts[name] = arg.parts[name]
			}
		}
	}
	made.kind = kindMap
	return made
}

// areParts reports whether an expression is a list of parts, one for each weight that its author wrote. Their number is fixed: a
// weight more changes all amounts.
func (p *positions) areParts(expr hclsyntax.Expression) bool {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ScopeTraversalExpr:
		local := localNamed(p.scope, e.Traversal)
		if local == nil || p.open[local] {
			return false
		}
		p.open[local] = true
		defer delete(p.open, local)
		return p.areParts(local.Expr)
	case *hclsyntax.FunctionCallExpr:
		return e.Name == "allocate" && len(e.Args) > 1 && !p.isOfRows(e.Args[1])
	}
	return false
}

// hasLength reports whether an expression, or a local in it, counts a collection.
func (p *positions) hasLength(expr hclsyntax.Expression) bool {
	return p.contains(expr, func(node hclsyntax.Node) bool {
		call, ok := node.(*hclsyntax.FunctionCallExpr)
		return ok && call.Name == "length"
	})
}

// isOfRows reports whether the order of a list is that of rows, which somebody may put another one above: rows of a data source, of a
// file or of a variable. That of a list whose elements are written is its author's, and so is that of parts that are allocated to it.
func (p *positions) isOfRows(expr hclsyntax.Expression) bool {
	oneOf := func(exprs ...hclsyntax.Expression) bool { return slices.ContainsFunc(exprs, p.isOfRows) }
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if local := localNamed(p.scope, e.Traversal[:min(2, len(e.Traversal))]); local != nil {
			if p.open[local] {
				return false
			}
			p.open[local] = true
			defer delete(p.open, local)
			return p.isOfRows(local.Expr)
		}
		return true
	case *hclsyntax.FunctionCallExpr:
		switch {
		case functions.ReadsFiles(e.Name):
			return true
		case e.Name == "range":
			return false
		case e.Name == "allocate" && len(e.Args) > 1:
			return oneOf(e.Args[1])
		}
		return oneOf(e.Args...)
	case *hclsyntax.ForExpr:
		return oneOf(e.CollExpr)
	case *hclsyntax.SplatExpr:
		return oneOf(e.Source)
	case *hclsyntax.ConditionalExpr:
		return oneOf(e.TrueResult, e.FalseResult)
	case *hclsyntax.IndexExpr:
		return oneOf(e.Collection)
	case *hclsyntax.RelativeTraversalExpr:
		return oneOf(e.Source)
	}
	return false
}
