package view

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/reconcile"
	"remit/internal/accounts/report"
	"remit/internal/text/shell"
)

// reconciliation says what the state itself knows of how well the service's records prove it.
func (h *htmlReport) reconciliation() {
	h.put("<section>\n<h2>Reconciliation</h2>\n")
	if h.o.Reconciled != nil {
		h.reconciled()
		return
	}
	paid := h.r.Totals[report.Paid]
	if paid.Count() == 0 {
		h.put("<p>There is nothing to reconcile.</p>\n</section>\n")
		return
	}
	h.put("<p>Each paid transfer has a record of the service that was compared with what was asked when it came. %. "+
		"The service's export of records shows whether it says the same today:</p>\n<p class=\"command\"><code>%</code></p>\n</section>\n",
		sidesText(h.r.BothSides, paid.Count()-h.r.BothSides), h.reconcileCommand())
}

// sidesText says of how many transfers the state has both sides, and of how many one.
func sidesText(both, debits int) string {
	has := func(n int) string { return map[bool]string{true: "has", false: "have"}[n == 1] }
	switch {
	case debits == 0:
		return fmt.Sprintf("%d %s both records, debit and credit", both, has(both))
	case both == 0:
		return fmt.Sprintf("%d %s only the debit record", debits, has(debits))
	}
	return fmt.Sprintf("%d %s both records, debit and credit; %d %s only the debit record", both, has(both), debits, has(debits))
}

// reconciled says how the period compares with the service's export.
func (h *htmlReport) reconciled() {
	s := h.o.Reconciled
	said := reconciledVerdict(s)
	h.put("<p class=\"%\"><strong>%</strong></p>\n<dl>\n", said.tone.class(), said.text)
	for _, f := range reconciledAbout(s, ReconciliationOptions{Screen: h.o.Screen, Meta: h.r.Meta, Files: h.o.Files}) {
		if f.value != "" {
			h.put("<dt>%</dt><dd>%</dd>\n", f.name, f.value)
		}
	}
	h.put("</dl>\n")
	for _, note := range reconciledNotes(s, statusWord) {
		h.put("<p class=\"doubt\">%</p>\n", note)
	}
	if len(s.Assets) > 0 {
		h.put("<h3>Debits and credits at the service</h3>\n")
		h.bothSides()
	}
	if lists := reconciledLists(s); len(lists) > 0 {
		h.put("<h3>Not matched</h3>\n")
		t := h.table("narrow fit", "", column{title: "Finding"}, column{title: "Transfers", isNumber: true})
		for _, list := range lists {
			t.row()
			t.headOf(func() { h.put("<span class=\"%\">%</span>", list.tone.class(), list.title) })
			t.count(list.count)
		}
		t.end()
		h.put("<p>Each of them, and what to do:</p>\n<p class=\"command\"><code>%</code></p>\n", h.reconcileCommand())
	}
	h.put("</section>\n")
}

// bothSides writes what the service debited and credited, beside what the state has.
func (h *htmlReport) bothSides() {
	t := h.table("stack", "", column{title: "Asset"}, column{title: "State", isNumber: true}, column{title: "Debits", isNumber: true}, column{title: "Credits", isNumber: true}, column{title: "Debits less state", isNumber: true})
	sums := func(a reconcile.AssetTotals) []decimal.Decimal {
		return []decimal.Decimal{a.State.Sum, a.Debits.Sum, a.Credits.Sum, a.Difference()}
	}
	most := 0
	for _, a := range h.o.Reconciled.Assets {
		for _, d := range sums(a) {
			most = max(most, places(h.o.money(d, a.Asset)))
		}
	}
	for _, a := range h.o.Reconciled.Assets {
		t.row()
		t.head(a.Asset)
		for _, d := range sums(a) {
			t.number(h.o.money(d, a.Asset), most)
		}
	}
	t.end()
}

// reconcileCommand is the one that lists the mismatches.
func (h *htmlReport) reconcileCommand() string {
	files := "export.jsonl"
	if len(h.o.Files) > 0 {
		var names []string
		for _, file := range h.o.Files {
			names = append(names, shell.File(file.Name))
		}
		files = strings.Join(names, " ")
	}
	return h.o.here("remit reconcile " + files + " --from=" + h.day(h.r.Period.From) + " --until=" + h.day(h.last()) + " --timezone=" + h.r.Period.Zone.String())
}
