package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"remit/executor"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/planner"
)

// PastHTML writes a run of the journal as a page like that of [PlanHTML]: it loads nothing, can
// be read without its script, and has every transfer. It returns only errors of w.
func PastHTML(w io.Writer, past *executor.PastRun, o PastOptions) error {
	h := &htmlPast{htmlPage: newHTMLPage(w, o.Screen), run: newPastRun(past, o), statuses: recordStatuses(past)}
	h.begin("run", "Run "+past.Run.Begun.RunID+" in "+o.Meta.Environment)
	h.head(h.pageHead())
	h.exceptions()
	h.transfers()
	return h.end(h.run.title())
}

// htmlPast is the page of one past run.
type htmlPast struct {
	htmlPage
	run      *pastRun
	statuses []transfer.RecordStatus // that occur
	rows     htmlRows
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

func (h *htmlPast) pageHead() *pageHead {
	head := &pageHead{
		isSandbox: h.run.isSandbox(), environment: h.run.Meta.Environment, service: h.run.Meta.Service,
		title: h.run.title(), said: h.run.ending(), counted: "Count and sum of each result", none: "Nothing was attempted.",
		calm: "Nothing: whatever the run attempted is recorded.", about: h.run.about(),
		lists: acceptedLists("accepted", h.run.Run.Begun.Accepted),
	}
	for _, row := range h.run.rows {
		if row.totals != nil && row.totals.Count() > 0 {
			head.sums = append(head.sums, totalsRow{[]span{{resultWord(row.result), resultTone(row.result)}}, row.totals})
		}
		if row.count > 0 && isException(row.result) {
			head.needs = append(head.needs, need{text: fmt.Sprintf("%d %s", row.count, resultWord(row.result)), tone: resultTone(row.result)})
		}
	}
	if text := h.run.unlistedText(); text != "" {
		head.sumsNote = []string{text}
	}
	if h.run.Run.Ended == nil {
		head.calm = h.run.ending().text
	}
	return head
}

// exceptions come first: the transfers that need a person.
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
		h.put("<h3>%: %</h3>\n", resultWord(result), english.Plural(len(events), "transfer"))
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
		h.put("<p class=\"command\"><code>%</code></p>", Command(h.run.here(e.Next)))
	}
}

// transfers writes a row for each transfer, and what the script needs to filter them: it is
// the table of a plan, with results for actions and the service's statuses for signals.
func (h *htmlPast) transfers() {
	if len(h.run.Lines) == 0 {
		return
	}
	h.put("<section class=\"all\">\n<h2 id=\"transfers\">Transfers</h2>\n")
	h.pastFilters()
	h.rows = htmlRows{htmlPage: h.htmlPage, names: h.run.Names}
	groups, batches := make(map[string]*rowGroup), []string(nil)
	of := make(map[string][]*executor.PastLine)
	for i := range h.run.Lines {
		l := &h.run.Lines[i]
		g := groups[l.Batch]
		if g == nil {
			g = new(rowGroup)
			groups[l.Batch], batches = g, append(batches, l.Batch)
		}
		g.add(&planner.Change{Request: l.Request, Place: l.Place})
		of[l.Batch] = append(of[l.Batch], l)
		if !l.Request.Amount.IsZero() {
			g.totals.Add(l.Request.Asset, l.Request.Amount)
		}
		h.rows.places = max(h.rows.places, places(h.run.amount(l.Request.Amount, l.Request.Asset)))
	}
	h.rows.begin("Every transfer of which the run wrote something, by batch and in that order", "Result", "Record and reasons")
	for _, batch := range batches {
		g := groups[batch]
		g.finish()
		if batch != "" {
			g.title = "Batch " + batch
		}
		h.rows.open(g)
		for _, l := range of[batch] {
			h.line(l)
		}
	}
	h.rows.end()
	h.put("</section>\n")
}

func (h *htmlPast) pastFilters() {
	results, statuses := htmlFilter{id: "action", label: "Result"}, htmlFilter{id: "signal", label: "Service's status"}
	for _, r := range h.run.rows {
		if r.totals != nil {
			results.choices = append(results.choices, htmlChoice{string(r.result), resultWord(r.result)})
		}
	}
	for i, s := range h.statuses {
		statuses.choices = append(statuses.choices, htmlChoice{strconv.Itoa(i), string(s)})
	}
	h.filters(searchLabel, len(h.run.Lines), "transfer", results, statuses)
}

// line writes the row of a transfer.
func (h *htmlPast) line(l *executor.PastLine) {
	status := ""
	if n := slices.Index(h.statuses, l.RecordStatus); n >= 0 {
		status = strconv.Itoa(n)
	}
	h.rows.write(&row{
		refID: l.RefID, batch: l.Batch, place: l.Place, request: l.Request, to: destination(l.Request),
		tone: resultTone(l.Result), word: resultWord(l.Result), kind: string(l.Result), signal: status, hasMore: isException(l.Result),
	}, func() { h.record(l) })
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
