package view

import (
	"fmt"
	"io"
	"strconv"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
)

// ReconciliationHTML writes the result of a reconciliation as a page like that of [PlanHTML]: it loads
// nothing, can be read without its script, and printed. It has every line that the summary lists. It
// returns only errors of w.
func ReconciliationHTML(w io.Writer, s *reconcile.Summary, o ReconciliationOptions) error {
	h := &htmlReconciliation{newHTMLPage(w, o.Screen), s, o}
	h.begin("reconciliation", "Reconciliation of "+o.Meta.Environment)
	h.head(h.pageHead())
	h.totals()
	lists := reconciledLists(s)
	h.listFilters(lists)
	for i, list := range lists {
		h.list(i, list)
	}
	return h.end(reconciledVerdict(s).text)
}

// htmlReconciliation is the page of one reconciliation.
type htmlReconciliation struct {
	htmlPage
	summary *reconcile.Summary
	options ReconciliationOptions
}

func (h *htmlReconciliation) pageHead() *pageHead {
	meta := h.options.Meta
	head := &pageHead{
		isSandbox: meta.Service.IsSandbox(), environment: meta.Environment, service: meta.Service,
		title: "Reconciliation", said: reconciledVerdict(h.summary), counted: "Count and sum of what the state has", none: "The state has no transfer here.",
		calm: "Nothing: the service's records and the state agree.", about: reconciledAbout(h.summary, h.options),
	}
	h.headSums(head)
	for _, list := range reconciledLists(h.summary) {
		if list.tone == toneBad {
			head.needs = append(head.needs, need{text: fmt.Sprintf("%s: %d", list.title, list.count), tone: toneBad})
		}
	}
	for _, note := range reconciledNotes(h.summary, statusWord) {
		head.needs = append(head.needs, need{text: note, tone: toneDoubt})
	}
	return head
}

// headSums are what the state has, what the service debited for it, and what of it matches.
func (h *htmlReconciliation) headSums(head *pageHead) {
	add := func(name string, t tone, of func(reconcile.AssetTotals) transfer.Total) {
		totals := new(transfer.Totals)
		for _, a := range h.summary.Assets {
			total := of(a)
			total.Asset = a.Asset
			totals.AddTotal(total)
		}
		if totals.Count() > 0 {
			head.sums = append(head.sums, totalsRow{[]span{{name, t}}, totals})
		}
	}
	add("in the state", toneNone, func(a reconcile.AssetTotals) transfer.Total { return a.State })
	add("debited at the service", toneNone, func(a reconcile.AssetTotals) transfer.Total { return a.Debits })
	add("matched", toneGood, func(a reconcile.AssetTotals) transfer.Total { return a.Matched })
}

func (h *htmlReconciliation) assetTotals(assets []reconcile.AssetTotals) {
	t := h.wideTable("Totals", "stack", "Count and sum of each asset", column{title: "Asset"}, column{title: "In the state", isNumber: true}, column{title: "Sum", isNumber: true},
		column{title: "Debits", isNumber: true}, column{title: "Sum", isNumber: true}, column{title: "Credits", isNumber: true}, column{title: "Sum", isNumber: true},
		column{title: "Debits less state", isNumber: true})
	most := 0
	for _, a := range assets {
		for _, sum := range []decimal.Decimal{a.State.Sum, a.Debits.Sum, a.Credits.Sum, a.Difference()} {
			most = max(most, places(h.options.money(sum, a.Asset)))
		}
	}
	for _, a := range assets {
		t.row()
		t.head(a.Asset)
		for _, side := range []transfer.Total{a.State, a.Debits, a.Credits} {
			t.count(side.Count)
			t.number(h.options.money(side.Sum, a.Asset), most)
		}
		class := ""
		if !a.Difference().IsZero() {
			class = "bad"
		}
		t.numberOf(class, h.options.money(a.Difference(), a.Asset), most)
	}
	t.end()
}

func (h *htmlReconciliation) totals() {
	h.put("<section>\n<h2>Totals</h2>\n")
	s := h.summary
	if len(s.Assets) > 0 {
		h.assetTotals(s.Assets)
	}
	t := h.table("narrow fit", "Transfers by result", column{title: "Result"}, column{title: "Transfers", isNumber: true})
	for _, row := range []struct {
		name  string
		count int
	}{{"matched", s.Matched}, {"accepted by hand", s.Accepted}, {"not matched", s.Differ}} {
		t.row()
		t.head(row.name)
		t.count(row.count)
	}
	t.end()
	h.put("</section>\n")
}

func (h *htmlReconciliation) listFilters(lists []reconciledList) {
	kinds := htmlFilter{id: "kind", label: "Result"}
	count := 0
	for i, list := range lists {
		count += len(list.lines)
		kinds.choices = append(kinds.choices, htmlChoice{strconv.Itoa(i), list.title})
	}
	if count > 0 {
		h.filters("Search ref_id, group_id or destination", count, "transfer", kinds)
	}
}

// list writes the transfers of one heading.
func (h *htmlReconciliation) list(number int, list reconciledList) {
	h.put("<section class=\"all\" data-group>\n<h2 class=\"%\">%: %</h2>\n", list.tone.class(), list.title, strconv.Itoa(list.count))
	t := h.wideTable(list.title, "rows stack", "", column{title: "ref_id"}, column{title: "Amount", isNumber: true}, column{title: "Asset"}, column{title: "group_id"}, column{title: "Finding"})
	most := 0
	for i := range list.lines {
		most = max(most, places(h.options.Scales.Shown(list.lines[i].Amount, list.lines[i].Asset)))
	}
	for i := range list.lines {
		l := &list.lines[i]
		t.rowOf(strconv.Itoa(number))
		t.head(l.RefID)
		t.number(h.options.Scales.Shown(l.Amount, l.Asset), most)
		t.cell(l.Asset)
		t.cellOf("", func() { h.put("<code>%</code>", l.GroupID) })
		t.cellOf("found", func() { h.facts(l) })
	}
	t.end()
	if more := list.count - len(list.lines); more > 0 {
		h.put("<p>and % more, which --csv and --json have</p>\n", strconv.Itoa(more))
	}
	h.put("</section>\n")
}

// facts writes the breaks of a transfer, and the command to type.
func (h *htmlReconciliation) facts(l *reconcile.Item) {
	for _, fact := range reconciledFacts(l, h.options.Scales.Shown) {
		h.put("<p>%</p>", fact)
	}
	if l.Next != "" {
		h.put("<p class=\"command\"><code>%</code></p>", Command(h.options.here(l.Next)))
	}
}
