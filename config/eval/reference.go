package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/functions"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/text/terraform"
)

// References are what an expression refers to.
type References struct {
	Nodes    []*Node
	Whole    []string // roots that are used whole, as in profile[each.key]
	Each     bool
	Columns  []string     // attributes of each.value that are named; "" for all of it
	Key      bool         // names each.key
	Subject  []string     // attributes of the subject of a policy that are named
	Wrong    bool         // a reference was wrong, which was reported
	included *IncludedDir // whose files the expression reads; nil for those of the configuration
}

// Reach is what the expressions of a place may refer to (docs/language/references.md).
type Reach struct {
	narrow bool // variables and locals only, and through locals too
	Self   bool // variables only
	Each   bool
	// NoEach says why each is not to be had here.
	NoEach string
	// Columns of each.value, or of row; nil where they are not known
	Columns []string
	// Headers are columns of the file with their names here, which are "" for those that are not read. It is
	// empty where the file's names are in use.
	Headers    map[string]string
	Row        bool
	Subject    string               // self or plan in a policy; "" elsewhere
	SubjectHas []string             // attributes of the subject
	Profiles   bool                 // where narrow: profiles as well
	NoFiles    bool                 // no function that reads files
	Policy     bool                 // of a policy directory: its profiles only, and no file
	Included   *IncludedDir         // of an included directory: what such directories declare, and its files; nil elsewhere
	Given      map[string]cty.Value // that the caller has, by their roots, such as plan
}

// WideReach is what most places may refer to.
func WideReach() Reach {
	return Reach{NoEach: "each exists only in a transfer with for_each."}
}

// NarrowReach is that of blocks that must not hang on data or on the address book.
func NarrowReach() Reach {
	r := WideReach()
	r.narrow = true
	return r
}

// policyReaches says of a name that it is not to be had in a policy directory.
const policyReaches = "A policy directory does not see the configuration, whose authors its controls are about: its blocks may refer to profiles of policy directories only."

// includedReaches says of a name that it is not to be had in an included directory.
const includedReaches = "The blocks of an included directory mean the same wherever it is included, so they refer to nothing that the directory which includes it declares. Move the declaration to an included directory, or declare a variable there."

// resolver finds what one expression refers to.
type resolver struct {
	scope *Scope
	reach Reach
	alone bool // the expression is one reference, and nothing else
	refs  References
	diags hcl.Diagnostics
}

// Resolve finds the references of expr and reports those that are forbidden, or that name nothing.
func (s *Scope) Resolve(expr hclsyntax.Expression, within Reach) (*References, hcl.Diagnostics) {
	r := resolver{scope: s, reach: within, refs: References{included: within.Included}}
	if reference, ok := expr.(*hclsyntax.ScopeTraversalExpr); ok {
		r.alone = true
		r.traversal(reference.Traversal)
	} else {
		for _, t := range expr.Variables() {
			r.traversal(t)
		}
		r.calls(expr)
	}
	r.refs.Wrong = r.diags.HasErrors()
	slices.SortFunc(r.refs.Nodes, func(a, b *Node) int { return strings.Compare(a.Address(), b.Address()) })
	r.refs.Nodes = slices.Compact(r.refs.Nodes)
	return &r.refs, r.diags
}

func (r *resolver) refuse(at hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, mistake.New(at, summary, detail, args...))
}

func (r *resolver) traversal(t hcl.Traversal) {
	if value, ok := r.reach.Given[t.RootName()]; ok {
		r.given(t, value)
		return
	}
	if r.reach.Subject != "" && t.RootName() == r.reach.Subject {
		r.subject(t)
		return
	}
	switch root := t.RootName(); root {
	case "var", "local":
		r.named(t, root)
	case "profile", "batch", "calendar", "schedule", "window":
		r.named(t, root)
	case "data":
		r.dataRows(t)
	case "each":
		r.each(t)
	case "row":
		r.row(t)
	case "self":
		detail := "self is the transfer that a policy of the scope \"transfer\" looks at."
		if name, ok := stepAfter(t); ok && r.reach.Each {
			detail += fmt.Sprintf(" In a transfer with for_each, write:\n\n  each.value.%s", name)
		} else if ok && r.reach.Row {
			detail += fmt.Sprintf(" In the where of a data source, write:\n\n  row.%s", name)
		} else if r.reach.Subject == "" { // else in a policy of plans, where nothing stands for a transfer
			detail += " Give the value a name with a local, and write the local in both places."
		}
		r.refuse(t.SourceRange(), "self is not to be had here", "%s", detail)
	case "transfer":
		if d := r.meantSelf(t); d != nil {
			r.diags = append(r.diags, d)
			return
		}
		r.refuse(t.SourceRange(), "A transfer is not a value",
			"transfer.OPERATION.NAME stands in depends_on only: what the service will answer is not known when a plan is made.")
	default:
		if why, known := terraform.Root(root); known {
			r.refuse(t.SourceRange(), "Unknown reference", "%s", why)
			return
		}
		roots := append([]string{"var", "local", "profile", "batch", "schedule", "calendar", "window", "data", "each"}, slices.Sorted(maps.Keys(r.reach.Given))...)
		if r.reach.Subject != "" { // a policy sees its subject, and of the configuration what belongs to the policy
			roots = []string{r.reach.Subject, "var", "local", "profile"}
		}
		r.refuse(t.SourceRange(), "Unknown reference", "There is nothing named %q to refer to.%s", root, r.meant(t, roots))
	}
}

// stepAfter is the name behind the first one.
func stepAfter(t hcl.Traversal) (string, bool) {
	if len(t) < 2 {
		return "", false
	}
	return StepName(t[1], false)
}

// given checks a reference to a value that the caller gives.
func (r *resolver) given(t hcl.Traversal, value cty.Value) {
	if len(t) < 2 || !value.Type().IsObjectType() {
		return
	}
	if name, ok := StepName(t[1], true); ok && !value.Type().HasAttribute(name) {
		known := slices.Sorted(maps.Keys(value.Type().AttributeTypes()))
		hint := mistake.DidYouMean(name, known)
		if hint == "" {
			hint = " There are: " + mistake.Listed(known, 20) + "."
		}
		r.refuse(RangeOfStep(t[1]), "Unknown attribute", "%s has no %q.%s", t.RootName(), name, hint)
	}
}

// subject resolves self.ATTRIBUTE and plan.ATTRIBUTE in a policy.
func (r *resolver) subject(t hcl.Traversal) {
	known := r.reach.SubjectHas
	name, ok := "", false
	if len(t) > 1 {
		name, ok = StepName(t[1], true)
	}
	switch {
	case !ok:
		r.refuse(t.SourceRange(), "Attribute is missing", "Write %s.ATTRIBUTE. There are: %s.", t.RootName(), strings.Join(known, ", "))
	case !slices.Contains(known, name):
		hint := mistake.DidYouMean(name, known)
		if hint == "" {
			hint = " There are: " + strings.Join(known, ", ") + "."
		}
		r.refuse(RangeOfStep(t[1]), "Unknown attribute", "%s has no %q in a policy.%s", t.RootName(), name, hint)
	default:
		r.refs.Subject = append(r.refs.Subject, name)
	}
}

// named resolves var.NAME, local.NAME, and NAME of a block that is a value, such as
// profile.NAME.
func (r *resolver) named(t hcl.Traversal, root string) {
	if !r.reachable(t, root) {
		return
	}
	values := root != "var" && root != "local"
	if len(t) == 1 && values { // profile[each.value.department]
		r.refs.Whole = append(r.refs.Whole, root)
		for _, n := range r.scope.InOrder {
			if n.Root == root && r.sees(n) {
				r.refs.Nodes = append(r.refs.Nodes, n)
			}
		}
		return
	}
	name, ok := "", false
	if len(t) > 1 {
		name, ok = StepName(t[1], values)
	}
	if !ok {
		r.refuse(t.SourceRange(), "Name is missing", "Write %s.NAME.", root)
		return
	}
	n := r.node(t, root, name)
	if n == nil {
		return
	}
	if n.Wide && r.reach.narrow && (root != "profile" || !r.reach.Profiles) {
		r.refuse(t.SourceRange(), "Reference is not allowed here",
			"%s depends on more than variables and locals, which alone may be used in this block.", n.Address())
	}
	if values && len(t) > 2 {
		known := r.scope.attributes[root]
		if attribute, ok := t[2].(hcl.TraverseAttr); ok && !slices.Contains(known, attribute.Name) {
			hint := mistake.DidYouMean(attribute.Name, known)
			if hint == "" {
				hint = " There are: " + strings.Join(known, ", ") + "."
			}
			r.refuse(attribute.SrcRange, "Unknown attribute", "A %s has no %q.%s", root, attribute.Name, hint)
		}
	}
}

// sees reports whether an expression in a policy directory, or in an included one, may refer to n.
func (r *resolver) sees(n *Node) bool {
	return (n.Policy || !r.reach.Policy) && (n.Book != nil || n.Policy || r.reach.Included == nil)
}

// node finds a declaration, or reports that there is none.
func (r *resolver) node(t hcl.Traversal, root, name string) *Node {
	n, ok := r.scope.Nodes[root][name]
	if ok && !r.sees(n) {
		why := policyReaches
		if !r.reach.Policy {
			why = includedReaches
		}
		r.refuse(t.SourceRange(), "Reference is not allowed here", "%s is declared at %s. %s", n.Address(), mistake.At(n.At), why)
		return nil
	}
	if !ok {
		names := r.scope.Names(root)
		what := root
		if name, ok := map[string]string{"var": "variable", "local": "local value", "data": "data source"}[root]; ok {
			what = name
		}
		hint := mistake.DidYouMean(name, names)
		if hint == "" && len(names) > 0 {
			slices.Sort(names)
			hint = " There are: " + mistake.Listed(names, 10) + "."
		}
		r.refuse(t.SourceRange(), "Unknown reference", "No %s %q is declared.%s", what, name, hint)
		return nil
	}
	r.refs.Nodes = append(r.refs.Nodes, n)
	return n
}

func (r *resolver) reachable(t hcl.Traversal, root string) bool {
	switch {
	case r.reach.Policy && root != "profile":
		r.refuse(t.SourceRange(), "Reference is not allowed here", "%s", policyReaches)
	case r.reach.Self && root != "var":
		r.refuse(t.SourceRange(), "Reference is not allowed here", "The validation of a variable may refer to variables only.")
	case r.reach.Profiles && root == "profile":
		return true
	case r.reach.Profiles && root != "var" && root != "local":
		r.refuse(t.SourceRange(), "Reference is not allowed here", "Only variables, locals and profiles may be used in a policy.")
	case r.reach.narrow && root != "var" && root != "local":
		r.refuse(t.SourceRange(), "Reference is not allowed here", "Only variables and locals may be used in this block.")
	default:
		return true
	}
	return false
}

// dataRows resolves data.TYPE.NAME.rows.
func (r *resolver) dataRows(t hcl.Traversal) {
	if !r.reachable(t, "data") {
		return
	}
	var steps []string
	for _, step := range t[1:min(len(t), 4)] {
		name, ok := StepName(step, true)
		if !ok {
			break
		}
		steps = append(steps, name)
	}
	if kind := r.unknownType(steps); kind != "" {
		r.refuse(t.SourceRange(), "Unknown reference", "There are no data sources of type %q. The types are %s.%s", kind,
			strings.Join(r.scope.dataTypes, ", "), mistake.DidYouMean(kind, r.scope.dataTypes))
		return
	}
	if len(steps) < 3 || steps[2] != "rows" {
		row := ""
		if len(steps) == 3 {
			_, isIndex := t[3].(hcl.TraverseIndex)
			if column := columnBehind(t); isIndex || column != "" {
				row = fmt.Sprintf("[%s]%s", mistake.QuotedHCL(steps[2]), column)
			}
		}
		r.refuse(t.SourceRange(), "Rows are missing", "A data source has its rows and nothing else, and is named with its type. Write:\n\n  %s%s", r.rowsOf(steps), row)
		return
	}
	r.node(t, "data", steps[0]+"."+steps[1])
}

// columnBehind is the column that a reference names behind the key of a row, as it is written; "" where there is none.
func columnBehind(t hcl.Traversal) string {
	if len(t) < 5 {
		return ""
	}
	name, ok := StepName(t[4], true)
	if !ok {
		return ""
	}
	return strings.TrimPrefix(mistake.ColumnOf("row", name), "row")
}

// unknownType is the type in data.TYPE.NAME that the language does not have; "" where it has it, or where
// somebody named a data source without its type.
func (r *resolver) unknownType(steps []string) string {
	if len(steps) < 2 || slices.Contains(r.scope.dataTypes, steps[0]) {
		return ""
	}
	isOwn := func(name string) bool {
		_, own, _ := strings.Cut(name, ".")
		return own == steps[0]
	}
	if steps[1] == "rows" || slices.ContainsFunc(r.scope.Names("data"), isOwn) {
		return ""
	}
	return steps[0]
}

func (r *resolver) each(t hcl.Traversal) {
	if !r.reach.Each {
		r.refuse(t.SourceRange(), "each is not to be had here", "%s", r.reach.NoEach)
		return
	}
	r.refs.Each = true
	name := ""
	if len(t) > 1 {
		name, _ = StepName(t[1], false)
	}
	switch {
	case name == "key":
		r.refs.Key = true
	case name == "value" && len(t) > 2:
		r.column(t[2])
	case name == "value":
		r.refs.Columns = append(r.refs.Columns, "")
	default:
		hint := " There are each.key and each.value."
		if near := mistake.DidYouMean(name, []string{"key", "value"}); near != "" && (strings.HasPrefix(name, "val") || strings.HasPrefix(name, "ke")) {
			hint = near
		} else if name != "" && name != "index" {
			hint = fmt.Sprintf(" A column, or an attribute, is named behind each.value:\n\n  each.value.%s", name)
		}
		r.refuse(t.SourceRange(), "Unknown reference", "each has no %q.%s", name, hint)
	}
}

func (r *resolver) row(t hcl.Traversal) {
	if !r.reach.Row {
		name := "NAME"
		if len(t) > 1 {
			if step, ok := StepName(t[1], false); ok {
				name = step
			}
		}
		r.refuse(t.SourceRange(), "row is not to be had here", "row exists only in the where of a data source. In a transfer, write:\n\n  each.value.%s", name)
		return
	}
	if len(t) > 1 {
		r.column(t[1])
	}
}

// column checks an attribute of each.value, or of row, where the columns are known.
func (r *resolver) column(step hcl.Traverser) {
	name, ok := StepName(step, true)
	if !ok {
		r.refs.Columns = append(r.refs.Columns, "")
		return
	}
	r.refs.Columns = append(r.refs.Columns, name)
	if r.reach.Columns != nil && !slices.Contains(r.reach.Columns, name) {
		r.refuse(RangeOfStep(step), "Unknown column", "%s", mistake.UnknownColumn(r.rowName(), name, r.reach.Columns, r.reach.Headers))
	}
}

// calls reports functions that do not exist.
func (r *resolver) calls(expr hclsyntax.Expression) {
	r.diags = append(r.diags, hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok {
			return nil
		}
		if _, ok := r.scope.Functions[call.Name]; ok {
			if r.reach.NoFiles && !r.reach.Policy && functions.ReadsFiles(call.Name) {
				return hcl.Diagnostics{mistake.New(call.NameRange, "Function is not allowed here",
					"%s reads a file, and who reads the policy would not see that another file makes it another policy. Read it in a local, whose value is a part of the policy.", call.Name)}
			}
			if r.reach.Policy && functions.ReadsFiles(call.Name) {
				return hcl.Diagnostics{mistake.New(call.NameRange, "Function is not allowed here",
					"%s reads files of the configuration's directory, whose authors the controls of a policy directory are about.", call.Name)}
			}
			return nil
		}
		return hcl.Diagnostics{r.scope.unknownFunction(call)}
	})...)
}

// unknownFunction reports a call of a function that does not exist.
func (s *Scope) unknownFunction(call *hclsyntax.FunctionCallExpr) *hcl.Diagnostic {
	names := make([]string, 0, len(s.Functions))
	for name := range s.Functions {
		names = append(names, name)
	}
	return mistake.New(call.NameRange, "Unknown function", "There is no function %q.%s", call.Name, meantFunction(call.Name, names))
}

// UnknownFunction reports the first call in an expression of a function that does not exist; nil where there is none.
func (s *Scope) UnknownFunction(expr hclsyntax.Expression) *hcl.Diagnostic {
	diags := hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok {
			return nil
		}
		if _, isKnown := s.Functions[call.Name]; isKnown {
			return nil
		}
		return hcl.Diagnostics{s.unknownFunction(call)}
	})
	if len(diags) == 0 {
		return nil
	}
	return diags[0]
}

// words are values of other languages, with what they are here.
var words = map[string]string{
	"none": "null", "nil": "null", "undefined": "null", "yes": "true", "on": "true", "no": "false", "off": "false", "true": "true", "false": "false", "null": "null",
}

// StepName is the name in .name, or in ["name"] where that is allowed too.
func StepName(step hcl.Traverser, index bool) (string, bool) {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.Name, true
	case hcl.TraverseIndex:
		if index && syntax.IsText(step.Key) {
			return step.Key.AsString(), true
		}
	}
	return "", false
}

// RangeOfStep is the place of a step of a traversal.
func RangeOfStep(step hcl.Traverser) hcl.Range {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.SrcRange
	case hcl.TraverseIndex:
		return step.SrcRange
	}
	panic("a step of a traversal is neither an attribute nor an index")
}
