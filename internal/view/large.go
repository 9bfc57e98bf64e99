package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/planner"
)

// What a summary lists of a plan with too many transfers for a line each.
const (
	largeAttention    = 20
	largeBatches      = 20
	largeDestinations = 5
)

// large writes a summary: the transfers that a person must look at, then sums per batch,
// then the destinations that get most.
func (p *page) large(plan *planner.Plan, o PlanOptions) {
	var attention []planner.Change
	count := 0
	batches := batchSums{of: make(map[string]map[planner.Action]*transfer.Totals)}
	payments := make(map[string][]payment)
	for i, c := range plan.Changes.All() {
		if needsAttention(c) {
			if count++; count <= largeAttention {
				attention = append(attention, *c)
			}
		}
		batches.add(c)
		if c.Action == planner.Submit {
			payments[c.Request.Asset] = append(payments[c.Request.Asset],
				payment{c.Request.Destination(), c.Request.Amount, int32(i)})
		}
	}
	if count > 0 {
		p.line(strong("To look at: " + plural(count, "transfer")))
		p.changes(attention, o)
		if more := count - len(attention); more > 0 {
			p.line(dim(fmt.Sprintf("  and %d more", more)))
		}
		p.line()
	}
	p.batches(batches)
	for _, asset := range slices.Sorted(maps.Keys(payments)) {
		p.destinations(asset, payments[asset], &plan.Changes, o)
	}
	p.line(dim(plural(plan.Changes.Len(), "transfer") + ". To see all of them:"))
	p.command("", p.here("remit plan --show=all"))
}

func needsAttention(c *planner.Change) bool {
	switch c.Action {
	case planner.Resolve, planner.Conflict, planner.Failed, planner.Expired:
		return true
	case planner.Submit, planner.None, planner.Wait, planner.Undeclared:
	}
	return c.Again || slices.ContainsFunc(c.Signals, func(s planner.Signal) bool { return !isFirst(s) })
}

// batchSums are the totals of each batch and action.
type batchSums struct {
	names []string // in declaration order
	of    map[string]map[planner.Action]*transfer.Totals
}

func (b *batchSums) add(c *planner.Change) {
	of := b.of[c.Batch]
	if of == nil {
		of = make(map[planner.Action]*transfer.Totals)
		b.of[c.Batch] = of
		b.names = append(b.names, c.Batch)
	}
	if of[c.Action] == nil {
		of[c.Action] = new(transfer.Totals)
	}
	of[c.Action].Add(c.Request.Asset, c.Request.Amount)
}

// batches writes the sums of each batch and action, batches in declaration order.
func (p *page) batches(all batchSums) {
	p.line(strong("Batches"))
	var rows []totalsRow
	for _, name := range all.names[:min(len(all.names), largeBatches)] {
		label := plain(cutMiddle(Visible(name), 40))
		if name == "" {
			label = dim("(no batch)")
		}
		for _, a := range listed() {
			if totals := all.of[name][a]; totals != nil {
				rows = append(rows, totalsRow{[]span{label, {a.Symbol(), actionTone(a)}, plain(string(a))}, totals})
				label = plain("")
			}
		}
	}
	p.totalsTable("  ", rows)
	if more := len(all.names) - largeBatches; more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more", more)))
	}
	p.line()
}

// payment is a transfer to submit, by whom it pays.
type payment struct {
	to     transfer.Destination
	amount transfer.Amount
	number int32 // in the plan
}

// paid is what one destination gets of one asset.
type paid struct {
	number int32 // of a transfer that names the destination
	count  int
	sum    decimal.Decimal
}

// destinations writes those to which most of an asset is to be submitted. The IDs are whole:
// whom a short one means can't be told among so many.
func (p *page) destinations(asset string, payments []payment, changes *planner.Changes, o PlanOptions) {
	slices.SortFunc(payments, func(a, b payment) int {
		return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.number, b.number))
	})
	var top []paid
	all := 0
	for len(payments) > 0 {
		n := 1
		for n < len(payments) && payments[n].to == payments[0].to {
			n++
		}
		if n > 1 || len(top) < largeDestinations || payments[0].amount.Decimal().Cmp(top[largeDestinations-1].sum) >= 0 {
			top = keepLargest(top, sumUp(payments[:n]))
		}
		payments = payments[n:]
		all++
	}
	p.line(strong("Largest of " + plural(all, "destination") + " in " + asset))
	var numbers point
	for _, d := range top {
		numbers.fit(sum(d.sum))
	}
	var rows [][]span
	for _, d := range top {
		rows = append(rows, []span{
			plain(numbers.align(sum(d.sum))), plain(asset), dim(plural(d.count, "transfer")),
			plain("-> " + destination(changes.At(int(d.number)).Request).show(shapeWhole, o.Names)),
		})
	}
	p.table("  ", rows)
	p.line()
}

func sumUp(payments []payment) paid {
	d := paid{number: payments[0].number, count: len(payments)}
	for _, p := range payments {
		d.sum = d.sum.Add(p.amount.Decimal())
	}
	return d
}

// keepLargest adds d to the largest so far, the largest first and of equal ones the one that
// was declared first.
func keepLargest(top []paid, d paid) []paid {
	at, _ := slices.BinarySearchFunc(top, d, func(a, b paid) int {
		return cmp.Or(b.sum.Cmp(a.sum), cmp.Compare(a.number, b.number))
	})
	if at == largeDestinations {
		return top
	}
	return slices.Insert(top[:min(len(top), largeDestinations-1)], at, d)
}
