package config

import (
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/syntax"
)

// countsRows is which part of each a ref_id has that is made by counting a list, such as each.key, or ref_id where it counts one itself;
// "" for none. arguments are those of the transfer block, which are evaluated in ctx, and isSet says that the elements of for_each are
// their own keys. forEach is nil where each row of a data source is an element.
func countsRows(s *eval.Scope, forEach, refID *eval.Argument, isSet bool, arguments []*eval.Argument, ctx *hcl.EvalContext) string {
	p := &positions{scope: s, open: map[*eval.Argument]bool{}, locals: map[*eval.Argument]shape{}, types: map[hcl.Range]shape{}}
	var made shape
	if forEach != nil {
		var ok bool
		if made, ok = p.of(forEach); !ok {
			return ""
		}
	}
	if isSet {
		made.keys = made.keys.with(made.each().counted)
	}
	if made.keys.counts && p.areIndexing(arguments, made.keys.byLength, ctx) {
		made.keys.is = true
	}
	element := made.each()
	for _, path := range refID.Expr.Variables() {
		if path.RootName() != "each" || len(path) < 2 {
			continue
		}
		switch name, _ := eval.StepName(path[1], true); {
		case name == "key" && made.keys.is:
			return "each.key"
		case name == "value" && isSet && made.keys.is:
			return "each.value"
		case name == "value" && element.behind(path[2:]).anywhere().is:
			return pathOfEach(path)
		}
	}
	each := shape{kind: kindMap, parts: map[string]shape{"key": {counted: made.keys, kind: kindText}, "value": element}}
	p.refs = refID.Refs
	if p.value(refID.Expr, loopNames{shapes: map[string]shape{"each": each}, passes: onePass(ctx)}).is {
		return "ref_id"
	}
	return ""
}

// positions finds which parts of a for_each are made by counting a list.
type positions struct {
	scope  *eval.Scope
	refs   *eval.References // of the argument that is looked into
	open   map[*eval.Argument]bool
	locals map[*eval.Argument]shape // those that were looked into
	types  map[hcl.Range]shape      // of references by their places
	splats map[*hclsyntax.AnonSymbolExpr]shape
}

// loopNames are the names that for expressions give their elements.
type loopNames struct {
	shapes map[string]shape
	passes iter.Seq[*hcl.EvalContext] // of the loops around; nil where there are none
}

// has reports whether a path begins with one of the names.
func (n loopNames) has(path hcl.Traversal) bool {
	_, ok := n.shapes[path.RootName()]
	return ok
}

func onePass(ctx *hcl.EvalContext) iter.Seq[*hcl.EvalContext] {
	return func(yield func(*hcl.EvalContext) bool) { yield(ctx) }
}

// of is the shape of the value of an argument; false where that has none.
func (p *positions) of(a *eval.Argument) (shape, bool) {
	ctx, ok, _ := p.scope.Context(a.Refs) // its mistakes were told when the whole was evaluated
	if !ok {
		return shape{}, false
	}
	outer := p.refs
	p.refs = a.Refs
	defer func() { p.refs = outer }()
	return p.value(a.Expr, loopNames{passes: onePass(ctx)}), true
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
		inner := *p
		inner.refs = a.Refs
		return inner.indexes(a.Expr, "each", byLength, loopNames{passes: onePass(ctx)})
	})
}

// value is what an expression makes of the names of loops.
func (p *positions) value(expr hclsyntax.Expression, names loopNames) shape {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.LiteralValueExpr:
		return ofType(e.Val.Type())
	case *hclsyntax.ScopeTraversalExpr:
		return p.named(e.Traversal, names)
	case *hclsyntax.RelativeTraversalExpr:
		return p.value(e.Source, names).behind(e.Traversal)
	case *hclsyntax.IndexExpr:
		key, isKnown := literalText(e.Key)
		made := p.value(e.Collection, names).at(key, isKnown)
		made.is = made.is || p.value(e.Key, names).is && !p.isOfRows(e.Collection)
		return made
	case *hclsyntax.ObjectConsExpr:
		return p.object(e, names)
	case *hclsyntax.TupleConsExpr:
		made := shape{kind: kindList, parts: make(map[string]shape, len(e.Exprs))}
		for i, item := range e.Exprs {
			key, _ := keyOf(number(i))
			made.parts[key] = p.value(item, names)
		}
		return made
	case *hclsyntax.ForExpr:
		return p.loop(e, names)
	case *hclsyntax.SplatExpr:
		return p.splat(e, names)
	case *hclsyntax.AnonSymbolExpr:
		return p.splats[e]
	case *hclsyntax.FunctionCallExpr:
		return p.call(e, names)
	case *hclsyntax.ConditionalExpr:
		made := p.value(e.TrueResult, names).or(p.value(e.FalseResult, names))
		made.is = made.is || p.value(e.Condition, names).is
		return made
	case *hclsyntax.TemplateExpr:
		return p.text(names, e.Parts...)
	case *hclsyntax.TemplateJoinExpr:
		return p.text(names, e.Tuple)
	case *hclsyntax.BinaryOpExpr:
		return p.text(names, e.LHS, e.RHS)
	case *hclsyntax.UnaryOpExpr:
		return p.text(names, e.Val)
	case *hclsyntax.ObjectConsKeyExpr:
		if _, ok := syntax.LiteralKey(e); !ok {
			return p.text(names, e.Wrapped)
		}
	}
	return shape{kind: kindText}
}

// text is the shape of a text that has parts.
func (p *positions) text(names loopNames, parts ...hclsyntax.Expression) shape {
	shapes := make([]shape, len(parts))
	for i, part := range parts {
		shapes[i] = p.value(part, names)
	}
	return text(shapes...)
}

// number is an index as a value.
func number(i int) cty.Value { return cty.NumberIntVal(int64(i)) }

// named is what a reference leads to: a part of an element of a loop, of a local, or of anything that counts nothing.
func (p *positions) named(path hcl.Traversal, names loopNames) shape {
	if s, ok := names.shapes[path.RootName()]; ok {
		return s.behind(path[1:])
	}
	var made shape
	steps := min(2, len(path))
	if local := localNamed(p.scope, path[:steps]); local != nil && local.Refs != nil {
		var ok bool
		if made, ok = p.locals[local]; !ok {
			p.locals[local] = shape{}
			made, _ = p.of(local)
			p.locals[local] = made
		}
		made = made.behind(path[steps:])
	}
	return made.known(p.typed(path))
}

// typed is what the type of the value of a reference says.
func (p *positions) typed(path hcl.Traversal) shape {
	at := path.SourceRange()
	if known, ok := p.types[at]; ok {
		return known
	}
	var made shape
	if ctx, ok, _ := p.scope.Context(p.refs); ok {
		if value, diags := path.TraverseAbs(ctx); !diags.HasErrors() {
			made = ofType(value.Type())
		}
	}
	p.types[at] = made
	return made
}

// object is the shape of an object as it is written.
func (p *positions) object(e *hclsyntax.ObjectConsExpr, names loopNames) shape {
	made := shape{kind: kindMap, parts: make(map[string]shape, len(e.Items))}
	var others []shape
	for _, item := range e.Items {
		value := p.value(item.ValueExpr, names)
		if name, ok := syntax.LiteralKey(item.KeyExpr); ok {
			made.parts[name] = value
			continue
		}
		made.keys = made.keys.with(p.value(item.KeyExpr, names).anywhere())
		others = append(others, value)
	}
	if others != nil {
		made.element = new(join(others...))
	}
	return made
}

// splat is the list of a part of each element of another one.
func (p *positions) splat(e *hclsyntax.SplatExpr, names loopNames) shape {
	source := p.value(e.Source, names)
	element := source.each()
	if source.kind == kindMap || source.kind == kindText { // which are taken for a list of one
		element = source
	}
	if p.splats == nil {
		p.splats = map[*hclsyntax.AnonSymbolExpr]shape{}
	}
	p.splats[e.Item] = element
	return listOf(p.value(e.Each, names))
}

// loop is what a for expression makes.
func (p *positions) loop(e *hclsyntax.ForExpr, names loopNames) shape {
	of := p.value(e.CollExpr, names)
	inner := loopNames{maps.Clone(names.shapes), p.within(e, names)}
	if inner.shapes == nil {
		inner.shapes = map[string]shape{}
	}
	element := of.each()
	if counts := element.anywhere(); counts.counts && p.indexesIn(e, e.ValVar, counts.byLength, names) {
		element = element.asPositions()
	}
	key := shape{counted: of.keys, kind: kindText}
	isList := false
	if isIn(e.KeyExpr, e.KeyVar) || isIn(e.ValExpr, e.KeyVar) {
		kind := of.kind
		if !kind.isKnown() {
			kind |= p.kindOf(e.CollExpr, names)
		}
		isList = kind&kindList != 0 && !p.areParts(e.CollExpr)
		switch {
		case isList:
			key.counted = counted{is: true}
		case kind&kindSet != 0:
			key = element
		}
	}
	inner.shapes[e.ValVar] = element
	if e.KeyVar != "" {
		inner.shapes[e.KeyVar] = key
	}
	body := p.value(e.ValExpr, inner)
	if e.KeyExpr == nil {
		return listOf(body)
	}
	if e.Group {
		body = listOf(body)
	}
	made := shape{kind: kindMap, keys: p.value(e.KeyExpr, inner).anywhere(), element: &body}
	made.keys.is = made.keys.is || isList && isIn(e.KeyExpr, e.KeyVar)
	return made
}

// passesLooked is how many passes of loops are looked at for a value.
const passesLooked = 100

// within are the passes of a loop, within those around it.
func (p *positions) within(e *hclsyntax.ForExpr, names loopNames) iter.Seq[*hcl.EvalContext] {
	if names.passes == nil {
		return nil
	}
	return func(yield func(*hcl.EvalContext) bool) {
		for ctx := range names.passes {
			all, ok := p.evaluated(e.CollExpr, ctx)
			if !ok {
				continue
			}
			for it := all.ElementIterator(); it.Next(); {
				k, v := it.Element()
				inner := ctx.NewChild()
				inner.Variables = map[string]cty.Value{e.ValVar: v}
				if e.KeyVar != "" {
					inner.Variables[e.KeyVar] = k
				}
				if !yield(inner) {
					return
				}
			}
		}
	}
}

// evaluated is a collection.
func (p *positions) evaluated(expr hclsyntax.Expression, ctx *hcl.EvalContext) (cty.Value, bool) {
	value, diags := p.scope.Evaluate(expr, p.refs, ctx)
	value, _ = value.Unmark()
	return value, !diags.HasErrors() && value.IsKnown() && !value.IsNull() && value.CanIterateElements()
}

// kindOf is what kind of collection an expression has in the first passes that give it one.
func (p *positions) kindOf(expr hclsyntax.Expression, names loopNames) kinds {
	looked := 0
	if names.passes == nil {
		return 0
	}
	for ctx := range names.passes {
		if looked++; looked > passesLooked {
			break
		}
		if value, ok := p.evaluated(expr, ctx); ok {
			return ofType(value.Type()).kind
		}
	}
	return 0
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
// range ends with a length. A map whose keys count a list is like it.
func (p *positions) indexes(expr hclsyntax.Expression, name string, byLength bool, names loopNames) bool {
	return hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		var list, key hclsyntax.Expression
		switch e := node.(type) {
		case *hclsyntax.IndexExpr:
			list, key = e.Collection, e.Key
		case *hclsyntax.FunctionCallExpr:
			if (e.Name == "element" || e.Name == "slice" || e.Name == "lookup") && len(e.Args) > 1 {
				list, key = e.Args[0], e.Args[1]
			}
		}
		if list == nil || !isIn(key, name) || !byLength && !p.isOfRows(list) {
			return nil
		}
		of := p.value(list, names)
		if !of.kind.isKnown() {
			of.kind = p.kindOf(list, names)
		}
		if of.kind == 0 || of.kind&kindList != 0 || of.keys.is {
			return hcl.Diagnostics{&hcl.Diagnostic{Severity: hcl.DiagError}}
		}
		return nil
	}).HasErrors()
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
