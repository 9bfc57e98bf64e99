package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/planner"
)

// How many net movements a face lists.
const (
	movementLines    = 5 // of the terminal and Markdown, where no asset lacks one
	movementBrief    = 2 // of a summary
	movementRows     = 50
	movementsWritten = 1000 // for programs
	movementSums     = 2    // assets of what a summary folds
)

// netMovement is what one profile pays and gets of one asset if a plan were applied.
type netMovement struct {
	profileID, asset string
	out, in          transfer.Totals
}

func (m *netMovement) net() decimal.Decimal { return m.in.Sum(m.asset).Sub(m.out.Sum(m.asset)) }

// netMovements are those of the profiles that pay, by asset, the one that loses most first: a
// profile that only receives is in the list of transfers. Doubts count with recorded transfers. A profile whose ID is written
// in several ways has one line, under the usual spelling of it.
func netMovements(plan *planner.Plan) []*netMovement {
	type key struct{ profileID, asset string }
	of := make(map[key]*netMovement)
	var all []*netMovement
	each := func(do func(r *transfer.Request, asset string)) {
		for _, c := range plan.Changes.Movements() {
			if c.Action == planner.Submit || c.Action == planner.Resolve {
				r := moved(c)
				do(&r, transfer.AssetSpelled(r.Asset))
			}
		}
	}
	each(func(r *transfer.Request, asset string) {
		spelled := transfer.PartySpelled(r.FromProfileID)
		k := key{spelled, asset}
		m := of[k]
		if m == nil {
			m = &netMovement{profileID: r.FromProfileID, asset: asset}
			of[k] = m
			all = append(all, m)
		}
		if m.profileID != r.FromProfileID {
			m.profileID = spelled
		}
		m.out.Add(asset, r.Amount)
	})
	each(func(r *transfer.Request, asset string) {
		if m := of[key{transfer.PartySpelled(r.ToProfileID), asset}]; m != nil {
			m.in.Add(asset, r.Amount)
		}
	})
	slices.SortStableFunc(all, func(a, b *netMovement) int {
		return cmp.Or(cmp.Compare(a.asset, b.asset), a.net().Cmp(b.net()))
	})
	return all
}

// largestMovements are at most so many of all, which are by asset: those that lose most of each asset, in the same order.
// The others are folded.
func largestMovements(all []*netMovement, most int) (listed, folded []*netMovement) {
	var assets [][]*netMovement
	var sizes []int
	for i, m := range all {
		if i == 0 || m.asset != all[i-1].asset {
			assets, sizes = append(assets, nil), append(sizes, 0)
		}
		last := len(assets) - 1
		assets[last] = append(assets[last], m)
		sizes[last]++
	}
	for i, keep := range deal(sizes, most) {
		listed = append(listed, assets[i][:keep]...)
		folded = append(folded, assets[i][keep:]...)
	}
	return listed, folded
}

// foldedMovements counts movements that are not listed, and says what they come to, in at most so many assets.
func (s Screen) foldedMovements(folded []*netMovement, assetsMax int) string {
	var totals transfer.Totals
	for _, m := range folded {
		totals.AddTotal(transfer.Total{Asset: m.asset, Count: 1, Sum: m.net()})
	}
	var parts []string
	for total := range totals.All() {
		parts = append(parts, Visible(total.Asset)+" "+s.money(total.Sum, total.Asset))
	}
	text := fmt.Sprintf("and %d more: ", len(folded)) + strings.Join(parts[:min(len(parts), assetsMax)], ", ")
	if more := len(parts) - assetsMax; more > 0 {
		text += " and " + english.Plural(more, "more asset")
	}
	return text
}

// movements writes the net movement of the profiles that pay: those that lose most of each asset, unless all are asked for,
// and what the others come to.
func (p *page) movements(plan *planner.Plan, inBrief bool, o PlanOptions) {
	all := netMovements(plan)
	if len(all) == 0 {
		return
	}
	most, assets := movementLines, len(all)
	switch {
	case o.ShowAll:
		most = len(all)
	case inBrief:
		most, assets = movementBrief, movementSums
	default:
		most = max(most, countAssets(all))
	}
	listed, folded := largestMovements(all, most)
	ids := make(map[string]bool)
	var numbers point
	for _, m := range listed {
		ids[m.profileID] = true
		numbers.fit(p.money(m.net(), m.asset))
	}
	s := shapeOf(ids, shapeHead)
	rows := make([][]span, 0, len(listed))
	for i, m := range listed {
		label := ""
		if i == 0 {
			label = "Net movement"
		}
		rows = append(rows, []span{
			plain(label), plain(party{profile: m.profileID}.show(s, o.Names)), plain(cutEnd(Visible(m.asset), 12)), strong(numbers.align(p.money(m.net(), m.asset))),
		})
	}
	p.table("  ", rows)
	if len(folded) > 0 {
		text := p.foldedMovements(folded, assets)
		if !inBrief { // a summary names the command at its end
			text += ". To see all of them:"
		}
		p.paragraph("  ", text, toneDim)
		if !inBrief {
			p.command("  ", p.here(o.all()))
		}
	}
	p.line()
}

// countAssets counts the assets of movements that are by asset.
func countAssets(all []*netMovement) int {
	n := 0
	for i, m := range all {
		if i == 0 || m.asset != all[i-1].asset {
			n++
		}
	}
	return n
}

// movements writes the net movement of the profiles that pay.
func (h *htmlPlan) movements() {
	all := netMovements(h.plan)
	if len(all) == 0 {
		return
	}
	h.put("<section>\n<h2>Net movement</h2>\n")
	t := h.table("narrow stack", "Net change per paying profile", column{title: "Profile"}, column{title: "Asset"},
		column{title: "Out", isNumber: true}, column{title: "In", isNumber: true}, column{title: "Net", isNumber: true})
	numbers := func(m *netMovement) []string {
		return []string{h.options.money(m.out.Sum(m.asset), m.asset), h.options.money(m.in.Sum(m.asset), m.asset), h.options.money(m.net(), m.asset)}
	}
	shown, folded := largestMovements(all, max(movementRows, countAssets(all)))
	most := 0
	for i := range shown {
		for _, number := range numbers(shown[i]) {
			most = max(most, places(number))
		}
	}
	for i := range shown {
		t.row()
		t.headOf(func() { h.party(party{profile: shown[i].profileID}, h.options.Names) })
		t.cell(shown[i].asset)
		for _, number := range numbers(shown[i]) {
			t.number(number, most)
		}
	}
	t.end()
	if len(folded) > 0 {
		h.put("<p>%</p>\n", h.options.foldedMovements(folded, len(folded)))
	}
	h.put("</section>\n")
}

// movementLine is the net movement of one profile and asset.
type movementLine struct {
	ProfileID string `json:"profile_id"`
	Asset     string `json:"asset"`
	Out       string `json:"out"`
	In        string `json:"in"`
	Net       string `json:"net"`
}

func movementLinesOf(plan *planner.Plan) []movementLine {
	listed, _ := largestMovements(netMovements(plan), movementsWritten)
	lines := make([]movementLine, 0, len(listed))
	for _, m := range listed {
		lines = append(lines, movementLine{m.profileID, m.asset, sum(m.out.Sum(m.asset)), sum(m.in.Sum(m.asset)), sum(m.net())})
	}
	return lines
}
