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
	for i := range plan.Changes {
		if c := &plan.Changes[i]; needsAttention(c) {
			if count++; count <= largeAttention {
				attention = append(attention, *c)
			}
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
	p.batches(plan.Changes)
	p.destinations(plan.Changes, o)
	p.line(dim(plural(len(plan.Changes), "transfer") + ". To see all of them:"))
	p.command("", p.here("remit plan --show=all"))
}

func needsAttention(c *planner.Change) bool {
	switch c.Action {
	case planner.Resolve, planner.Conflict, planner.Failed, planner.Expired:
		return true
	case planner.Submit, planner.None, planner.Wait, planner.Undeclared:
	}
	return c.Again || len(c.Signals) > 0
}

// batches writes the sums of each batch and action, batches in declaration order.
func (p *page) batches(changes []planner.Change) {
	var names []string
	batches := make(map[string]map[planner.Action]*transfer.Totals)
	for i := range changes {
		c := &changes[i]
		of := batches[c.Batch]
		if of == nil {
			of = make(map[planner.Action]*transfer.Totals)
			batches[c.Batch] = of
			names = append(names, c.Batch)
		}
		if of[c.Action] == nil {
			of[c.Action] = new(transfer.Totals)
		}
		of[c.Action].Add(c.Request.Asset, c.Request.Amount)
	}
	p.line(strong("Batches"))
	var rows []totalsRow
	for _, name := range names[:min(len(names), largeBatches)] {
		label := plain(cutMiddle(Visible(name), 40))
		if name == "" {
			label = dim("(no batch)")
		}
		for _, a := range listed() {
			if totals := batches[name][a]; totals != nil {
				rows = append(rows, totalsRow{[]span{label, {a.Symbol(), actionTone(a)}, plain(string(a))}, totals})
				label = plain("")
			}
		}
	}
	p.totalsTable("  ", rows)
	if more := len(names) - largeBatches; more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more", more)))
	}
	p.line()
}

// paid is what one destination gets of one asset.
type paid struct {
	first *planner.Change // names the destination
	count int
	sum   decimal.Decimal
}

// destinations writes, for each asset, those to which most is to be submitted.
func (p *page) destinations(changes []planner.Change, o PlanOptions) {
	byAsset := make(map[string]map[transfer.Destination]*paid)
	for i := range changes {
		c := &changes[i]
		if c.Action != planner.Submit {
			continue
		}
		of := byAsset[c.Request.Asset]
		if of == nil {
			of = make(map[transfer.Destination]*paid)
			byAsset[c.Request.Asset] = of
		}
		d := c.Request.Destination()
		if of[d] == nil {
			of[d] = &paid{first: c}
		}
		of[d].count++
		of[d].sum = of[d].sum.Add(c.Request.Amount.Decimal())
	}
	form := shapeFor(changes, shapeEnds)
	for _, asset := range slices.Sorted(maps.Keys(byAsset)) {
		p.destinationsOf(asset, slices.Collect(maps.Values(byAsset[asset])), form, o)
	}
}

func (p *page) destinationsOf(asset string, all []*paid, form shape, o PlanOptions) {
	slices.SortFunc(all, func(a, b *paid) int {
		return cmp.Or(b.sum.Cmp(a.sum), cmp.Compare(a.first.RefID, b.first.RefID))
	})
	p.line(strong("Largest of " + plural(len(all), "destination") + " in " + asset))
	var numbers point
	top := all[:min(len(all), largeDestinations)]
	for _, d := range top {
		numbers.fit(sum(d.sum))
	}
	var rows [][]span
	for _, d := range top {
		rows = append(rows, []span{
			plain(numbers.align(sum(d.sum))), plain(asset), dim(plural(d.count, "transfer")),
			plain("-> " + destination(d.first.Request).show(form, o.Names)),
		})
	}
	p.table("  ", rows)
	p.line()
}
