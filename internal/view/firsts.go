package view

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/planner"
)

// How many transfers to first-time destinations a plan lists beside its lines.
const (
	largeFirsts    = linesMax
	largeFirstsMin = 5 // at most, where the first 40 lines have no room for all
	markdownFirsts = 20
	firstsAssets   = 2 // sums of the rest, in the first 40 lines
)

// everyFirst stands in the place of a list of all transfers.
const everyFirst = "Every transfer to submit pays a first-time destination."

// isEachFirst reports whether that is so, as in the first plan ever.
func (v *overview) isEachFirst() bool {
	return v.firstsAll.Count() > 0 && v.firstsAll.Count() == v.toSubmit()
}

// firstsTitle counts the transfers to first-time destinations.
func (v *overview) firstsTitle() string {
	return "First-time destinations: " + english.Plural(v.firstsAll.Count(), "transfer")
}

// topFirsts are the largest transfers of each asset to first-time destinations, at most so many in all, without
// those that a page lists elsewhere. No asset takes the room of another.
func (v *overview) topFirsts(most int, elsewhere []planner.Change) []planner.Change {
	assets := slices.Sorted(maps.Keys(v.firsts))
	lists, counts := make([][]payment, len(assets)), make([]int, len(assets))
	for i, asset := range assets {
		lists[i] = slices.DeleteFunc(slices.Clone(v.firsts[asset]), func(of payment) bool {
			c := v.changes.At(int(of.number))
			return slices.ContainsFunc(elsewhere, func(other planner.Change) bool { return other.RefID == c.RefID })
		})
		counts[i] = len(lists[i])
	}
	var top []planner.Change
	for i, share := range fairShares(counts, most) {
		for _, of := range lists[i][:share] {
			top = append(top, v.changes.At(int(of.number)))
		}
	}
	return top
}

// fairShares divide room among lists of so many lines: none gets more than its lines, and none gets more than one
// more than another that wants more.
func fairShares(counts []int, room int) []int {
	shares := make([]int, len(counts))
	for isGiven := true; isGiven && room > 0; {
		isGiven = false
		for i := range counts {
			if room > 0 && shares[i] < counts[i] {
				shares[i]++
				room--
				isGiven = true
			}
		}
	}
	return shares
}

// firstsBeyond counts the transfers to first-time destinations that are in none of these lists, with the sums of so
// many assets at most; "" for none.
func (v *overview) firstsBeyond(s Screen, assets int, lists ...[]planner.Change) string {
	var others transfer.Totals
	others.Merge(v.firstsAll)
	for _, list := range lists {
		for i := range list {
			if slices.ContainsFunc(list[i].Signals, isFirst) {
				others.Remove(list[i].Request.Asset, list[i].Request.Amount)
			}
		}
	}
	if others.Count() == 0 {
		return ""
	}
	var sums []string
	for total := range others.All() {
		sums = append(sums, total.Asset+" "+s.money(total.Sum, total.Asset))
	}
	noun := " others, "
	if others.Count() == 1 {
		noun = " other, "
	}
	text := "and " + strconv.Itoa(others.Count()) + noun + strings.Join(sums[:min(len(sums), assets)], ", ")
	if more := len(sums) - assets; more > 0 {
		text += " and " + english.Plural(more, "more asset")
	}
	return text
}

// firstsInBrief lists transfers to first-time destinations within the first 40 lines of a summary, and says whether
// some are only counted there.
func (p *page) firstsInBrief(v *overview, o PlanOptions) (isCut bool) {
	const around = 3                                               // lines: its title, a count of the rest, an empty one
	const after = 1 + largeTransfers + 1 + 1 + largeBatchLines + 1 // lines that follow there
	all, room := v.firstsAll.Count(), largeLines-p.lines-around-after
	switch {
	case all == 0:
		return false
	case v.isEachFirst():
		p.line(plain(everyFirst))
		p.line()
		return false
	case all <= room:
		p.firsts(v, all, firstsAssets, o)
		return false
	case room > 0:
		p.firsts(v, min(room, largeFirstsMin), firstsAssets, o)
	}
	return true // their count alone is among the signals
}

// firsts lists transfers to first-time destinations, and sums up the rest in so many assets.
func (p *page) firsts(v *overview, most, assets int, o PlanOptions) {
	title, listed := v.firstsTitle(), v.topFirsts(most, nil)
	rest := v.firstsBeyond(p.Screen, assets, listed)
	if rest != "" {
		title += ", the largest of them"
	}
	p.line(strong(title))
	p.transferLines(listed, o)
	if rest != "" {
		p.paragraph("  ", Visible(rest), toneDim)
	}
	p.line()
}

// firsts lists transfers to first-time destinations, which a reader sees without opening anything.
func (m *markdown) firsts(v *overview) {
	switch {
	case v.firstsAll.Count() == 0:
	case !v.isEachFirst():
		m.printf("%s", codeBlock(m.lines(func(p *page) { p.firsts(v, markdownFirsts, markdownTotals, m.options) }), markdownSection))
	case m.plan.Changes.Len() > markdownTransfers: // of fewer, their count says it
		m.printf("%s\n\n", everyFirst)
	}
}
