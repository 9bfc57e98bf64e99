package view

import (
	"io"
	"slices"
	"strconv"

	"remit/executor"
	"remit/internal/transfer"
)

// PastHTML writes a run of the journal as a page like that of [PlanHTML]: it loads nothing, can
// be read without its script, and has every transfer. It returns only errors of w.
func PastHTML(w io.Writer, past *executor.PastRun, o PastOptions) error {
	h := &htmlPast{newHTMLPage(w), newPastRun(past, o), recordStatuses(past)}
	h.begin("Run "+past.Run.Begun.RunID+" in "+o.Meta.Environment, htmlStyle, htmlScript)
	h.head()
	h.put("<main>\n")
	h.exceptions()
	h.outcomes()
	h.transfers()
	h.put("</main>\n")
	h.put("<footer><p>%</p></footer>\n", h.run.title())
	return h.end(htmlScript)
}

// htmlPast is the page of one past run.
type htmlPast struct {
	htmlPage
	run      *pastRun
	statuses []transfer.RecordStatus // that occur
}

// recordStatuses are the service's own statuses that occur, in the order of the journal.
func recordStatuses(past *executor.PastRun) []transfer.RecordStatus {
	const most = 20 // the service has three
	var all []transfer.RecordStatus
	for i := range past.Lines {
		s := past.Lines[i].RecordStatus
		if s != "" && len(all) < most && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func (h *htmlPast) head() {
	h.put("<header>\n")
	if h.run.isSandbox() {
		h.put("<p class=\"environment good\">SANDBOX: no money moves</p>\n")
	} else {
		h.put("<p class=\"environment\">Environment: <strong>%</strong> (%)</p>\n", h.run.Meta.Environment, h.run.service())
	}
	said := h.run.ending()
	h.put("<h1>%</h1>\n<p class=\"%\">%</p>\n<dl>\n", h.run.title(), said.tone.class(), said.text)
	for _, f := range h.run.about() {
		if f.value != "" {
			h.put("<dt>%</dt><dd>%</dd>\n", f.name, f.value)
		}
	}
	h.named("accepted", h.run.Run.Begun.Accepted)
	h.put("</dl>\n</header>\n")
}

// exceptions stand first: what a person has to look at.
func (h *htmlPast) exceptions() {
	byResult := h.run.exceptions()
	if len(byResult) == 0 {
		return
	}
	h.put("<section class=\"obstacles\">\n<h2>Exceptions: what was neither recorded nor adopted</h2>\n")
	for _, result := range executor.Results() {
		events := byResult[result]
		if len(events) == 0 {
			continue
		}
		h.put("<h3>%: %</h3>\n", resultWord(result), plural(len(events), "transfer"))
		causes := causesOf(events)
		shared := len(causes) == 1 && len(events) > 1
		if shared {
			causes[0].first.Next = causes[0].next()
			h.reason(&causes[0].first)
		}
		h.put("<ul>\n")
		for i := range events[:min(len(events), htmlObstacles)] {
			e := &events[i]
			h.put("<li><p><code>%</code> % %</p>", e.RefID, h.run.amount(e.Amount, e.Asset), e.Asset)
			if !shared {
				h.reason(e)
			}
			h.put("</li>\n")
		}
		h.put("</ul>\n")
		if more := len(events) - htmlObstacles; more > 0 {
			h.put("<p>and % more, in the table of all transfers</p>\n", strconv.Itoa(more))
		}
	}
	h.put("</section>\n")
}

// reason writes why, and what to type.
func (h *htmlPast) reason(e *executor.Event) {
	if e.Reason != "" {
		h.put("<p>%</p>", e.Reason)
	}
	if e.Next != "" {
		h.put("<p class=\"command\"><code>%</code></p>", h.run.here(e.Next))
	}
}

func (h *htmlPast) outcomes() {
	h.put("<section>\n<h2>Outcomes</h2>\n<table>\n<caption>Count and sum of each result</caption>\n")
	h.put("<thead><tr><th scope=\"col\">Result</th><th scope=\"col\" class=\"number\">Count</th><th scope=\"col\">Asset</th><th scope=\"col\" class=\"number\">Sum</th></tr></thead>\n")
	for _, r := range h.run.rows {
		h.put("<tbody>\n")
		h.outcome(r)
		h.put("</tbody>\n")
	}
	h.put("</table>\n")
	if text := h.run.unlistedText(); text != "" {
		h.put("<p>%</p>\n", text)
	}
	h.put("</section>\n")
}

// outcome writes a row for each asset of one result, under the same heads.
func (h *htmlPast) outcome(r pastRow) {
	lines := "1"
	if r.totals != nil {
		lines = strconv.Itoa(totalsLines([]totalsRow{{totals: r.totals}}))
	}
	h.put("<tr><th scope=\"rowgroup\" rowspan=\"%\"><span class=\"%\">%</span></th>", lines, resultTone(r.result).class(), resultWord(r.result))
	h.put("<td class=\"number\" rowspan=\"%\">%</td>", lines, strconv.Itoa(r.count))
	if r.totals == nil {
		h.put("<td></td><td></td></tr>\n")
		return
	}
	start := ""
	for total := range r.totals.All() {
		h.put(start)
		h.put("<td>%</td><td class=\"number\">%</td></tr>\n", total.Asset, h.run.money(total.Sum, total.Asset))
		start = "<tr>"
	}
}

// transfers writes a row for each transfer, and what the script needs to filter them: it is
// the table of a plan, with results for actions and the service's statuses for signals.
func (h *htmlPast) transfers() {
	if len(h.run.Lines) == 0 {
		return
	}
	h.put("<section class=\"all\">\n<h2 id=\"transfers\">Transfers</h2>\n")
	h.filters()
	h.put("<p id=\"shown\" role=\"status\">%</p>\n", plural(len(h.run.Lines), "transfer"))
	h.put("<div class=\"wide\" role=\"region\" aria-labelledby=\"transfers\" tabindex=\"0\">\n<table id=\"all\" role=\"table\">\n<caption>Every transfer of which the run wrote something, in that order</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">")
	for _, column := range []string{"Result", "ref_id", "Batch", "From", "To", "Amount", "Asset", "Record and reasons", "Declared at"} {
		h.put("<th scope=\"col\" role=\"columnheader\">%</th>", column)
	}
	h.put("</tr></thead>\n<tbody role=\"rowgroup\">\n")
	for i := range h.run.Lines {
		h.line(&h.run.Lines[i])
	}
	h.put("</tbody>\n</table>\n</div>\n</section>\n")
}

func (h *htmlPast) filters() {
	h.put("<form id=\"filters\" hidden>\n<p><label for=\"text\">Text</label> <input id=\"text\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></p>\n")
	h.put("<p><label for=\"action\">Result</label> <select id=\"action\"><option value=\"\">all</option>")
	for _, r := range h.run.rows {
		if r.totals != nil {
			h.put("<option value=\"%\">%</option>", string(r.result), resultWord(r.result))
		}
	}
	h.put("</select></p>\n<p><label for=\"signal\">Service's status</label> <select id=\"signal\"><option value=\"\">all</option>")
	for i, s := range h.statuses {
		h.put("<option value=\"%\">%</option>", strconv.Itoa(i), string(s))
	}
	h.put("</select></p>\n<p><button type=\"reset\">Show all</button></p>\n</form>\n")
}

// line writes the row of a transfer, with the roles that those of a plan have.
func (h *htmlPast) line(l *executor.PastLine) {
	const cell, next = "<td role=\"cell\">", "</td><td role=\"cell\">"
	r := l.Request
	status, class := "", ""
	if n := slices.Index(h.statuses, l.RecordStatus); n >= 0 {
		status = strconv.Itoa(n)
	}
	if isException(l.Result) {
		class = "long"
	}
	h.put("<tr role=\"row\" class=\"%\" data-action=\"%\" data-signals=\"%\">", class, string(l.Result), status)
	h.put("<td role=\"cell\" class=\"%\">%</td>", resultTone(l.Result).class(), resultWord(l.Result))
	h.put("<th scope=\"row\" role=\"rowheader\">% <small>%</small></th>"+cell+"%"+next, l.RefID, string(r.Operation), l.Batch)
	h.party(sender(r), h.run.Names)
	h.put(next)
	h.party(destination(r), h.run.Names)
	h.put(next+"%"+next+"%"+next, h.run.amount(r.Amount, r.Asset), r.Asset)
	h.record(l)
	h.put(next+"%</td></tr>\n", l.Place)
}

// record is what the service has of a transfer, when the journal learned it, and why that is
// an exception.
func (h *htmlPast) record(l *executor.PastLine) {
	for _, part := range []struct{ name, value string }{{"group_id", l.GroupID}, {"id", l.RecordID}} {
		if part.value != "" {
			h.put("<p>% <code>%</code></p>", part.name, part.value)
		}
	}
	if l.RecordStatus != "" {
		h.put("<p>status <code>%</code> <small>%</small></p>", string(l.RecordStatus), momentOrNone(l.At))
	} else {
		h.put("<p><small>%</small></p>", momentOrNone(l.At))
	}
	if isException(l.Result) {
		e := h.run.exception(l)
		h.reason(&e)
	}
}
