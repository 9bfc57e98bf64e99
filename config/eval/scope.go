// Package eval has blocks and their arguments, the values that have names, and what expressions
// refer to.
//
// Its one invariant: an expression sees what its place may refer to and nothing else, and a value
// that has a name is evaluated once, after all that it depends on.
package eval

import (
	"cmp"
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
	"remit/internal/text/english"
	"remit/internal/text/lazyregexp"
)

// Scope is everything that an expression may name.
type Scope struct {
	Meter     *meter.Meter // of all expressions
	Functions map[string]function.Function
	// attributes are what the values of a root have, such as those of profile.NAME.
	attributes map[string][]string
	dataTypes  []string // the TYPE of data.TYPE.NAME
	// Nodes by root and name: "var" and "period"; data sources by "data" and "csv.payroll".
	Nodes map[string]map[string]*Node
	// InOrder are all nodes as they were declared, so that diagnostics do not hang on the
	// order of a map.
	InOrder []*Node
}

// Node is one named value.
type Node struct {
	Root, Name string
	At         hcl.Range
	Arguments  []*Argument // that it is made of
	Compute    func() (cty.Value, hcl.Diagnostics)
	// demand, where it is not nil, makes the value when an expression first needs it.
	Demand func() (cty.Value, hcl.Diagnostics)
	Policy bool         // declared in a policy directory
	Book   *IncludedDir // the included directory in which it is declared; nil for none

	Progress  progress
	Value     cty.Value
	Missing   []*Node // variables without a value on which it depends
	Wide      bool    // depends on more than variables and locals
	Sensitive bool    // depends on a sensitive variable
	plain     *bool   // the result of IsPlain; nil before it was asked
}

// progress is how far the evaluation of a node came.
type progress uint8

// How far the evaluation of a node came.
const (
	pending progress = iota // not evaluated
	Known                   // value holds
	unset                   // it depends on a variable without a value
	Failed                  // a mistake was reported
)

// NewScope returns a scope without nodes. Attributes are those of the values of a root, such as
// profile, and dataTypes the types of data sources.
func NewScope(table map[string]function.Function, m *meter.Meter, attributes map[string][]string, dataTypes []string) *Scope {
	return &Scope{Meter: m, Functions: table, attributes: attributes, dataTypes: dataTypes, Nodes: map[string]map[string]*Node{
		"var": {}, "local": {}, "profile": {}, "batch": {}, "data": {},
		"calendar": {}, "schedule": {}, "window": {},
	}}
}

// Address is how an expression names the node.
func (n *Node) Address() string { return n.Root + "." + n.Name }

// Add declares a node.
func (s *Scope) Add(n *Node) {
	s.Nodes[n.Root][n.Name] = n
	s.InOrder = append(s.InOrder, n)
}

// Names are the declared names below a root.
func (s *Scope) Names(root string) []string {
	var names []string
	for _, n := range s.InOrder {
		if n.Root == root {
			names = append(names, n.Name)
		}
	}
	return names
}

// Dependencies are the nodes that n's arguments refer to.
func (n *Node) Dependencies() []*Node {
	var nodes []*Node
	for _, a := range n.Arguments {
		if a.Refs != nil {
			nodes = append(nodes, a.Refs.Nodes...)
		}
	}
	return nodes
}

// Settle evaluates n; all that it depends on was settled before.
func (n *Node) Settle() hcl.Diagnostics {
	n.Wide = n.Wide || n.Root != "var" && n.Root != "local"
	for _, d := range n.Dependencies() {
		n.Wide = n.Wide || d.Wide
		n.Sensitive = n.Sensitive || d.Sensitive
		n.Missing = append(n.Missing, d.Missing...)
		if d.Progress == Failed {
			n.Progress = Failed
		}
	}
	slices.SortFunc(n.Missing, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	n.Missing = slices.Compact(n.Missing)
	switch {
	case n.Progress == Failed:
		return nil
	case len(n.Missing) > 0:
		n.Progress = unset
		return nil
	case slices.ContainsFunc(n.Arguments, func(a *Argument) bool { return a.Refs == nil || a.Refs.Wrong }):
		n.Progress = Failed
		return nil
	}
	value, diags := n.Compute()
	n.Value, n.Progress = value, Known
	if diags.HasErrors() {
		n.Progress = Failed
	}
	return diags
}

// IsPlain reports whether n has a value that any place may use: no part of it is a secret, or moves
// with a holiday. It is asked when all is settled.
func (n *Node) IsPlain() bool {
	if n.plain == nil {
		plain := n.Progress == Known && n.Demand == nil && !n.Sensitive && n.Value.IsWhollyKnown() && !n.Value.ContainsMarked()
		n.plain = &plain
	}
	return *n.plain
}

// Ready reports whether all that refs name has a value.
func (r *References) Ready() bool {
	return r != nil && !r.Wrong && !slices.ContainsFunc(r.Nodes, func(n *Node) bool { return n.Progress != Known })
}

// Sensitive reports whether a secret could flow in.
func (r *References) Sensitive() bool {
	return slices.ContainsFunc(r.Nodes, func(n *Node) bool { return n.Sensitive })
}

// Context holds the values that refs name and nothing else. It is false where one of them
// is missing or turns out wrong when it is demanded.
func (s *Scope) Context(refs *References) (*hcl.EvalContext, bool, hcl.Diagnostics) {
	if !refs.Ready() {
		return nil, false, nil
	}
	roots := map[string]map[string]cty.Value{}
	data := map[string]map[string]cty.Value{} // by type
	var diags hcl.Diagnostics
	for _, n := range refs.Nodes {
		if n.Demand != nil {
			demand := n.Demand
			n.Demand = nil
			var more hcl.Diagnostics
			n.Value, more = demand()
			diags = append(diags, more...)
			if more.HasErrors() {
				n.Progress = Failed
				continue
			}
		}
		if kind, name, isData := strings.Cut(n.Name, "."); isData && n.Root == "data" {
			if data[kind] == nil {
				data[kind] = map[string]cty.Value{}
			}
			data[kind][name] = n.Value
			continue
		}
		if roots[n.Root] == nil {
			roots[n.Root] = map[string]cty.Value{}
		}
		roots[n.Root][n.Name] = n.Value
	}
	if !refs.Ready() {
		return nil, false, diags
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: s.Functions}
	if refs.included != nil {
		ctx.Functions = refs.included.Functions
	}
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
	for _, root := range refs.Whole {
		if ctx.Variables[root] == cty.NilVal {
			ctx.Variables[root] = cty.EmptyObjectVal
		}
	}
	return ctx, true, diags
}

// Value evaluates an argument. It is false where a mistake was found, here or before, or
// where a variable that it needs has no value.
func (s *Scope) Value(a *Argument) (cty.Value, bool, hcl.Diagnostics) {
	ctx, ok, diags := s.Context(a.Refs)
	if !ok {
		return cty.NilVal, false, diags
	}
	value, more := s.Evaluate(a.Expr, a.Refs, ctx)
	diags = append(diags, more...)
	return value, !diags.HasErrors(), diags
}

// Evaluate is the only place that computes an expression. Where a secret could be in a
// message, the message is not shown.
func (s *Scope) Evaluate(expr hclsyntax.Expression, refs *References, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if s.Meter.Over() != nil {
		return cty.DynamicVal, s.exhausted(expr)
	}
	value, diags := expr.Value(ctx)
	at := expr.Range()
	if !s.Meter.Weigh(value, 1, &at) {
		return cty.DynamicVal, s.exhausted(expr)
	}
	for _, d := range diags {
		if refs.Sensitive() {
			d.Expression, d.EvalContext = nil, nil
			d.Detail = "The reason is not shown, because the expression uses a sensitive value."
		} else {
			nameKey(d)
			explainOperand(d)
			s.explainArguments(d)
		}
	}
	if !diags.HasErrors() && !value.IsWhollyKnown() {
		diags = append(diags, mistake.New(expr.Range(), "Value is not known",
			"Nothing in a configuration may be unknown when it is planned."))
	}
	return value, diags
}

// explainOperand says how texts are joined where an operator for numbers was given one.
func explainOperand(d *hcl.Diagnostic) {
	if d.Summary == "Invalid index" {
		d.Detail = strings.Replace(d.Detail, "The given key does not identify an element in this collection value.", "There is no element with this key. Rows of a data source, and named blocks, have their own keys and no numbers.", 1)
	}
	if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d); ok && d.Summary == "Invalid function argument" && strings.Contains(d.Detail, "cannot convert ") {
		d.Detail = fmt.Sprintf("The function %s does not take such a value.", call.CalledFunctionName())
		if call.CalledFunctionName() == "toset" {
			d.Detail += " Rows of a data source, and maps, have their keys already. Write them alone:\n\n  for_each = data.csv.payroll.rows"
		}
	}
	if d.Summary == "Invalid operand" && strings.HasSuffix(d.Detail, "a number is required.") {
		d.Detail = "This operator computes with numbers, and this is a text. Texts are joined in one pair of quotation marks, and amounts are added by decimal_add:\n\n  \"rent-${var.period}\"\n  decimal_add(\"1.50\", \"2.25\")"
	}
}

// roundings are those of the decimal functions.
const roundings = "half_up, half_even, half_down, up, down, ceiling, floor"

// conditionalTypes are the types of both sides of a conditional, as HCL names them.
var conditionalTypes = lazyregexp.New(`The 'true' value is (\w+), but the 'false' value is (\w+)`)

// explainArguments says what a function takes that was given too few arguments or too many, and what the two sides of a conditional
// must be.
func (s *Scope) explainArguments(d *hcl.Diagnostic) {
	call, isCall := d.Expression.(*hclsyntax.FunctionCallExpr)
	sides := conditionalTypes.FindStringSubmatch(d.Detail)
	switch {
	case isCall && (d.Summary == "Not enough function arguments" || d.Summary == "Too many function arguments"):
		f, isKnown := s.Functions[call.Name]
		if !isKnown || f.VarParam() != nil {
			return
		}
		names := make([]string, len(f.Params()))
		for i, p := range f.Params() {
			names[i] = p.Name
		}
		d.Detail = fmt.Sprintf("%s takes %s, and has %d here:\n\n  %s(%s)", call.Name, english.Plural(len(names), "value"), len(call.Args), call.Name, strings.Join(names, ", "))
		if slices.Contains(names, "rounding") {
			d.Detail += "\n\nA rounding is a text, one of " + roundings + "."
		}
	case d.Summary == "Duplicate object key" && strings.Contains(d.Detail, "in this 'for' expression"):
		key, _, _ := strings.Cut(strings.TrimPrefix(d.Detail, "Two different items produced the key "), " in this 'for'")
		d.Detail = fmt.Sprintf("Two elements have the key %s, and each needs one of its own. Make the key of a value that is another one in each element, such as a number or an ID.", key)
	case d.Summary == "Inconsistent conditional result types" && sides != nil && sides[1] != sides[2]:
		d.Detail = fmt.Sprintf("The value behind ? is %s, and the one behind : is %s. Both must be of one kind.", article(sides[1]), article(sides[2]))
		if slices.Contains(sides, "object") && slices.Contains(sides, "string") {
			d.Detail += " Of a profile, take its ID, in to_profile_id or from_profile_id:\n\n  to_profile_id = each.key == \"E-001\" ? profile.landlord.profile_id : each.value.profile_id"
		}
	}
}

func article(noun string) string {
	if noun == "string" {
		return "a text"
	}
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// exhausted is why no expression is evaluated any more. It is said in one place for all.
func (s *Scope) exhausted(expr hclsyntax.Expression) hcl.Diagnostics {
	d := *s.Meter.Over()
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
	slices.Sort(names)
	meant := mistake.DidYouMean(key.AsString(), names)
	if path := syntax.Traversal(index.Collection); len(path) == 1 && path.RootName() == "profile" && len(names) > 0 && meant == "" {
		d.Detail = fmt.Sprintf("No profile is named %q. There are: %s. A map leads from such a text to a profile:\n\n  { %s = profile.%s }[%s]",
			key.AsString(), mistake.Listed(names, 10), mistake.QuotedHCL(key.AsString()), names[0], cmp.Or(PathText(index.Key), "…"))
		return
	}
	d.Detail += fmt.Sprintf(" The key is %q.%s", key.AsString(), meant)
}

// PathText is a reference to a value as it is written, "" for any other expression.
func PathText(expr hclsyntax.Expression) string {
	path := syntax.Traversal(expr)
	if len(path) == 0 {
		return ""
	}
	text := path.RootName()
	for _, step := range path[1:] {
		name, ok := StepName(step, true)
		if !ok {
			return ""
		}
		text = mistake.ColumnOf(text, name)
	}
	return text
}

// plain is value for places where no secret may flow.
func (s *Scope) plain(a *Argument) (cty.Value, bool, hcl.Diagnostics) {
	value, _, ok, diags := s.Moving(a)
	return value, ok, diags
}

// Moving is plain, and the marks [Moved] that the value had.
func (s *Scope) Moving(a *Argument) (cty.Value, []Moved, bool, hcl.Diagnostics) {
	value, ok, diags := s.Value(a)
	if !ok {
		return value, nil, false, diags
	}
	value, of := Unmark(value)
	if value.ContainsMarked() {
		return cty.NilVal, nil, false, append(diags, SensitiveHere(a.Expr.Range()))
	}
	return value, of, true, diags
}

// SensitiveHere is the mistake of a secret where none may be.
func SensitiveHere(r hcl.Range) *hcl.Diagnostic {
	return mistake.New(r, "Sensitive value is not allowed here",
		"A sensitive value may be used in the state and service blocks only: no part of a transfer is secret.")
}

// Sorted lists nodes so that each comes after all that it depends on. Those in a cycle are
// failed; each cycle is reported once.
func (s *Scope) Sorted() ([]*Node, hcl.Diagnostics) {
	order, cycles := Walk(s.InOrder, (*Node).Dependencies)
	var diags hcl.Diagnostics
	for _, cycle := range cycles {
		var names []string
		for _, n := range cycle {
			n.Progress = Failed
			names = append(names, n.Address())
		}
		diags = append(diags, CycleAt(cycle[0].At, append(names, names[0])))
	}
	return order, diags
}
