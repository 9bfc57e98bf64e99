package view

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"

	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/planner"
)

// overview is what every face says of a plan before its lines, gathered in one pass.
type overview struct {
	attention attention            // those that a person must look at
	firsts    map[string][]payment // to submit, to a destination that is new, by asset, the largest of each
	firstsAll transfer.Totals      // all of them
	batches   batchSums
	submits   map[string]int // how many transfers to submit, by asset
	assets    []string       // of submits, that of most transfers first
	largest   map[string][]payment
	changes   *planner.Changes
	payments  map[string][]payment // each transfer to submit, by asset, where they are asked for
	decimals  map[string]int       // of the most precise amount of each asset, as it is written
}

// overviewOptions bound what an overview keeps of each list.
type overviewOptions struct {
	firsts, largest int

	payments bool // which take memory for each transfer
}

func newOverview(plan *planner.Plan, o overviewOptions) *overview {
	v := &overview{
		attention: attention{at: make(map[string]*attentionKind)},
		batches:   batchSums{of: make(map[string]map[planner.Action]*transfer.Totals)},
		submits:   make(map[string]int), largest: make(map[string][]payment), firsts: make(map[string][]payment), changes: &plan.Changes,
		payments: make(map[string][]payment), decimals: make(map[string]int),
	}
	seed := maphash.MakeSeed()
	for i, c := range plan.Changes.Movements() {
		v.attention.add(c, i)
		r := moved(c)
		v.batches.add(c.Batch, c.Action, r)
		if written := r.Amount.ScaleWritten(); written > v.decimals[r.Asset] || v.decimals[r.Asset] == 0 {
			v.decimals[r.Asset] = written
		}
		if c.Action != planner.Submit {
			continue
		}
		asset, asked := c.Request.Asset, c.Request.Amount
		if v.submits[asset]++; v.submits[asset] == 1 {
			v.assets = append(v.assets, asset)
		}
		if o.payments {
			v.payments[asset] = append(v.payments[asset], payment{maphash.Comparable(seed, destination(c.Request)), asked, int32(i)})
		}
		v.largest[asset] = keepLarger(v.largest[asset], payment{amount: asked, number: int32(i)}, o.largest)
		if slices.ContainsFunc(c.Signals, isFirst) {
			v.firstsAll.Add(asset, asked)
			v.firsts[asset] = keepLarger(v.firsts[asset], payment{amount: asked, number: int32(i)}, o.firsts)
		}
	}
	slices.SortStableFunc(v.assets, func(a, b string) int { return cmp.Compare(v.submits[b], v.submits[a]) })
	return v
}

// keepLarger adds a transfer to the largest of its asset so far, the largest first and of equal ones the one that
// was declared first.
func keepLarger(top []payment, of payment, most int) []payment {
	at := len(top)
	for at > 0 && of.amount.Cmp(top[at-1].amount) > 0 {
		at--
	}
	if at == most {
		return top
	}
	return slices.Insert(top[:min(len(top), most-1)], at, of)
}

// topTransfers are the largest transfers to submit, at most so many in all: at least one of
// each asset as far as they reach, and the rest of the asset of most transfers.
func (v *overview) topTransfers(most int) []planner.Change {
	var top []planner.Change
	for i, asset := range v.assets[:min(len(v.assets), most)] {
		share := 1
		if i == 0 {
			share = most - min(len(v.assets), most) + 1
		}
		largest := v.largest[asset]
		for _, of := range largest[:min(len(largest), share)] {
			top = append(top, v.changes.At(int(of.number)))
		}
	}
	return top
}

// toSubmit counts the transfers to submit.
func (v *overview) toSubmit() int {
	count := 0
	for _, of := range v.submits {
		count += of
	}
	return count
}

// topTitle says what topTransfers are.
func (v *overview) topTitle(most int) string {
	title := "Largest of " + english.Plural(v.toSubmit(), "transfer") + " to submit"
	if more := len(v.assets) - most; more > 0 {
		title += fmt.Sprintf(" (%d more assets)", more)
	}
	return title
}

// batchSums are the totals of each batch and action.
type batchSums struct {
	names []string // in declaration order
	of    map[string]map[planner.Action]*transfer.Totals
}

func (b *batchSums) add(batch string, a planner.Action, r transfer.Request) {
	of := b.of[batch]
	if of == nil {
		of = make(map[planner.Action]*transfer.Totals)
		b.of[batch] = of
		b.names = append(b.names, batch)
	}
	if of[a] == nil {
		of[a] = new(transfer.Totals)
	}
	of[a].Add(r.Asset, r.Amount)
}

// count is how many transfers a batch has.
func (b *batchSums) count(batch string) int {
	count := 0
	for _, totals := range b.of[batch] {
		count += totals.Count()
	}
	return count
}

// payment is a transfer to submit, by whom it pays.
type payment struct {
	to     uint64 // where it is asked for
	amount transfer.Amount
	number int32 // in the plan
}
