package view

import (
	"io"
	"strconv"

	"remit/internal/accounts/reconcile"
	"remit/planner"
)

// ReconciliationHTML writes what came of a reconciliation as a page like that of [PlanHTML]: it
// loads nothing, and can be printed. It has every line that the summary lists. It returns only
// errors of w.
func ReconciliationHTML(w io.Writer, s *reconcile.Summary, o ReconciliationOptions) error {
	h := &htmlReconciliation{newHTMLPage(w), s, o}
	h.begin("Reconciliation of "+o.Meta.Environment, htmlStyle, htmlScript)
	h.head()
	h.put("<main>\n")
	h.totals()
	for _, list := range reconciledLists(s) {
		h.list(list)
	}
	h.put("</main>\n<footer><p>%</p></footer>\n", reconciledVerdict(s).text)
	return h.end(htmlScript)
}

// htmlReconciliation is the page of one reconciliation.
type htmlReconciliation struct {
	htmlPage
	summary *reconcile.Summary
	options ReconciliationOptions
}

func (h *htmlReconciliation) head() {
	meta := h.options.Meta
	h.put("<header>\n")
	if meta.Service.IsSandbox() {
		h.put("<p class=\"environment good\">SANDBOX: no money moves</p>\n")
	} else {
		h.put("<p class=\"environment\">Environment: <strong>%</strong> (%)</p>\n", meta.Environment, serviceName(planner.Header{Service: meta.Service}))
	}
	said := reconciledVerdict(h.summary)
	h.put("<h1>Reconciliation</h1>\n<p class=\"%\"><strong>%</strong></p>\n<dl>\n", said.tone.class(), said.text)
	for _, f := range reconciledAbout(h.summary, h.options) {
		if f.value != "" {
			h.put("<dt>%</dt><dd>%</dd>\n", f.name, f.value)
		}
	}
	h.put("</dl>\n")
	for _, note := range reconciledNotes(h.summary) {
		h.put("<p class=\"doubt\">%</p>\n", note)
	}
	h.put("</header>\n")
}

func (h *htmlReconciliation) totals() {
	h.put("<section>\n<h2>Totals</h2>\n<div class=\"wide\">\n<table>\n<caption>Count and sum of each asset</caption>\n<thead><tr><th scope=\"col\">Asset</th>")
	for _, column := range []string{"State", "", "Debits", "", "Credits", "", "Debits - state"} {
		h.put("<th scope=\"col\" class=\"number\">%</th>", column)
	}
	h.put("</tr></thead>\n<tbody>\n")
	for _, a := range h.summary.Assets {
		h.put("<tr><th scope=\"row\">%</th>", a.Asset)
		for _, cell := range []string{
			strconv.Itoa(a.State.Count), h.options.money(a.State.Sum, a.Asset), strconv.Itoa(a.Debits.Count), h.options.money(a.Debits.Sum, a.Asset),
			strconv.Itoa(a.Credits.Count), h.options.money(a.Credits.Sum, a.Asset),
		} {
			h.put("<td class=\"number\">%</td>", cell)
		}
		class := ""
		if !a.Difference().IsZero() {
			class = "bad"
		}
		h.put("<td class=\"number %\">%</td></tr>\n", class, h.options.money(a.Difference(), a.Asset))
	}
	h.put("</tbody>\n</table>\n</div>\n<table>\n<caption>Transfers by result</caption>\n<tbody>\n")
	for _, row := range []struct {
		name  string
		count int
	}{{"matched", h.summary.Matched}, {"accepted by hand", h.summary.Accepted}, {"not matched", h.summary.Differ}} {
		h.put("<tr><th scope=\"row\">%</th><td class=\"number\">%</td></tr>\n", row.name, strconv.Itoa(row.count))
	}
	h.put("</tbody>\n</table>\n</section>\n")
}

func (h *htmlReconciliation) list(list reconciledList) {
	h.put("<section class=\"all\">\n<h2 class=\"%\">%: %</h2>\n", list.tone.class(), list.title, strconv.Itoa(list.count))
	h.put("<div class=\"wide\">\n<table>\n<caption>%</caption>\n<thead><tr><th scope=\"col\">ref_id</th><th scope=\"col\" class=\"number\">Amount</th>", list.title)
	h.put("<th scope=\"col\">Asset</th><th scope=\"col\">group_id</th><th scope=\"col\">Finding</th></tr></thead>\n<tbody>\n")
	for i := range list.lines {
		l := &list.lines[i]
		h.put("<tr><th scope=\"row\">%</th><td class=\"number\">%</td><td>%</td><td><code>%</code></td><td>", l.RefID, h.options.Scales.Shown(l.Amount, l.Asset), l.Asset, l.GroupID)
		for _, fact := range reconciledFacts(l, h.options.Scales.Shown) {
			h.put("<p>%</p>", fact)
		}
		if l.Next != "" {
			h.put("<p class=\"command\"><code>%</code></p>", h.options.here(l.Next))
		}
		h.put("</td></tr>\n")
	}
	h.put("</tbody>\n</table>\n</div>\n")
	if more := list.count - len(list.lines); more > 0 {
		h.put("<p>and % more, which --csv and --json have</p>\n", strconv.Itoa(more))
	}
	h.put("</section>\n")
}
