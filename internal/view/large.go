package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/text/english"
	"remit/planner"
)

// How much a summary lists of a plan with too many transfers for a line each.
const (
	largeLines        = 40 // those within which the plan is understood
	largeAttention    = linesMax
	largeObstacles    = 5
	largeTransfers    = 5
	largeTotals       = 8  // lines
	largeBatches      = 20 // lines
	largeBatchLines   = 3  // at least
	largeDestinations = 5
)

// large writes a summary. Its first 40 lines, those of the head included, tell the whole: the
// totals and signals, obstacles, the transfers to first-time destinations, the largest ones, the
// batches. The parts that are short there follow: the obstacles with their remedies, the transfers
// that a person must look at, the rest of the first-time destinations, and the destinations that get most.
func (p *page) large(plan *planner.Plan, o PlanOptions) {
	v := newOverview(plan, overviewOptions{firsts: largeFirsts, largest: largeTransfers, payments: true})
	isCut := p.totalsInBrief(plan)
	p.controlled(plan)
	p.signals(plan)
	p.movements(plan, true, o)
	p.obstaclesInBrief(plan)
	p.approvalsInBrief(o)
	moreFirsts := p.firstsInBrief(v, o)
	if v.toSubmit() > 0 {
		p.line(strong(v.topTitle(largeTransfers)))
		p.transferLines(v.topTransfers(largeTransfers), o)
		p.line()
	}
	const around = 2 // how many more, an empty line
	p.line(strong("Batches"))
	p.batches(v.batches, min(largeBatches, max(largeBatchLines, largeLines-p.lines-around)))
	if isCut {
		p.line(strong("Totals of all assets"))
		p.totals(plan, 0)
	}
	p.allNamed("Partial plan (--target)", plan.Header.Targets)
	_, accepted := splitAccepted(plan.Header.Accepted) // the head has every limit
	p.allNamed("Accepted", accepted)
	p.allNamed(checkedTitle, checkedAgainst(plan, o.Saved))
	p.obstacles(plan)
	p.approvalDetails(o)
	if v.attention.count > 0 {
		p.line(strong(v.attention.title()))
		p.toLookAt(v, largeAttention, o)
		p.line()
	}
	if moreFirsts {
		p.firsts(v, largeFirsts, largeBatches, o)
	}
	for _, asset := range slices.Sorted(maps.Keys(v.payments)) {
		p.destinations(asset, v.payments[asset], &plan.Changes, o)
	}
	p.line(dim(english.Plural(plan.Changes.Len(), "transfer") + ". To see all of them:"))
	p.command("", p.here(o.all()))
}

// totalsInBrief writes one line an action where all assets would take too many, and reports
// whether it left any out.
func (p *page) totalsInBrief(plan *planner.Plan) (isCut bool) {
	if totalsLines(totalsRows(plan)) <= largeTotals {
		p.totals(plan, 0)
		return false
	}
	p.totals(plan, 1)
	return true
}

// named writes a list of names that a reviewer should look at, or only its beginning.
func (p *page) named(title string, names []string, inBrief bool) {
	p.namedIn(toneDoubt, title, names, inBrief)
}

func (p *page) namedIn(tone tone, title string, names []string, inBrief bool) {
	if len(names) == 0 {
		return
	}
	between := ", "
	if title == readTitle { // clauses, some with commas of their own
		between = "; "
	}
	text := strings.Join(names, between)
	if inBrief {
		text = cutEnd(Visible(some(names, 0)), 2*p.width()-displayWidth(title)-12)
	}
	p.paragraph("", title+": "+Visible(text), tone)
}

// allNamed writes a list of the head whole, where the head had only its beginning.
func (p *page) allNamed(title string, names []string) {
	if len(names) > someMost {
		p.paragraph("", Visible(title+": "+strings.Join(names, ", ")), toneDoubt)
		p.line()
	}
}

// obstaclesInBrief writes a line for each kind of obstacle.
func (p *page) obstaclesInBrief(plan *planner.Plan) {
	if plan.Applicable() {
		return
	}
	p.line(span{notApplicable, toneBad})
	kinds := obstacleKinds(plan)
	for _, o := range kinds[:min(len(kinds), largeObstacles)] {
		kind := "  " + cutEnd(Visible(string(o.Kind)), 20)
		text := ": " + firstSentence(o.Detail)
		if len(o.RefIDs) > 0 {
			text = obstacleScope(o)
		}
		p.line(span{kind, toneBad}, plain(cutEnd(Visible(text), max(20, p.width()-displayWidth(kind)))))
	}
	if more := len(kinds) - largeObstacles; more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more kinds", more)))
	}
	p.line()
}

// obstacleKinds are the obstacles with those of one kind put together: the first's words, and
// the transfers of all.
func obstacleKinds(plan *planner.Plan) []planner.Obstacle {
	var kinds []planner.Obstacle
	at := make(map[planner.ObstacleKind]int)
	for _, o := range plan.Obstacles {
		o.Count = max(o.Count, len(o.RefIDs))
		if i, ok := at[o.Kind]; ok {
			kinds[i].Count += o.Count
			continue
		}
		at[o.Kind] = len(kinds)
		kinds = append(kinds, o)
	}
	return kinds
}

// transferLines writes a line for each of a few transfers to submit. The destinations' IDs are
// whole where a line has room for them.
func (p *page) transferLines(top []planner.Change, o PlanOptions) {
	var amount point
	ref, asset := 0, 0
	for i := range top {
		amount.fit(p.amount(top[i].Request.Amount, top[i].Request.Asset))
		ref = max(ref, displayWidth(top[i].RefID))
		asset = max(asset, displayWidth(top[i].Request.Asset))
	}
	asset = min(asset, 12)
	const idWidth, refMin = 36, 14
	room := p.width() - 2 - amount.width() - 1 - asset - 2 - len("  -> ") - len(firstMark)
	ref = min(ref, max(refMin, room-idWidth))
	for i := range top {
		c := &top[i]
		to := payee(c, c.Request).show(shapeWhole, o.Names)
		if displayWidth(to) > room-ref {
			to = payee(c, c.Request).show(shapeWhole, nil)
		}
		to = cutMiddle(to, max(20, room-ref))
		if slices.ContainsFunc(c.Signals, isFirst) {
			to += firstMark
		}
		p.line(plain("  "+amount.align(p.amount(c.Request.Amount, c.Request.Asset))+" "+pad(cutEnd(Visible(c.Request.Asset), asset), asset)),
			plain("  "+pad(cutMiddle(Visible(c.RefID), ref), ref)), plain("  -> "+to))
	}
}

// batches writes the sums of each batch and action, batches in declaration order, in so many
// lines at most.
func (p *page) batches(all batchSums, most int) {
	var rows []totalsRow
	shown, lines := 0, 0
	for _, name := range all.names {
		of := all.rows(name)
		if lines += totalsLines(of); shown > 0 && lines > most {
			break
		}
		rows = append(rows, of...)
		shown++
	}
	p.totalsTable(rows, 0)
	if more := len(all.names) - shown; more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more", more)))
	}
	p.line()
}

// rows are the lines of one batch in a table of totals.
func (b *batchSums) rows(name string) []totalsRow {
	label := plain(cutMiddle(Visible(name), 40))
	if name == "" {
		label = dim("(no batch)")
	}
	var rows []totalsRow
	for _, a := range listed() {
		if totals := b.of[name][a]; totals != nil {
			rows = append(rows, totalsRow{[]span{label, {a.Symbol(), actionTone(a)}, plain(string(a))}, totals})
			label = plain("")
		}
	}
	return rows
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
	p.line(strong("Largest of " + english.Plural(all, "destination") + " in " + asset))
	var numbers point
	for _, d := range top {
		numbers.fit(p.money(d.sum, asset))
	}
	var rows [][]span
	for _, d := range top {
		c := changes.At(int(d.number))
		rows = append(rows, []span{
			plain(numbers.align(p.money(d.sum, asset))), plain(asset), dim(english.Plural(d.count, "transfer")),
			plain("-> " + payee(&c, c.Request).show(shapeWhole, o.Names)),
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
