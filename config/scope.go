package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
)

// scope is everything that an expression may name.
type scope struct {
	meter     *meter.Meter // of all expressions
	functions map[string]function.Function
	// nodes by root and name: "var" and "period"; data sources by "data" and "csv.payroll".
	nodes map[string]map[string]*node
	// inOrder are all nodes as they were declared, so that diagnostics do not hang on the
	// order of a map.
	inOrder []*node
}

// node is one named value.
type node struct {
	root, name string
	at         hcl.Range
	arguments  []*argument // that it is made of
	compute    func() (cty.Value, hcl.Diagnostics)
	// demand, where it is not nil, makes the value when an expression first needs it.
	demand func() (cty.Value, hcl.Diagnostics)
	data   *dataSource // of a data source
	policy bool        // declared in a policy directory

	progress  progress
	value     cty.Value
	missing   []*node // variables without a value on which it depends
	wide      bool    // depends on more than variables and locals
	sensitive bool    // depends on a sensitive variable
	plain     *bool   // what isPlain found; nil before it was asked
}

// progress is how far the evaluation of a node came.
type progress uint8

const (
	pending progress = iota // not evaluated
	known                   // value holds
	unset                   // it depends on a variable without a value
	failed                  // a mistake was reported
)

func newScope(table map[string]function.Function, m *meter.Meter) *scope {
	return &scope{meter: m, functions: table, nodes: map[string]map[string]*node{
		"var": {}, "local": {}, "profile": {}, "batch": {}, "data": {},
		"calendar": {}, "schedule": {}, "window": {},
	}}
}

// address is how an expression names the node.
func (n *node) address() string { return n.root + "." + n.name }

func (s *scope) add(n *node) {
	s.nodes[n.root][n.name] = n
	s.inOrder = append(s.inOrder, n)
}

// names are the declared names below a root.
func (s *scope) names(root string) []string {
	var names []string
	for _, n := range s.inOrder {
		if n.root == root {
			names = append(names, n.name)
		}
	}
	return names
}

// dependencies are the nodes that n's arguments refer to.
func (n *node) dependencies() []*node {
	var nodes []*node
	for _, a := range n.arguments {
		if a.refs != nil {
			nodes = append(nodes, a.refs.nodes...)
		}
	}
	return nodes
}

// settle evaluates n; all that it depends on was settled before.
func (n *node) settle() hcl.Diagnostics {
	n.wide = n.wide || n.root != "var" && n.root != "local"
	for _, d := range n.dependencies() {
		n.wide = n.wide || d.wide
		n.sensitive = n.sensitive || d.sensitive
		n.missing = append(n.missing, d.missing...)
		if d.progress == failed {
			n.progress = failed
		}
	}
	slices.SortFunc(n.missing, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	n.missing = slices.Compact(n.missing)
	switch {
	case n.progress == failed:
		return nil
	case len(n.missing) > 0:
		n.progress = unset
		return nil
	case slices.ContainsFunc(n.arguments, func(a *argument) bool { return a.refs == nil || a.refs.wrong }):
		n.progress = failed
		return nil
	}
	value, diags := n.compute()
	n.value, n.progress = value, known
	if diags.HasErrors() {
		n.progress = failed
	}
	return diags
}

// isPlain reports whether n has a value that can stand anywhere: no part of it is a secret,
// or moves with a holiday. It is asked when all is settled.
func (n *node) isPlain() bool {
	if n.plain == nil {
		plain := n.progress == known && n.demand == nil && !n.sensitive && n.value.IsWhollyKnown() && !n.value.ContainsMarked()
		n.plain = &plain
	}
	return *n.plain
}

// ready reports whether all that refs name has a value.
func (r *references) ready() bool {
	return r != nil && !r.wrong && !slices.ContainsFunc(r.nodes, func(n *node) bool { return n.progress != known })
}

// sensitive reports whether a secret could flow in.
func (r *references) sensitive() bool {
	return slices.ContainsFunc(r.nodes, func(n *node) bool { return n.sensitive })
}

// context holds the values that refs name and nothing else. It is false where one of them
// is missing or turns out wrong when it is demanded.
func (s *scope) context(refs *references) (*hcl.EvalContext, bool, hcl.Diagnostics) {
	if !refs.ready() {
		return nil, false, nil
	}
	roots := map[string]map[string]cty.Value{}
	data := map[string]map[string]cty.Value{} // by type
	var diags hcl.Diagnostics
	for _, n := range refs.nodes {
		if n.demand != nil {
			demand := n.demand
			n.demand = nil
			var more hcl.Diagnostics
			n.value, more = demand()
			diags = append(diags, more...)
			if more.HasErrors() {
				n.progress = failed
				continue
			}
		}
		if kind, name, isData := strings.Cut(n.name, "."); isData && n.root == "data" {
			if data[kind] == nil {
				data[kind] = map[string]cty.Value{}
			}
			data[kind][name] = n.value
			continue
		}
		if roots[n.root] == nil {
			roots[n.root] = map[string]cty.Value{}
		}
		roots[n.root][n.name] = n.value
	}
	if !refs.ready() {
		return nil, false, diags
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: s.functions}
	for root, values := range roots {
		ctx.Variables[root] = cty.ObjectVal(values)
	}
	if len(data) > 0 {
		kinds := map[string]cty.Value{}
		for kind, values := range data {
			kinds[kind] = cty.ObjectVal(values)
		}
		ctx.Variables["data"] = cty.ObjectVal(kinds)
	}
	for _, root := range refs.whole {
		if ctx.Variables[root] == cty.NilVal {
			ctx.Variables[root] = cty.EmptyObjectVal
		}
	}
	return ctx, true, diags
}

// value evaluates an argument. It is false where a mistake was found, here or before, or
// where a variable that it needs has no value.
func (s *scope) value(a *argument) (cty.Value, bool, hcl.Diagnostics) {
	ctx, ok, diags := s.context(a.refs)
	if !ok {
		return cty.NilVal, false, diags
	}
	value, more := s.evaluate(a.expr, a.refs, ctx)
	diags = append(diags, more...)
	return value, !diags.HasErrors(), diags
}

// evaluate is the only place that computes an expression. Where a secret could be in a
// message, the message is not shown.
func (s *scope) evaluate(expr hclsyntax.Expression, refs *references, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if s.meter.Over() != nil {
		return cty.DynamicVal, s.exhausted(expr)
	}
	value, diags := expr.Value(ctx)
	at := expr.Range()
	if !s.meter.Weigh(value, 1, &at) {
		return cty.DynamicVal, s.exhausted(expr)
	}
	for _, d := range diags {
		if refs.sensitive() {
			d.Expression, d.EvalContext = nil, nil
			d.Detail = "The reason is not shown, because the expression uses a sensitive value."
		} else {
			nameKey(d)
		}
	}
	if !diags.HasErrors() && !value.IsWhollyKnown() {
		diags = append(diags, mistake.New(expr.Range(), "Value is not known",
			"Nothing in a configuration may be unknown when it is planned."))
	}
	return value, diags
}

// exhausted is why no expression is evaluated any more. It is said in one place for all.
func (s *scope) exhausted(expr hclsyntax.Expression) hcl.Diagnostics {
	d := *s.meter.Over()
	if d.Subject == nil {
		d.Subject = expr.Range().Ptr()
	}
	return hcl.Diagnostics{&d}
}

// nameKey adds to a diagnostic of an index which key it was, which HCL does not say.
func nameKey(d *hcl.Diagnostic) {
	index, ok := d.Expression.(*hclsyntax.IndexExpr)
	if !ok {
		return
	}
	key, diags := index.Key.Value(d.EvalContext)
	from, more := index.Collection.Value(d.EvalContext)
	if diags.HasErrors() || more.HasErrors() || !syntax.IsText(key) || from.IsNull() || from.IsMarked() {
		return
	}
	var names []string
	if ty := from.Type(); ty.IsObjectType() {
		names = slices.Collect(maps.Keys(ty.AttributeTypes()))
	}
	d.Detail += fmt.Sprintf(" The key is %q.%s", key.AsString(), mistake.DidYouMean(key.AsString(), names))
}

// plain is value for places where no secret may flow.
func (s *scope) plain(a *argument) (cty.Value, bool, hcl.Diagnostics) {
	value, _, ok, diags := s.moving(a)
	return value, ok, diags
}

// moving is plain, and the occurrences of which the value was made.
func (s *scope) moving(a *argument) (cty.Value, []*Occurrence, bool, hcl.Diagnostics) {
	value, ok, diags := s.value(a)
	if !ok {
		return value, nil, false, diags
	}
	value, of := unmoved(value)
	if value.ContainsMarked() {
		return cty.NilVal, nil, false, append(diags, secretHere(a.expr.Range()))
	}
	return value, of, true, diags
}

func secretHere(r hcl.Range) *hcl.Diagnostic {
	return mistake.New(r, "Sensitive value is not allowed here",
		"A sensitive value may be used in the state and service blocks only: no part of a transfer is secret.")
}

// sorted lists nodes so that each comes after all that it depends on. Those in a cycle are
// failed; each cycle is reported once.
func (s *scope) sorted() ([]*node, hcl.Diagnostics) {
	order, cycles := walk(s.inOrder, (*node).dependencies)
	var diags hcl.Diagnostics
	for _, cycle := range cycles {
		var names []string
		for _, n := range cycle {
			n.progress = failed
			names = append(names, n.address())
		}
		diags = append(diags, cycleAt(cycle[0].at, append(names, names[0])))
	}
	return order, diags
}
