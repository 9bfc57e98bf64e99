package view

import (
	"fmt"
	"strconv"
	"strings"

	"remit/executor"
	"remit/internal/accounts/report"
	"remit/internal/text/english"
)

// exceptionsOrder is that of the sections, those that need a person first.
func exceptionsOrder() []report.Standing {
	return []report.Standing{
		report.InDoubt, report.Conflict, report.Conversion, report.Unreadable, report.Unverified, report.Unknown,
		report.Failed, report.Refused, report.Late, report.Pending,
	}
}

// exceptions writes what a person should look at. That there is none is said as well.
func (h *htmlReport) exceptions() {
	h.put("<section>\n<h2>Exceptions</h2>\n")
	some := false
	for _, s := range exceptionsOrder() {
		if e := h.r.Exceptions[s]; e != nil {
			h.exceptionTable(s, e)
			some = true
		}
	}
	if !some {
		h.put("<p>No exceptions.</p>\n")
	}
	h.put("<p>A report has the transfers that were sent. Those that were declared and never sent, because they expired or a limit held them back, are in the status, and only while the files declare them still:</p>\n<p class=\"command\"><code>%</code></p>\n", h.o.here("remit status"))
	var older []string
	for _, s := range report.Standings() {
		if n := h.r.Older[s]; n > 0 {
			older = append(older, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(older) > 0 {
		h.put("<p class=\"doubt\">From before the period, and open still: %.</p>\n<p class=\"command\"><code>%</code></p>\n", strings.Join(older, ", "), h.o.here("remit status"))
	}
	h.put("</section>\n")
}

func (h *htmlReport) exceptionTable(s report.Standing, e *report.Exceptions) {
	title, text, command := exceptionsHead(s)
	id := "exception-" + strings.ReplaceAll(string(s), " ", "-")
	h.put("<div data-group>\n<h3 id=\"%\"><span class=\"%\">%</span>: %</h3>\n<p>%</p>\n", id, standingTone(s).class(), title, h.o.controlText(&e.Totals), text)
	if command != "" {
		h.put("<p class=\"command\"><code>%</code></p>\n", h.o.here(command))
	}
	h.exceptionLines(title, s, e)
	if more := e.Totals.Count() - len(e.Lines); more > 0 {
		h.put("<p>and % more. To see them:</p>\n<p class=\"command\"><code>%</code></p>\n", strconv.Itoa(more), h.o.here("remit state list"))
	}
	h.put("</div>\n")
}

func (h *htmlReport) exceptionLines(title string, s report.Standing, e *report.Exceptions) {
	when := "Made"
	switch s {
	case report.InDoubt, report.Conflict, report.Refused:
		when = "Tried"
	case report.Paid, report.Pending, report.Unknown, report.Unverified, report.Conversion, report.Unreadable, report.Failed, report.NotMade, report.Late:
	}
	t := h.wideTable(title, "rows stack", "", column{title: "ref_id"}, column{title: when}, column{title: "To"}, column{title: "Amount", isNumber: true}, column{title: "Asset"}, column{title: "Why"})
	most := 0
	for i := range e.Lines {
		most = max(most, places(h.o.money(e.Lines[i].Amount, e.Lines[i].Asset)))
	}
	for i := range e.Lines {
		l := &e.Lines[i]
		t.row()
		t.headOf(func() {
			h.put("%", l.RefID)
			if l.Batch != "" {
				h.put(" <small>%</small>", l.Batch)
			}
		})
		t.cellOf("nowrap", func() { h.put("%", h.moment(l.At)) })
		t.cellOf("", func() {
			if l.To.ProfileID != "" {
				h.party(party{profile: l.To.ProfileID, identity: l.To.IdentityID, account: l.To.AccountID}, h.o.Names)
			}
		})
		t.number(h.o.money(l.Amount, l.Asset), most)
		t.cell(l.Asset)
		t.cell(h.why(s, l))
	}
	t.end()
}

// why is the reason of an exception.
func (h *htmlReport) why(s report.Standing, l *report.Exception) string {
	if s == report.Late {
		return "due " + l.Due.In(h.r.Period.Zone).Format("2006-01-02 15:04 Z07:00")
	}
	return l.Reason
}

// runs writes who sent what, and who approved it.
func (h *htmlReport) runs() {
	h.put("<section>\n<h2>Runs and approvals</h2>\n")
	if h.r.RunCount == 0 {
		h.put("<p>No run began in the period.</p>\n</section>\n")
		return
	}
	h.put("<p>%", english.Plural(h.r.RunCount, "run"))
	if h.r.Unapproved > 0 {
		h.put(", of which % recorded something and carried no approval of a second person", strconv.Itoa(h.r.Unapproved))
	}
	h.put(". Each signature was checked when the run began; an author without (signed) is self-declared.</p>\n")
	t := h.wideTable("Runs", "rows stack runs", "Runs that began in the period, the newest first", column{title: "Begun"}, column{title: "Run"}, column{title: "By"}, column{title: "Author"}, column{title: "Approved by"}, column{title: "Outcome"})
	for i := range h.r.Runs {
		h.runRow(t, &h.r.Runs[i])
	}
	t.end()
	if more := h.r.RunCount - len(h.r.Runs); more > 0 {
		h.put("<p>and % older ones. To see them:</p>\n<p class=\"command\"><code>%</code></p>\n", strconv.Itoa(more), h.o.here("remit audit log"))
	}
	h.put("</section>\n")
}

func (h *htmlReport) runRow(t *htmlTable, r *report.Run) {
	b := r.Begun
	t.row()
	t.cellOf("nowrap", func() { h.put("%", h.moment(r.BegunAt)) })
	t.headOf(func() {
		h.put("<code>%</code>", b.RunID[:min(len(b.RunID), 8)])
		if b.Digest != "" {
			h.put(" <small>digest %</small>", b.Digest[:min(len(b.Digest), digestShort)])
		}
	})
	t.cellOf("", func() { h.put("% on % <small>%</small>", b.By.User, b.By.Host, b.By.Command) })
	t.cell(runAuthor(&b))
	if len(r.Approvers) == 0 {
		t.cellOf("dim", func() { h.put("nobody") })
	} else {
		t.cell(strings.Join(r.Approvers, ", "))
	}
	text, tone := runOutcome(r)
	t.cellOf(tone.class(), func() { h.put("%", text) })
}

// runOutcome is how a run ended, in a few words.
func runOutcome(r *report.Run) (string, tone) {
	if r.Ended == nil {
		return "did not end", toneDoubt
	}
	var parts []string
	t := toneNone
	for _, result := range executor.Results() {
		if n := r.Ended.Outcomes[string(result)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, resultWord(result)))
			if isException(result) {
				t = toneDoubt
			}
		}
	}
	if r.Ended.Error != "" {
		parts = append(parts, "stopped: "+r.Ended.Error)
		t = toneBad
	}
	if len(parts) == 0 {
		return "nothing to do", toneDim
	}
	return strings.Join(parts, ", "), t
}
