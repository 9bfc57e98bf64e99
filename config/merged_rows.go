package config

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// mergedRows finds the calls of merge that lose an element on the way to a for_each or to a sum, because two maps have its key. merge
// itself keeps the last one, as in Terraform: its place decides whether that is a default that is overridden, or a payment that nobody
// makes. There is one for all transfer blocks, which goes each way once.
type mergedRows struct {
	*elementWalk
	known map[*hclsyntax.FunctionCallExpr]bool // of which a mistake was told
	of    string                               // what is looked at, for a mistake
	diags hcl.Diagnostics
}

func newMergedRows(s *eval.Scope, data map[*eval.Node]*dataSource) *mergedRows {
	m := &mergedRows{known: map[*hclsyntax.FunctionCallExpr]bool{}}
	m.elementWalk = newElementWalk(s, data, m.meet)
	return m
}

// meet looks at an expression of which elements are made.
func (m *mergedRows) meet(expr hclsyntax.Expression, at spot, path []string) {
	switch e := expr.(type) {
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "merge" {
			m.merge(e, at, path)
		}
	case *hclsyntax.ObjectConsExpr:
		if len(path) == 0 || path[0] == anyKey {
			m.object(e, at)
		}
	}
}

// check finds the calls of merge that lose an element of a for_each of a transfer, or of a sum in its amount; nil for neither of them.
func (m *mergedRows) check(address string, forEach, amount *eval.Argument) hcl.Diagnostics {
	if m.scope.Meter.Over() != nil {
		return nil // which was told
	}
	m.diags = nil
	if forEach != nil {
		m.of = "the for_each of " + address
		m.elements(forEach.Expr, spot{refs: forEach.Refs}, nil)
	}
	if amount != nil {
		m.of = "the amount of " + address
		m.sums(amount)
	}
	return m.diags
}

// sums goes to what an argument adds up, itself or by the locals that it names.
func (m *mergedRows) sums(a *eval.Argument) {
	if _, isText := syntax.LiteralText(a.Expr); isText || a.Refs == nil || m.seen[a] {
		return
	}
	m.seen[a] = true
	_ = hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if e, isCall := node.(*hclsyntax.FunctionCallExpr); isCall && e.Name == "decimal_sum" {
			m.call(e, spot{refs: a.Refs}, nil)
		}
		return nil
	})
	for _, n := range a.Refs.Nodes {
		if n.Root != "local" || n.Progress != eval.Known {
			continue
		}
		for _, inner := range n.Arguments {
			m.sums(inner)
		}
	}
}

// merge looks for keys that two maps of a call have, in each pass of the loops around it.
func (m *mergedRows) merge(call *hclsyntax.FunctionCallExpr, at spot, path []string) {
	if m.known[call] {
		return
	}
	step := anyKey
	if len(path) > 0 {
		step = path[0]
	}
	found := &repeatedKeys{step: step}
	m.inPasses(at, func(ctx *hcl.EvalContext) { found.look(m.mapsOf(call, at.refs, ctx)) })
	if found.count > 0 {
		m.known[call] = true
		m.diags = append(m.diags, found.mistake(m.of, call.Range(), at.refs.Sensitive()))
	}
}

// inPasses calls look once with what an expression is evaluated in, or for each pass of the loops around it.
func (m *mergedRows) inPasses(at spot, look func(ctx *hcl.EvalContext)) {
	ctx, ok, _ := m.scope.Context(at.refs) // its mistakes were told when the whole was evaluated
	if !ok {
		return
	}
	var loops []*hclsyntax.ForExpr
	for w := at.within; w != nil; w = w.outer {
		loops = slices.Insert(loops, 0, w.loop)
	}
	m.scope.Meter.Aside(func() {
		if len(loops) == 0 {
			look(ctx)
		} else {
			m.passes(loops, at.refs, ctx, func(inner *hcl.EvalContext, _ cty.Value, isIn bool) bool {
				if isIn {
					look(inner)
				}
				return true
			})
		}
		if over := m.scope.Meter.Over(); over != nil { // the rest may lose an element
			m.diags = append(m.diags, over)
		}
	})
}

// object refuses an object of which two keys turn out to be one. Keys that are written out were looked at before.
func (m *mergedRows) object(e *hclsyntax.ObjectConsExpr, at spot) {
	isWritten := func(item hclsyntax.ObjectConsItem) bool {
		_, ok := syntax.LiteralKey(item.KeyExpr)
		return ok
	}
	if len(e.Items) < 2 || !slices.ContainsFunc(e.Items, func(item hclsyntax.ObjectConsItem) bool { return !isWritten(item) }) {
		return
	}
	var wrong *hcl.Diagnostic
	m.inPasses(at, func(ctx *hcl.EvalContext) {
		first := make(map[string]hcl.Range, len(e.Items))
		for _, item := range e.Items {
			value, diags := m.scope.Evaluate(item.KeyExpr, at.refs, ctx)
			value, _ = value.Unmark()
			value, err := convert.Convert(value, cty.String)
			if diags.HasErrors() || err != nil || !syntax.IsText(value) {
				continue
			}
			key := value.AsString()
			if before, twice := first[key]; twice && wrong == nil {
				name := "The key " + strconv.Quote(key)
				if at.refs.Sensitive() {
					name = "This key"
				}
				wrong = mistake.New(item.KeyExpr.Range(), "Key stands twice", "%s stands at %s already: of the two values only the last would count, and %s would lose a payment.",
					name, mistake.At(before), m.of)
			}
			first[key] = item.KeyExpr.Range()
		}
	})
	if wrong != nil {
		m.diags = append(m.diags, wrong)
	}
}

// mapsOf are the maps that a call merges, in order.
func (m *mergedRows) mapsOf(call *hclsyntax.FunctionCallExpr, refs *eval.References, ctx *hcl.EvalContext) []mergedMap {
	var all []mergedMap
	for i, arg := range call.Args {
		value, ok := m.collection(arg, refs, ctx)
		if !ok { // it is null
			continue
		}
		one := mergedMap{expr: arg, value: value, isOfData: len(m.sourcesOf(refs, arg.Variables())) > 0}
		if !call.ExpandFinal || i < len(call.Args)-1 {
			all = append(all, one)
			continue
		}
		one.expr = nil
		for it := value.ElementIterator(); it.Next(); {
			_, element := it.Element()
			if one.value, _ = element.Unmark(); !one.value.IsNull() && one.value.CanIterateElements() {
				all = append(all, one)
			}
		}
	}
	return all
}
