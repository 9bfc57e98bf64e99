package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
)

// namedText is a text of a condition by which a transfer or a batch is looked for.
type namedText struct {
	text     string
	at       hcl.Range
	isShared bool // a directory that several configurations may share has it
	isSwitch bool // a variable, a local or a profile says it
}

// comparedNames finds in a condition the texts with which the batch or the address of a transfer is compared.
type comparedNames struct {
	policyTexts
	r     *eval.Reader
	loops []loopOver // the innermost last
}

// loopOver is a for expression: the name of an element, and whether it is a transfer of the plan.
type loopOver struct {
	name       string
	isTransfer bool
}

// Enter finds the comparisons at a node, on the way down.
func (c *comparedNames) Enter(node hclsyntax.Node) hcl.Diagnostics {
	switch e := unmetered(node).(type) {
	case *hclsyntax.ForExpr:
		c.loops = append(c.loops, loopOver{e.ValVar, c.areTransfers(e.CollExpr)})
	case *hclsyntax.BinaryOpExpr:
		if e.Op == hclsyntax.OpEqual || e.Op == hclsyntax.OpNotEqual {
			c.check(c.attribute(e.LHS), e.RHS)
			c.check(c.attribute(e.RHS), e.LHS)
			c.checkEmpty(e.LHS, e.RHS)
			c.checkEmpty(e.RHS, e.LHS)
		}
	case *hclsyntax.FunctionCallExpr:
		switch {
		case e.Name == "contains" && len(e.Args) == 2:
			c.check(c.attribute(e.Args[1]), e.Args[0])
			c.check(c.attributes(e.Args[0]), e.Args[1])
		case e.Name == "lookup" && len(e.Args) > 1:
			c.check(c.attribute(e.Args[1]), e.Args[0])
		}
	}
	return nil
}

// Exit leaves a loop, on the way up.
func (c *comparedNames) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if _, isFor := unmetered(node).(*hclsyntax.ForExpr); isFor {
		c.loops = c.loops[:len(c.loops)-1]
	}
	return nil
}

// unmetered is a node without its meter, behind which nobody sees what it is.
func unmetered(node hclsyntax.Node) hclsyntax.Node {
	if expr, isExpr := node.(hclsyntax.Expression); isExpr {
		return meter.Inner(expr)
	}
	return node
}

// areTransfers reports whether the elements of an expression are lines of the plan.
func (c *comparedNames) areTransfers(expr hclsyntax.Expression) bool {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return c.arePlanTransfers(e.Traversal)
	case *hclsyntax.FunctionCallExpr:
		return e.Name == "values" && len(e.Args) == 1 && c.areTransfers(e.Args[0])
	case *hclsyntax.ForExpr: // which picks some of them
		path := syntax.Traversal(e.ValExpr)
		return len(path) == 1 && path.RootName() == e.ValVar && c.areTransfers(e.CollExpr)
	}
	return false
}

func (c *comparedNames) arePlanTransfers(path hcl.Traversal) bool {
	if c.subject != "plan" || len(path) != 2 || path.RootName() != "plan" {
		return false
	}
	name, isName := eval.StepName(path[1], true)
	return isName && name == "transfers"
}

// attribute is the attribute of a transfer that an expression is, also where it says what stands for an absent one; "" for anything else.
func (c *comparedNames) attribute(expr hclsyntax.Expression) string {
	var last hcl.Traverser
	isTransfer := false
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ScopeTraversalExpr:
		of := e.Traversal[:len(e.Traversal)-1]
		last, isTransfer = e.Traversal[len(e.Traversal)-1], c.isTransfer(of)
	case *hclsyntax.RelativeTraversalExpr:
		last = e.Traversal[len(e.Traversal)-1]
		source := syntax.Unwrap(e.Source)
		if index, isIndex := source.(*hclsyntax.IndexExpr); isIndex {
			isTransfer = len(e.Traversal) == 1 && c.areTransfers(index.Collection)
		} else {
			isTransfer = len(e.Traversal) == 2 && c.areTransfers(source)
		}
	case *hclsyntax.FunctionCallExpr:
		if (e.Name == "coalesce" || e.Name == "try") && len(e.Args) > 0 {
			return c.attribute(e.Args[0])
		}
	}
	if !isTransfer {
		return ""
	}
	name, _ := eval.StepName(last, true)
	return name
}

// isTransfer reports whether a path is that of a transfer: self, an element of a loop, or a line of the plan.
func (c *comparedNames) isTransfer(path hcl.Traversal) bool {
	switch len(path) {
	case 1:
		for _, loop := range slices.Backward(c.loops) {
			if loop.name == path.RootName() {
				return loop.isTransfer
			}
		}
		return c.subject == "self" && path.RootName() == "self"
	case 3:
		return c.arePlanTransfers(path[:2])
	}
	return false
}

// attributes is the attribute of transfers of which an expression is a list; "" for anything else.
func (c *comparedNames) attributes(expr hclsyntax.Expression) string {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ForExpr:
		c.loops = append(c.loops, loopOver{e.ValVar, c.areTransfers(e.CollExpr)})
		defer func() { c.loops = c.loops[:len(c.loops)-1] }()
		return c.attribute(e.ValExpr)
	case *hclsyntax.SplatExpr:
		each, isPath := syntax.Unwrap(e.Each).(*hclsyntax.RelativeTraversalExpr)
		if isPath && len(each.Traversal) == 1 && c.areTransfers(e.Source) {
			name, _ := eval.StepName(each.Traversal[0], true)
			return name
		}
	}
	return ""
}

// check looks at the texts of an expression with which an attribute is compared. An absent batch is null, so that an empty text, which
// some write for none, names nothing.
func (c *comparedNames) check(attribute string, with hclsyntax.Expression) {
	if attribute != "batch" && attribute != "address" {
		return
	}
	for _, name := range c.textsOf(with) {
		switch {
		case name.text == "":
		case attribute == "batch":
			c.checkBatch(c.r, name)
		default:
			*c.addresses = append(*c.addresses, name)
		}
	}
}

// checkEmpty refuses the empty text in the place of null: an attribute of a transfer that is not there is null, and none is empty, so that the
// comparison is always the same.
func (c *comparedNames) checkEmpty(attribute, with hclsyntax.Expression) {
	if _, isCall := syntax.Unwrap(attribute).(*hclsyntax.FunctionCallExpr); isCall { // which may put the empty text there
		return
	}
	name := c.attribute(attribute)
	text, isText := syntax.LiteralText(syntax.Unwrap(with))
	if isText && text.AsString() == "" && slices.Contains(nullable(), name) {
		c.r.Refuse(with.Range(), "Empty text in the place of null", "An absent %s is null and never an empty text, so this comparison is always the same. Compare it with null.", name)
	}
}

// nullable are the texts of a transfer that may be absent.
func nullable() []string {
	return []string{"batch", "from_identity_id", "from_account_id", "to_identity_id", "to_account_id", "until", "expires", "reason"}
}

// textsOf are the texts that an expression is, or has as its elements or keys, as far as it says them without a transfer.
func (c *comparedNames) textsOf(expr hclsyntax.Expression) []namedText {
	var all []namedText
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.TupleConsExpr:
		for _, element := range e.Exprs {
			all = append(all, c.textsOf(element)...)
		}
		return all
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			all = append(all, c.textsOf(item.KeyExpr)...)
		}
		return all
	case *hclsyntax.ConditionalExpr:
		return append(c.textsOf(e.TrueResult), c.textsOf(e.FalseResult)...)
	case *hclsyntax.FunctionCallExpr:
		switch e.Name {
		case "toset", "tolist", "concat", "distinct", "keys", "merge", "setunion":
			for _, argument := range e.Args {
				all = append(all, c.textsOf(argument)...)
			}
			return all
		}
	}
	var value cty.Value
	var diags hcl.Diagnostics
	c.meter.Aside(func() { value, diags = expr.Value(c.ctx) })
	if diags.HasErrors() || value.ContainsMarked() || !value.IsWhollyKnown() || value.IsNull() {
		return nil
	}
	add := func(v cty.Value) {
		if syntax.IsText(v) {
			all = append(all, namedText{v.AsString(), expr.Range(), c.isShared(c.r), len(expr.Variables()) > 0})
		}
	}
	add(value)
	if value.CanIterateElements() {
		isByKey := value.Type().IsMapType() || value.Type().IsObjectType()
		for key, v := range value.Elements() {
			if isByKey {
				v = key
			}
			add(v)
		}
	}
	return all
}

// madeBy is the address of a transfer block, and those of its transfers.
type madeBy struct {
	isRepeated bool     // it has for_each
	addresses  []string // of its transfers; nil where for_each has other keys at another time, or where it is one transfer
}

// checkAddresses looks at the addresses that policies name, once all transfer blocks are read.
func checkAddresses(named []namedText, blocks map[string]madeBy) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range named {
		if why, hint := absentAddress(name.text, blocks); why != "" {
			diags = append(diags, unknownName(name, hint != "", "Unknown address", why+hint)...)
		}
	}
	return diags
}

// absentAddress says why no transfer has an address, and which one is meant; why is "" where one may have it.
func absentAddress(text string, blocks map[string]madeBy) (why, hint string) {
	const never = ", so the policy would never see it."
	if t, isBlock := blocks[text]; isBlock {
		if !t.isRepeated {
			return "", ""
		}
		return "The block " + text + " has for_each, and the address of each of its transfers a key" + never, " To look at all of them, ask how it begins, such as:\n\n  startswith(self.address, " + mistake.QuotedHCL(text+"[") + ")"
	}
	_, key, hasKey := strings.Cut(text, "[")
	var names []string
	for address, t := range blocks {
		switch {
		case !t.isRepeated:
			names = append(names, address)
			if strings.HasPrefix(text, address+"[") {
				return "The block " + address + " has no for_each, and its address no key" + never, " Write:\n\n  " + mistake.QuotedHCL(address)
			}
		case strings.HasPrefix(text, address+"["):
			if t.addresses == nil || slices.Contains(t.addresses, text) {
				return "", ""
			}
			return "The block " + address + " makes no transfer " + mistake.QuotedHCL(text) + never, mistake.DidYouMean(text, t.addresses)
		case hasKey:
			names = append(names, address+"["+key)
		default:
			names = append(names, address)
		}
	}
	return "No transfer has the address " + mistake.QuotedHCL(text) + never, mistake.DidYouMean(text, names)
}

// standsThere reports whether for_each names nothing and reads nothing.
func standsThere(forEach *eval.Argument) bool {
	isWritten := len(forEach.Refs.Nodes) == 0
	_ = hclsyntax.VisitAll(forEach.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if call, isCall := unmetered(node).(*hclsyntax.FunctionCallExpr); isCall {
			isWritten = isWritten && (call.Name == "toset" || call.Name == "tomap")
		}
		return nil
	})
	return isWritten
}

// unknownName refuses a name that the policy would never see. Where a variable or a local says it, it may be right with another value; and
// directories that several configurations share may have one that only others declare: there a name with a hint is warned of.
func unknownName(name namedText, isNear bool, summary, detail string) hcl.Diagnostics {
	switch {
	case name.isShared && !isNear:
		return nil
	case name.isShared || name.isSwitch:
		return hcl.Diagnostics{mistake.Warning(name.at, summary, "%s", detail)}
	}
	return hcl.Diagnostics{mistake.New(name.at, summary, "%s", detail)}
}
