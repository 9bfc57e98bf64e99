package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/functions"
	"remit/config/syntax"
)

// countsRows is which part of each a ref_id has that is made by counting a list, such as each.key; "" for none. arguments are those of the
// transfer block, which are evaluated in ctx, and isSet says that the elements of for_each are their own keys.
func countsRows(s *eval.Scope, forEach *eval.Argument, refID hclsyntax.Expression, isSet bool, arguments []*eval.Argument, ctx *hcl.EvalContext) string {
	p := &positions{scope: s, refs: forEach.Refs, open: map[*eval.Argument]bool{}}
	around, ok, _ := s.Context(forEach.Refs)
	if !ok {
		return ""
	}
	made := p.collection(forEach.Expr, loopNames{ctx: around})
	if isSet {
		made.keys = made.keys.with(made.element)
	}
	if made.keys.counts && p.areIndexing(arguments, made.keys.byLength, ctx) {
		made.keys.is = true
	}
	for _, path := range refID.Variables() {
		if path.RootName() != "each" || len(path) < 2 {
			continue
		}
		switch name, _ := eval.StepName(path[1], true); {
		case name == "key" && made.keys.is:
			return "each.key"
		case name == "value" && isSet && made.keys.is:
			return "each.value"
		case name == "value":
			if c := made.element.at(path[2:]); c.anywhere() {
				return pathOfEach(path)
			}
		}
	}
	return ""
}

// positions finds which parts of a for_each are made by counting a list.
type positions struct {
	scope *eval.Scope
	refs  *eval.References // of the argument that is looked into
	open  map[*eval.Argument]bool
}

// counted says which parts of a value, or of each element of a collection, are made by counting.
type counted struct {
	is      bool            // all of it
	columns map[string]bool // its attributes
	// counts says that it is an element of range, which is a position where a list is indexed by it, and byLength that the
	// range ends with the length of something.
	counts, byLength bool
}

// countedElements are a collection.
type countedElements struct {
	element counted
	keys    counted
}

func (c counted) with(other counted) counted {
	columns := maps.Clone(c.columns)
	if columns == nil {
		columns = map[string]bool{}
	}
	maps.Copy(columns, other.columns)
	return counted{c.is || other.is, columns, c.counts || other.counts, c.byLength || other.byLength}
}

// at is what steps lead to: an index leads to an element of a list, of which the same is said.
func (c counted) at(steps hcl.Traversal) counted {
	for _, step := range steps {
		if column, isName := eval.StepName(step, true); isName {
			return counted{is: c.is || c.columns[column]}
		}
	}
	return c
}

// anywhere reports whether any part of it is made by counting.
func (c counted) anywhere() bool { return c.is || len(c.columns) > 0 }

func (c countedElements) with(other countedElements) countedElements {
	return countedElements{c.element.with(other.element), c.keys.with(other.keys)}
}

// loopNames are the names that for expressions give their elements.
type loopNames struct {
	counted map[string]counted
	ctx     *hcl.EvalContext // with the first element of each loop; nil where there is none
}

// pathOfEach is a reference to a part of each.value, without the steps behind its column.
func pathOfEach(path hcl.Traversal) string {
	for _, step := range path[2:] {
		if column, isName := eval.StepName(step, true); isName {
			return "each.value." + column
		}
	}
	return "each.value"
}

// areIndexing reports whether one of the arguments takes a row of a list by each.key.
func (p *positions) areIndexing(arguments []*eval.Argument, byLength bool, ctx *hcl.EvalContext) bool {
	return slices.ContainsFunc(arguments, func(a *eval.Argument) bool {
		inner := &positions{p.scope, a.Refs, map[*eval.Argument]bool{}}
		return inner.indexes(a.Expr, "each", byLength, loopNames{ctx: ctx})
	})
}

// collection is what a collection has, which an expression is.
func (p *positions) collection(expr hclsyntax.Expression, names loopNames) countedElements {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ForExpr:
		return p.loop(e, names)
	case *hclsyntax.FunctionCallExpr:
		return p.call(e, names)
	case *hclsyntax.ConditionalExpr:
		return p.collection(e.TrueResult, names).with(p.collection(e.FalseResult, names))
	case *hclsyntax.SplatExpr:
		all := p.collection(e.Source, names)
		if column, ok := columnOfSplat(e); ok {
			all.element = counted{is: all.element.is || all.element.columns[column]}
		}
		return countedElements{element: all.element}
	case *hclsyntax.TupleConsExpr:
		var all countedElements
		for _, item := range e.Exprs {
			all.element = all.element.with(p.value(item, names))
		}
		return all
	case *hclsyntax.ObjectConsExpr:
		var all countedElements
		for _, item := range e.Items {
			all.element = all.element.with(p.value(item.ValueExpr, names))
			all.keys = all.keys.with(p.value(item.KeyExpr, names))
		}
		return all
	case *hclsyntax.ScopeTraversalExpr:
		if c, ok := names.counted[e.Traversal.RootName()]; ok {
			return countedElements{element: c}
		}
		local := localNamed(p.scope, e.Traversal)
		if local == nil || local.Refs == nil || p.open[local] {
			break
		}
		p.open[local] = true
		defer delete(p.open, local)
		if ctx, ok, _ := p.scope.Context(local.Refs); ok {
			inner := &positions{p.scope, local.Refs, p.open}
			return inner.collection(local.Expr, loopNames{ctx: ctx})
		}
	}
	return countedElements{}
}

// call is what a function makes of collections.
func (p *positions) call(e *hclsyntax.FunctionCallExpr, names loopNames) countedElements {
	var all countedElements
	for _, arg := range e.Args {
		all = all.with(p.collection(arg, names))
	}
	switch {
	case e.Name == "range":
		return countedElements{element: counted{counts: true, byLength: slices.ContainsFunc(e.Args, p.hasLength)}}
	case e.Name == "keys":
		all.element = all.keys
	case e.Name == "zipmap" && len(e.Args) == 2:
		keys, values := p.collection(e.Args[0], names), p.collection(e.Args[1], names)
		keys.element.is = keys.element.is || p.isOfRows(e.Args[1]) && (keys.element.counts || !p.isOfRows(e.Args[0]))
		return countedElements{element: values.element, keys: keys.element}
	}
	return all
}

// hasLength reports whether an expression, or a local in it, counts a collection.
func (p *positions) hasLength(expr hclsyntax.Expression) bool {
	return p.contains(expr, func(node hclsyntax.Node) bool {
		call, ok := node.(*hclsyntax.FunctionCallExpr)
		return ok && call.Name == "length"
	})
}

// contains reports whether an expression, or a local that it names, has a part.
func (p *positions) contains(expr hclsyntax.Expression, is func(hclsyntax.Node) bool) bool {
	return hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		found := is(node)
		if reference, ok := node.(*hclsyntax.ScopeTraversalExpr); ok && !found {
			if local := localNamed(p.scope, reference.Traversal); local != nil && !p.open[local] {
				p.open[local] = true
				found = p.contains(local.Expr, is)
				delete(p.open, local)
			}
		}
		if found {
			return hcl.Diagnostics{&hcl.Diagnostic{Severity: hcl.DiagError}}
		}
		return nil
	}).HasErrors()
}

// loop is what a for expression makes.
func (p *positions) loop(e *hclsyntax.ForExpr, names loopNames) countedElements {
	of := p.collection(e.CollExpr, names)
	inner := loopNames{counted: maps.Clone(names.counted)}
	if inner.counted == nil {
		inner.counted = map[string]counted{}
	}
	element, key := of.element, of.keys
	if element.counts && p.indexesIn(e, e.ValVar, element.byLength, names) {
		element.is = true
	}
	isList := false
	if p.hangsOnKind(e) {
		var ty cty.Type
		ty, inner.ctx = p.enter(e, names)
		isList = ty.IsTupleType() || ty.IsListType()
		switch {
		case isList:
			key = counted{is: true}
		case ty.IsSetType():
			key = element
		}
	}
	inner.counted[e.ValVar] = element
	if e.KeyVar != "" {
		inner.counted[e.KeyVar] = key
	}
	made := countedElements{element: p.value(e.ValExpr, inner)}
	if e.KeyExpr != nil {
		made.keys = p.value(e.KeyExpr, inner)
		made.keys.is = made.keys.is || isList && names.isIn(e.KeyExpr, e.KeyVar)
	}
	return made
}

// isIn reports whether an expression has a name.
func (loopNames) isIn(expr hclsyntax.Expression, name string) bool {
	return expr != nil && name != "" && slices.ContainsFunc(expr.Variables(), func(path hcl.Traversal) bool { return path.RootName() == name })
}

// hangsOnKind reports whether it matters for a loop whether its collection is a list, or for one within it.
func (p *positions) hangsOnKind(e *hclsyntax.ForExpr) bool {
	var names loopNames
	if names.isIn(e.KeyExpr, e.KeyVar) || names.isIn(e.ValExpr, e.KeyVar) {
		return true
	}
	for loop := range loopsIn(e.ValExpr) {
		if loop.KeyVar != "" {
			return true
		}
	}
	return false
}

// enter is the type of a loop's collection, and what its body is evaluated in for the first element; that of an empty object, and nil, where there is none.
func (p *positions) enter(e *hclsyntax.ForExpr, names loopNames) (cty.Type, *hcl.EvalContext) {
	value := p.evaluated(e.CollExpr, names)
	if value == cty.NilVal || value.LengthInt() == 0 {
		return cty.EmptyObject, nil
	}
	it := value.ElementIterator()
	it.Next()
	k, v := it.Element()
	ctx := names.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{e.ValVar: v}
	if e.KeyVar != "" {
		ctx.Variables[e.KeyVar] = k
	}
	return value.Type(), ctx
}

// evaluated is a collection; NilVal where it has no value.
func (p *positions) evaluated(expr hclsyntax.Expression, names loopNames) cty.Value {
	if names.ctx == nil {
		return cty.NilVal
	}
	value, diags := p.scope.Evaluate(expr, p.refs, names.ctx)
	value, _ = value.Unmark()
	if diags.HasErrors() || !value.IsKnown() || value.IsNull() || !value.CanIterateElements() {
		return cty.NilVal
	}
	return value
}

// indexesIn reports whether a part of a loop that sees its elements takes one of a list by a name.
func (p *positions) indexesIn(e *hclsyntax.ForExpr, name string, byLength bool, names loopNames) bool {
	for _, part := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if part != nil && p.indexes(part, name, byLength, names) {
			return true
		}
	}
	return false
}

// indexes reports whether an expression takes an element of a list by a variable: of rows, or of any list where the
// range ends with a length.
func (p *positions) indexes(expr hclsyntax.Expression, name string, byLength bool, names loopNames) bool {
	return hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		var list, key hclsyntax.Expression
		switch e := node.(type) {
		case *hclsyntax.IndexExpr:
			list, key = e.Collection, e.Key
		case *hclsyntax.FunctionCallExpr:
			if (e.Name == "element" || e.Name == "slice") && len(e.Args) > 1 {
				list, key = e.Args[0], e.Args[1]
			}
		}
		if list == nil || !names.isIn(key, name) || !byLength && !p.isOfRows(list) {
			return nil
		}
		if value := p.evaluated(list, names); value == cty.NilVal || value.Type().IsTupleType() || value.Type().IsListType() {
			return hcl.Diagnostics{&hcl.Diagnostic{Severity: hcl.DiagError}}
		}
		return nil
	}).HasErrors()
}

// value is what an expression makes of the names of loops.
func (p *positions) value(expr hclsyntax.Expression, names loopNames) counted {
	var parts []hclsyntax.Expression
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ScopeTraversalExpr:
		c := names.counted[e.Traversal.RootName()]
		if len(e.Traversal) == 1 {
			return c
		}
		return c.at(e.Traversal[1:])
	case *hclsyntax.RelativeTraversalExpr:
		return p.value(e.Source, names).at(e.Traversal)
	case *hclsyntax.IndexExpr:
		c := p.collection(e.Collection, names).element
		c.is = c.is || p.value(e.Key, names).is && !p.isOfRows(e.Collection)
		return c
	case *hclsyntax.ObjectConsExpr:
		all := counted{columns: map[string]bool{}}
		for _, item := range e.Items {
			name, ok := syntax.LiteralKey(item.KeyExpr)
			isCounted := p.value(item.ValueExpr, names).anywhere()
			all.is = all.is || isCounted && !ok
			all.columns[name] = isCounted
		}
		maps.DeleteFunc(all.columns, func(_ string, is bool) bool { return !is })
		return all
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "merge" {
			var all counted
			for _, arg := range e.Args {
				all = all.with(p.value(arg, names))
			}
			return all
		}
		if e.Name == "length" || e.Name == "index" && len(e.Args) == 2 {
			return counted{is: e.Name == "index" && p.isOfRows(e.Args[0])}
		}
		parts = e.Args
	case *hclsyntax.ConditionalExpr:
		all := p.value(e.TrueResult, names).with(p.value(e.FalseResult, names))
		all.is = all.is || p.value(e.Condition, names).is
		return all
	case *hclsyntax.ForExpr, *hclsyntax.SplatExpr:
		all := p.collection(e, names) // a list is described by its elements
		all.element.is = all.element.is || all.keys.is
		return all.element
	case *hclsyntax.TemplateExpr:
		parts = e.Parts
	case *hclsyntax.TemplateJoinExpr:
		parts = []hclsyntax.Expression{e.Tuple}
	case *hclsyntax.BinaryOpExpr:
		parts = []hclsyntax.Expression{e.LHS, e.RHS}
	case *hclsyntax.UnaryOpExpr:
		parts = []hclsyntax.Expression{e.Val}
	case *hclsyntax.TupleConsExpr:
		return p.collection(e, names).element
	case *hclsyntax.ObjectConsKeyExpr:
		if _, ok := syntax.LiteralKey(e); !ok {
			parts = []hclsyntax.Expression{e.Wrapped}
		}
	}
	var all counted
	for _, part := range parts {
		c := p.value(part, names)
		all.is = all.is || c.anywhere()
		all.counts, all.byLength = all.counts || c.counts, all.byLength || c.byLength
	}
	return all
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

// localNamed is the local that a reference names, and nothing of which; nil for any other reference.
func localNamed(s *eval.Scope, path hcl.Traversal) *eval.Argument {
	if len(path) != 2 || path.RootName() != "local" {
		return nil
	}
	name, _ := eval.StepName(path[1], false)
	if n, ok := s.Nodes["local"][name]; ok {
		return n.Arguments[0]
	}
	return nil
}
