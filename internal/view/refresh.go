package view

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"remit/executor"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

const (
	changesMax = 200  // lines of transfers that need nobody
	lateMax    = 1000 // of transfers that failed late or are in conflict
	statusMax  = 24   // columns of a status, which the service chooses
)

// RefreshOptions say how to show the end of a refresh.
type RefreshOptions struct {
	Screen
	Next     string // the command to type; "" for none
	Targeted bool   // only a part of the state was asked about
}

// change tells what a lookup has else of a recorded transfer.
func (r *Run) change(e executor.Event) {
	most := changesMax
	if isException(e.Result) {
		most = lateMax
	}
	if r.changes++; r.changes > most {
		return
	}
	r.hideBar()
	p := r.err
	if r.isRefresh {
		p = r.out
	}
	r.ref = min(max(r.ref, displayWidth(e.RefID)), 48)
	r.amount.fit(r.out.amount(e.Amount, e.Asset))
	p.line(
		span{"  " + pad(changeWord(e), len("PENDING -> COMPLETED")) + "  ", resultTone(e.Result)},
		plain(pad(cutMiddle(Visible(e.RefID), r.ref), r.ref)),
		plain("  "+r.amount.align(r.out.amount(e.Amount, e.Asset))+" "+Visible(e.Asset)),
	)
	p.changedFields(e)
	if e.Result == executor.ResultConflict {
		p.explain("      ", e)
	}
}

// changedFields writes the texts that changed in lines of their own, and all numbers in one.
func (p *page) changedFields(e executor.Event) {
	var numbers []string
	for _, c := range e.Changes {
		switch c.Field {
		case "status":
		case "status_details", "secondary_status":
			p.paragraph("      ", c.Field+" "+Visible(cutEnd(c.After, 2048)), toneNone)
		default:
			before := c.Before
			if before == "" {
				before = "none"
			}
			numbers = append(numbers, c.Field+" "+p.Scales.Shown(before, e.Asset)+" -> "+p.Scales.Shown(c.After, e.Asset))
		}
	}
	if len(numbers) > 0 {
		p.paragraph("      ", Visible(strings.Join(numbers, ", ")), toneDim)
	}
}

// changeWord is what a transfer became: "PENDING -> FAILED".
func changeWord(e executor.Event) string {
	if e.Result == executor.ResultConflict {
		return resultWord(e.Result)
	}
	for _, c := range e.Changes {
		if c.Field == "status" {
			return cutEnd(Visible(c.Before), statusMax) + " -> " + cutEnd(Visible(c.After), statusMax)
		}
	}
	if e.Detail != nil && e.Detail.Deciding != nil {
		return statusWord(e.Detail.Deciding.Status)
	}
	return string(transfer.Pending)
}

// statusWord is the service's own word for a status.
func statusWord(status transfer.RecordStatus) string {
	return cutEnd(Visible(string(status)), statusMax)
}

// unknownStatuses says of each status that remit does not know how many there are.
func (p *page) unknownStatuses(indent string, unknown executor.Unknown) {
	for _, status := range slices.Sorted(maps.Keys(unknown)) {
		p.paragraph(indent, fmt.Sprintf("%s: %d of these. remit does not know this status: ask the service's operator.",
			statusWord(status), unknown[status]), toneDoubt)
	}
}

// Refreshed writes how a refresh ended: the new statuses, the transfers that are still PENDING, and the
// next command. It returns only errors of w.
func Refreshed(w io.Writer, s *executor.Refreshed, o RefreshOptions) error {
	p := newPage(w, o.Screen)
	end := span{"Refresh of " + english.Plural(s.Asked(), "transfer") + " that the state has as PENDING.", toneStrong}
	if s.Asked() == 0 {
		end = span{"No transfer is pending.", toneNone}
		if o.Targeted {
			end.text = "No transfer that --target names is pending."
		}
		if s.AgainCounted+s.CreditFailed == 0 && !s.Interrupted {
			p.line(end)
			p.again(s)
			return p.Flush()
		}
	}
	p.line()
	if s.Interrupted {
		end = span{"The refresh was interrupted. What it learned is in the state.", toneDoubt}
	}
	p.paragraph("", end.text, end.tone)
	p.again(s)
	p.line()
	row := func(word string, t tone, totals *transfer.Totals) totalsRow {
		return totalsRow{label: []span{{word, t}}, totals: totals}
	}
	p.totalsTable([]totalsRow{
		row(string(transfer.Completed), toneGood, &s.Completed),
		row(string(transfer.Failed), toneBad, &s.Failed),
		row("conflict", toneBad, &s.Conflicts),
		row("action needed", toneDoubt, &s.Refused),
		row(stillWord(s), toneNone, &s.Pending),
	}, 0)
	if s.CreditFailed > 0 {
		p.line()
		p.paragraph("", fmt.Sprintf("The debit side is COMPLETED, and the credit side FAILED: %d. The money left its sender and did not arrive. "+
			"Ask the operator what became of it.", s.CreditFailed), toneBad)
	}
	p.stillPending(s)
	p.headAndNext(s.Head, o.Next)
	return p.Flush()
}

// again says how many transfers were looked up again although their status is final, and how many were not.
func (p *page) again(s *executor.Refreshed) {
	if n := s.Again.Count(); n > 0 {
		text := fmt.Sprintf("Looked up again, because it FAILED, its credit side is not COMPLETED, or a person settled it as not made: %d.", n-s.AgainUnasked)
		if s.AgainUnasked > 0 {
			text += fmt.Sprintf(" Left to the next refresh: %d more.", s.AgainUnasked)
		}
		p.paragraph("", text, toneDim)
	}
}

// stillWord names transfers that are not final.
func stillWord(s *executor.Refreshed) string {
	if s.Unknown.Count() > 0 {
		return "not final"
	}
	return "still PENDING"
}

// stillPending names the transfers that are not final, and says why.
func (p *page) stillPending(s *executor.Refreshed) {
	if s.Pending.Count() == 0 {
		return
	}
	p.line()
	word := stillWord(s)
	p.paragraph("", strings.ToUpper(word[:1])+word[1:]+": "+Visible(some(s.Named, s.Pending.Count())), toneNone)
	p.unknownStatuses("  ", s.Unknown)
	for _, part := range []struct {
		n    int
		text string
	}{
		{s.Absent, "not in the service's list now, which says nothing: lists lag"},
		{s.Unreadable, "listed with something that cannot be read"},
		{s.Unasked, "not looked up"},
	} {
		if part.n > 0 {
			p.paragraph("  ", fmt.Sprintf("Of them %d %s.", part.n, part.text), toneDim)
		}
	}
}

type refreshLine struct {
	Type         string           `json:"type"` // "refresh"
	Completed    totalsLine       `json:"completed"`
	Failed       totalsLine       `json:"failed"`
	Conflicts    totalsLine       `json:"conflicts"`
	Refused      totalsLine       `json:"refused"`
	Pending      totalsLine       `json:"pending"`
	Again        *totalsLine      `json:"again,omitempty"`          // FAILED, or without a COMPLETED credit side
	AgainUnasked int              `json:"again_unasked,omitempty"`  // of again: could not be looked up
	CreditFailed int              `json:"credit_failed"`            // of completed and again
	Unknown      executor.Unknown `json:"unknown_status,omitempty"` // of pending: how many of each status
	Absent       int              `json:"absent"`
	Unreadable   int              `json:"unreadable"`
	Unasked      int              `json:"unasked"`
	RefIDs       []string         `json:"ref_ids"` // the first that are still PENDING
	Interrupted  bool             `json:"interrupted"`
	Head         string           `json:"head,omitempty"`
	Next         string           `json:"next,omitempty"`
}

// Refreshed writes how a refresh ended. It returns the first error of writing.
func (j *JSON) Refreshed(s *executor.Refreshed, o RefreshOptions) error {
	j.write(newRefreshLine(s, o.Next))
	return j.end()
}

func newRefreshLine(s *executor.Refreshed, next string) refreshLine {
	var again *totalsLine
	if s.Again.Count() > 0 {
		again = new(totalsLine)
		*again = totalsOf(&s.Again)
	}
	return refreshLine{
		Again: again, AgainUnasked: s.AgainUnasked,
		Type: "refresh", Completed: totalsOf(&s.Completed), Failed: totalsOf(&s.Failed), Conflicts: totalsOf(&s.Conflicts),
		Refused: totalsOf(&s.Refused), Pending: totalsOf(&s.Pending), CreditFailed: s.CreditFailed, Unknown: s.Unknown, Absent: s.Absent, Unreadable: s.Unreadable,
		Unasked: s.Unasked, RefIDs: append([]string{}, s.Named...), Interrupted: s.Interrupted, Head: s.Head, Next: next,
	}
}
