package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// dependency is one entry of depends_on, and its place.
type dependency struct {
	Dependency
	at hcl.Range
}

// address is how depends_on names it.
func (d Dependency) address() string {
	if d.Batch != "" {
		return "batch." + d.Batch
	}
	return d.Block
}

// readDependencies takes depends_on out of a block: it is a list of references and not an
// expression.
func readDependencies(c *checker, b *eval.Block) []dependency {
	a, ok := b.Arguments["depends_on"]
	if !ok {
		return nil
	}
	delete(b.Arguments, "depends_on")
	b.InOrder = slices.DeleteFunc(b.InOrder, func(x *eval.Argument) bool { return x == a })
	items, diags := hcl.ExprList(a.Raw)
	if diags.HasErrors() {
		c.report(mistake.New(a.Expr.Range(), "Not a list of references", "depends_on is a list such as [transfer.internal.funding, batch.payroll]."))
		return nil
	}
	var found []dependency
	for _, item := range items {
		t, diags := hcl.AbsTraversalForExpr(item)
		d, ok := dependencyOf(t)
		if diags.HasErrors() || !ok {
			c.report(mistake.New(item.Range(), "Not a reference",
				"depends_on names whole blocks: transfer.OPERATION.NAME or batch.NAME.%s", cmp.Or(withOperation(t), c.withoutQuotes(item))))
			continue
		}
		found = append(found, dependency{d, item.Range()})
	}
	return found
}

// withOperation shows a reference to a transfer with the operation that was left out of it, as Terraform's has none;
// "" where something else is wrong.
func withOperation(t hcl.Traversal) string {
	const short = 2
	if len(t) != short || t.RootName() != "transfer" {
		return ""
	}
	step, ok := t[1].(hcl.TraverseAttr)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" Write the operation too, such as:\n\n  transfer.internal.%s", step.Name)
}

// withoutQuotes says how a block is named that somebody named in quotation marks; "" where that is not known.
func (c *checker) withoutQuotes(item hcl.Expression) string {
	if isJSON(item.Range().Filename) {
		for _, t := range item.Variables() {
			if d, ok := dependencyOf(t); ok {
				return fmt.Sprintf(" In JSON each is a plain text:\n\n  \"depends_on\": [%q]", Dependency.address(d))
			}
		}
		return " In JSON each is a plain text, such as:\n\n  \"depends_on\": [\"transfer.internal.funding\"]"
	}
	value, diags := item.Value(nil)
	if diags.HasErrors() || !syntax.IsText(value) {
		return ""
	}
	text := value.AsString()
	if t, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos); !diags.HasErrors() {
		if _, ok := dependencyOf(t); ok {
			return fmt.Sprintf(" Write it without quotation marks:\n\n  depends_on = [%s]", text)
		}
	}
	if !hclsyntax.ValidIdentifier(text) {
		return ""
	}
	address := "transfer.internal." + text
	for _, other := range []string{"batch." + text, "transfer.platform." + text} {
		if _, isDeclared := c.names[other]; isDeclared {
			address = other
		}
	}
	return fmt.Sprintf(" Write what kind of block it is before its name, and no quotation marks, such as:\n\n  depends_on = [%s]", address)
}

func dependencyOf(t hcl.Traversal) (Dependency, bool) {
	var steps []string
	for i, step := range t {
		if i == 0 {
			continue
		}
		name, ok := eval.StepName(step, false)
		if !ok {
			return Dependency{}, false
		}
		steps = append(steps, name)
	}
	switch {
	case len(steps) == 1 && t.RootName() == "batch":
		return Dependency{Batch: steps[0]}, true
	case len(steps) == 2 && t.RootName() == "transfer":
		return Dependency{Block: blockAddress(steps[0], steps[1])}, true
	}
	return Dependency{}, false
}

func blockAddress(operation, name string) string { return "transfer." + operation + "." + name }

// checkDependencies keeps the dependencies that exist and reports the others. Own is the address of the block that has
// them, which it can't mean itself.
func checkDependencies(c *checker, own string, all []dependency, blocks map[string]*transferBlock, batches map[string]*batchBlock) []dependency {
	return slices.DeleteFunc(all, func(d dependency) bool {
		if _, isBlock := blocks[d.Block]; isBlock {
			return false
		}
		if _, isBatch := batches[d.Batch]; isBatch {
			return false
		}
		names := make([]string, 0, len(blocks)+len(batches))
		for address := range blocks {
			names = append(names, address)
		}
		for name := range batches {
			names = append(names, "batch."+name)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == own })
		c.report(mistake.New(d.at, "Unknown reference", "%s is not declared.%s", d.address(), mistake.DidYouMean(d.address(), names)))
		return true
	})
}

// memberships are which transfer blocks have transfers in which batches. Most are known
// before any row is; a batch that hangs on a row is noted when that row is evaluated.
type memberships struct {
	inOrder []*transferBlock
	blocks  map[string]*transferBlock // by address
	batches map[string]*batchBlock
	// batchesInOrder are the batches as they were declared.
	batchesInOrder []*batchBlock
	members        map[string][]*transferBlock // by batch
	named          map[*eval.Node]bool         // to which a transfer block refers
	asText         bool                        // a transfer block has a batch that is none
	late           bool                        // some were noted when a row was evaluated
}

func newMemberships() *memberships {
	return &memberships{
		blocks: map[string]*transferBlock{}, batches: map[string]*batchBlock{}, members: map[string][]*transferBlock{}, named: map[*eval.Node]bool{},
	}
}

func (m *memberships) add(batch *batchBlock) {
	m.batches[batch.Name] = batch
	m.batchesInOrder = append(m.batchesInOrder, batch)
}

// noteNamed keeps what the arguments of a block refer to.
func (m *memberships) noteNamed(t *transferBlock) {
	for _, a := range t.block.All() {
		if a.Refs == nil {
			continue
		}
		for _, n := range a.Refs.Nodes {
			m.named[n] = true
		}
		if a.Name == "batch" && !slices.ContainsFunc(reachedFrom(a.Refs.Nodes), isBatch) {
			m.asText = true
		}
	}
}

// reachedFrom are the nodes that others refer to, directly or not, and these.
func reachedFrom(nodes []*eval.Node) []*eval.Node {
	reached, _ := eval.Walk(nodes, (*eval.Node).Dependencies)
	return reached
}

func isBatch(n *eval.Node) bool { return n.Root == "batch" }

// unnamed warns of batches to which no transfer block refers, directly or not: what they say is of no transfer.
func (m *memberships) unnamed(scope *eval.Scope) hcl.Diagnostics {
	if m.asText { // which is refused where it is evaluated
		return nil
	}
	for _, n := range reachedFrom(slices.Collect(maps.Keys(m.named))) {
		m.named[n] = true
	}
	var diags hcl.Diagnostics
	for _, b := range m.batchesInOrder {
		if n := scope.Nodes["batch"][b.Name]; n != nil && !m.named[n] {
			diags = append(diags, mistake.Warning(b.at, "Batch without transfers",
				"No transfer block names batch.%[1]s, so what the batch says holds for no transfer. Write in each transfer block that belongs to it:\n\n  batch = batch.%[1]s", b.Name))
		}
	}
	return diags
}

// note takes in that block has transfers in batch, and reports whether that is news.
func (m *memberships) note(batch string, block *transferBlock) bool {
	if slices.Contains(block.memberOf, batch) {
		return false
	}
	block.memberOf = append(block.memberOf, batch)
	m.members[batch] = append(m.members[batch], block)
	return true
}

// addresses are those of the transfer blocks, with what they make.
func (m *memberships) addresses() map[string]madeBy {
	all := make(map[string]madeBy, len(m.blocks))
	for address, t := range m.blocks {
		one := madeBy{isRepeated: t.repeated}
		if t.repeated && t.data == nil && !t.broken && standsThere(t.block.Arguments["for_each"]) {
			for _, e := range t.elements {
				one.addresses = append(one.addresses, t.instanceAddress(e.key))
			}
		}
		all[address] = one
	}
	return all
}

// waiting is a vertex of the graph of dependencies: a transfer block, the release of a batch (all
// that its depends_on names is COMPLETED), or its end (all its transfers are).
type waiting struct {
	block   *transferBlock
	release string
	end     string
}

func (w waiting) address() string {
	if w.block != nil {
		return w.block.address
	}
	return "batch." + w.release + w.end
}

func (m *memberships) at(w waiting) hcl.Range {
	if w.block != nil {
		return w.block.at
	}
	return m.batches[w.release+w.end].at
}

// next are the vertices for which w waits.
func (m *memberships) next(w waiting) []waiting {
	var next []waiting
	on := func(all []dependency) {
		for _, d := range all {
			if d.Batch != "" {
				next = append(next, waiting{end: d.Batch})
			} else {
				next = append(next, waiting{block: m.blocks[d.Block]})
			}
		}
	}
	switch {
	case w.end != "":
		for _, b := range m.members[w.end] {
			next = append(next, waiting{block: b})
		}
	case w.release != "":
		on(m.batches[w.release].dependsOn)
	default:
		on(w.block.dependsOn)
		for _, name := range w.block.memberOf {
			next = append(next, waiting{release: name})
		}
	}
	return next
}

// cycles reports transfers that wait for themselves, through batches too.
func (m *memberships) cycles() hcl.Diagnostics {
	var starts []waiting
	for _, b := range m.inOrder {
		starts = append(starts, waiting{block: b})
	}
	_, cycles := eval.Walk(starts, m.next)
	var diags hcl.Diagnostics
	for _, cycle := range cycles {
		var names []string
		for _, w := range append(cycle, cycle[0]) {
			names = append(names, w.address())
		}
		diags = append(diags, eval.CycleAt(m.at(cycle[0]), slices.Compact(names)))
	}
	return diags
}

// dependencies are those of the block and of a batch together, made once for each batch.
func (t *transferBlock) dependencies(batch *batchBlock) []Dependency {
	name := ""
	if batch != nil {
		name = batch.Name
	}
	if all, ok := t.shared[name]; ok {
		return all
	}
	entries := t.dependsOn
	if batch != nil {
		entries = append(entries[:len(entries):len(entries)], batch.dependsOn...)
	}
	if len(entries) == 0 {
		return nil
	}
	var all []Dependency
	seen := map[Dependency]bool{}
	for _, d := range entries {
		if !seen[d.Dependency] {
			all = append(all, d.Dependency)
		}
		seen[d.Dependency] = true
	}
	if t.shared == nil {
		t.shared = map[string][]Dependency{}
	}
	t.shared[name] = all
	return all
}
