package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// keptBlock is what a transfer block came to that is one transfer and had no mistake. Its places are counted from the
// beginning of its text.
type keptBlock struct {
	used      uint64 // the last check that took it
	operation transfer.Operation
	name      string
	address   string
	at        hcl.Range
	refID     *hcl.Range // of the expression; nil where it is the label
	settled   *Transfer
	batch     string       // that the argument names; "" for none
	values    []namedValue // that it names
	steps     int64        // that its evaluation took
}

func (k *keptBlock) lastUsed() uint64 { return k.used }

// recallable are the kept facts of a part, where the values that it names are still the same; nil for none.
func (r *transferReader) recallable(p transferPart) *keptBlock {
	if r.kept == nil || p.part == nil {
		return nil
	}
	k, _ := r.kept.memory.blocks[string(p.part.Content())].(*keptBlock)
	if k == nil || !r.kept.current(k.values) || r.configured.book.posing(k.settled.DisplayName, k.settled.Request.ToProfileID) != nil {
		return nil
	}
	return k
}

// recall takes a kept block in as [transferReader.take] takes one that was read.
func (r *transferReader) recall(k *keptBlock, at syntax.Place) {
	m := r.configured.memberships
	k.used = r.kept.memory.check
	r.kept.memory.recalled++
	t := &transferBlock{
		operation: k.operation, name: k.name, address: k.address, at: at.Of(k.at), configured: r.configured, settled: k.settled,
	}
	if !r.declare(t.address, t.at) {
		return
	}
	if k.refID != nil {
		place := &hclsyntax.LiteralValueExpr{SrcRange: at.Of(*k.refID)}
		t.fields = map[string]*field{"ref_id": {Argument: &eval.Argument{Name: "ref_id", Expr: place}, constant: true}}
	}
	m.inOrder = append(m.inOrder, t)
	m.blocks[t.address] = t
	if k.batch != "" {
		m.note(k.batch, t)
	}
	for _, v := range k.values {
		m.named[r.kept.nodeAt(v.address)] = true
	}
	r.scope.Meter.Spend(k.steps, &t.at)
}

// keepable begins to look at a block that a part has alone, and returns a function that keeps it where nothing speaks against that. It is
// called before the block is taken in, and the function afterwards, with what became of it.
func (r *transferReader) keepable(p *syntax.Part, b *eval.Block) func(t *transferBlock) {
	if r.kept == nil || p == nil {
		return func(*transferBlock) {}
	}
	mistakes, left := len(r.diags), r.scope.Meter.Left()
	asText := r.configured.memberships.asText
	return func(t *transferBlock) {
		if t == nil || t.settled == nil || len(r.diags) > mistakes || len(t.dependsOn) > 0 || r.configured.memberships.asText != asText {
			return
		}
		at := syntax.PlaceOf(p)
		k := &keptBlock{
			used: r.kept.memory.check, operation: t.operation, name: t.name, address: t.address, at: at.In(t.at), settled: t.settled,
			steps: left - r.scope.Meter.Left(),
		}
		var nodes []*eval.Node
		for _, a := range b.All() {
			if !a.Refs.Ready() || len(a.Refs.Whole) > 0 || !isKeepable(a) {
				return
			}
			nodes = append(nodes, a.Refs.Nodes...)
		}
		if len(t.memberOf) == 1 {
			k.batch = t.memberOf[0]
		}
		if of := t.settled.Batch; of != "" {
			n := r.scope.Nodes["batch"][of]
			if n == nil || of != k.batch {
				return
			}
			nodes = append(nodes, n)
		}
		if f := t.fields["ref_id"]; f != nil {
			place := at.In(f.Expr.Range())
			k.refID = &place
		}
		var ok bool
		if k.values, ok = r.kept.valuesOf(nil, slices.Compact(nodes)); !ok {
			return
		}
		r.kept.memory.blocks[string(p.Content())] = k
	}
}

// stateOf is what transfers have from a batch, as a memory compares it; false where the batch has it from others.
func (m *memberships) stateOf(batch string) (batchState, bool) {
	b := m.batches[batch]
	if b == nil || b.of != nil {
		return batchState{}, false
	}
	state := batchState{notBefore: b.notBefore.String(), expires: b.expires.String(), window: b.window}
	if b.within != nil {
		state.within = b.within.String()
	}
	return state, true
}
