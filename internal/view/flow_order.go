package view

import (
	"fmt"
	"strings"

	"remit/internal/text/english"
	"remit/planner"
)

// orderArrowsMax bounds how many dependencies are drawn.
const orderArrowsMax = 60

// order is what dependencies impose: which block or batch has to be COMPLETED before which.
type order struct {
	groups []group
	before []precedence // in order of appearance, each once
}

// group is the transfers of one block, and later of one batch.
type group struct {
	block, batch string
	count        int
}

// precedence is that transfers of a group wait for some of another.
type precedence struct{ first, then int32 }

// newOrder reads the order from what the changes of a plan wait for. It is one of batches; of
// a batch whose own blocks wait for each other, it is one of these.
func newOrder(plan *planner.Plan) order {
	b := orderBuilder{numbers: make(map[group]int32), waiting: make(map[waitKey]bool)}
	b.readWaits(plan)
	if len(b.waits) == 0 {
		return order{}
	}
	refs := make(map[string]int32)
	for _, c := range plan.Changes.All() {
		n := b.number(c)
		b.groups[n].count++
		refs[c.RefID] = n
	}
	return b.byBatch(b.blocks(refs))
}

// orderBuilder numbers groups and gathers what they wait for.
type orderBuilder struct {
	order
	numbers map[group]int32
	waits   []wait
	waiting map[waitKey]bool
}

// wait is a list of ref_ids that transfers of a group wait for.
type wait struct {
	then  int32
	after []string
}

// waitKey tells lists apart by where they are in memory: those of a block are one.
type waitKey struct {
	then  int32
	first *string
	count int
}

func (b *orderBuilder) readWaits(plan *planner.Plan) {
	for _, c := range plan.Changes.All() {
		if len(c.After) == 0 || c.Action != planner.Submit && c.Action != planner.Resolve {
			continue
		}
		then := b.number(c)
		key := waitKey{then, &c.After[0], len(c.After)}
		if !b.waiting[key] {
			b.waiting[key] = true
			b.waits = append(b.waits, wait{then, c.After})
		}
	}
}

func (b *orderBuilder) number(c *planner.Change) int32 {
	block, _, _ := strings.Cut(c.Address, "[")
	return b.numberOf(group{block: block, batch: c.Batch})
}

func (b *orderBuilder) numberOf(g group) int32 {
	n, isKnown := b.numbers[g]
	if !isKnown {
		n = int32(len(b.groups))
		b.numbers[g] = n
		b.groups = append(b.groups, g)
	}
	return n
}

// blocks is the order of blocks. A transfer that has no line in the plan was sent before, and is not
// yet COMPLETED.
func (b *orderBuilder) blocks(refs map[string]int32) []precedence {
	var all []precedence
	seen := make(map[precedence]bool)
	sent := int32(-1)
	for _, w := range b.waits {
		for _, refID := range w.after {
			first, isHere := refs[refID]
			if !isHere {
				if sent < 0 {
					sent = int32(len(b.groups))
					b.groups = append(b.groups, group{})
				}
				first = sent
			}
			if p := (precedence{first, w.then}); first != w.then && !seen[p] {
				seen[p] = true
				all = append(all, p)
			}
		}
	}
	return all
}

// byBatch puts the blocks of a batch together where none of them waits for another.
func (b *orderBuilder) byBatch(blocks []precedence) order {
	split := make(map[string]bool)
	for _, p := range blocks {
		if first := b.groups[p.first]; first.batch == b.groups[p.then].batch {
			split[first.batch] = true
		}
	}
	var out orderBuilder
	out.numbers = make(map[group]int32)
	moved := make([]int32, len(b.groups))
	for i, g := range b.groups {
		count := g.count
		if g.count = 0; g.batch != "" && !split[g.batch] {
			g.block = ""
		}
		moved[i] = out.numberOf(g)
		out.groups[moved[i]].count += count
	}
	seen := make(map[precedence]bool)
	for _, p := range blocks {
		p = precedence{moved[p.first], moved[p.then]}
		if !seen[p] {
			seen[p] = true
			out.before = append(out.before, p)
		}
	}
	return out.order
}

func (g group) lines() []string {
	var lines []string
	if g.block != "" {
		lines = append(lines, flowLabel(g.block))
	}
	if g.batch != "" {
		lines = append(lines, flowLabel("batch "+g.batch))
	}
	switch {
	case g.count == 0:
		return append(lines, "sent before, not COMPLETED")
	case len(lines) == 0:
		lines = append(lines, "no longer declared")
	}
	return append(lines, english.Plural(g.count, "transfer"))
}

// diagram draws the order, as far as there is room.
func (o order) diagram() diagram {
	var d diagram
	boxes := make(map[int32]int)
	boxOf := func(n int32) int {
		at, isKnown := boxes[n]
		if !isKnown {
			at = d.add(o.groups[n].lines()...)
			boxes[n] = at
		}
		return at
	}
	shown := o.before[:min(len(o.before), orderArrowsMax)]
	for _, p := range shown {
		d.arrows = append(d.arrows, arrow{from: boxOf(p.first), to: boxOf(p.then), label: "then"})
	}
	if more := len(o.before) - len(shown); more > 0 {
		d.notes = append(d.notes, fmt.Sprintf("Not drawn: %s in the order.", english.Plural(more, "further step")))
	}
	return d
}
