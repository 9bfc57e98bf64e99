package certify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/service/contract"
	"remit/internal/transfer"
)

// judgeReplays compares what the same request was answered with each time.
func (t *Trial) judgeReplays(s sheet) {
	t.judgeOdd(s, nameLong, contract.RefIDLength)
	t.judgeOdd(s, nameSigns, contract.RefIDSigns)
	t.judgeCase(s)
	t.judgeOthers(s)
	again := t.probe(nameAgain)
	if again == nil {
		return
	}
	attempts := t.gate.of(again)
	if len(attempts) < 2 {
		return
	}
	for i, a := range attempts[1:] {
		between := 0
		if i == 1 {
			between = len(t.answered()) - 1
		}
		t.judgeReplay(s, again, a.answer, between)
	}
	for _, p := range t.made {
		if n := len(t.debitsOf(p.request.RefID)); n > 1 && !t.isAskedOtherwise(p.request.RefID) {
			s.differs(contract.Replay, "A lookup lists %d debit sides under %q.", n, p.request.RefID)
		}
	}
}

// debitsOf are the debit sides that lookups list under a ref_id.
func (t *Trial) debitsOf(refID string) []transfer.Record {
	var debits []transfer.Record
	for _, r := range t.final.found[refID] {
		if r.Direction == transfer.Debit {
			debits = append(debits, r)
		}
	}
	return debits
}

// isAskedOtherwise reports whether the other state asks for a ref_id in other words.
func (t *Trial) isAskedOtherwise(refID string) bool {
	return slices.ContainsFunc(t.made, func(p *probe) bool { return p.other && p.request.RefID == refID })
}

// judgeReplay looks at one answer to a request that was sent before.
func (t *Trial) judgeReplay(s sheet, p *probe, a executor.Answer, between int) {
	after := ""
	if between > 0 {
		after = " after other transfers were made"
	}
	switch a.Kind {
	case executor.Answered:
		if isSecond(p, a) {
			s.differs(contract.Replay, "The service made a second transfer of the same request%s: id %s, and before it %s.", after, a.Record.ID, p.first.ID)
			return
		}
		s.holds(contract.Replay)
		s.note(contract.ReplayAnswer, "It is answered with the first record.")
		if p.first == nil {
			s.note(contract.Replay, "Whether it is the first one, only a lookup can say: the first answer had no record.")
			return
		}
		judgeSameTime(s, *p.first, *a.Record)
		for _, d := range transfer.CompareCopies(*p.first, *a.Record) {
			s.differsIn(contract.ReplayAnswer, d.Field, fmt.Sprintf("The repeated record has another %s than the first: %s, and before it %s.", d.Field, short(d.Answered), short(d.Asked)))
		}
	case executor.Exists:
		s.holds(contract.Replay)
		t.judgeExists(s, a)
	case executor.Rejected:
		s.holds(contract.Replay)
		s.differs(contract.ReplayAnswer, "It is refused: %s", a.Reason)
	case executor.Unclear:
		if len(t.debitsOf(p.request.RefID)) == 1 {
			s.holds(contract.Replay) // a lookup says so
		}
		if a.HTTPStatus != 0 && p.first != nil {
			s.differsIn(contract.ReplayAnswer, a.Reason, "It is answered with "+strings.TrimPrefix(a.Reason, "The service answered "))
		}
	case executor.Unwritten, executor.NotProcessed, executor.TokenRefused: // a row of its own
	}
}

func (t *Trial) judgeExists(s sheet, a executor.Answer) {
	switch {
	case a.Record != nil:
		s.note(contract.ReplayAnswer, "It is answered with %d, and the first record.", a.HTTPStatus)
	case t.Finder != nil:
		s.note(contract.ReplayAnswer, "It is answered with %d, without the record: a lookup settles it.", a.HTTPStatus)
	default:
		s.differs(contract.ReplayAnswer, "It is answered with %d, without the record, and there is no lookup_path.", a.HTTPStatus)
	}
}

// isSecond reports whether an answer has the record of another transfer than the first one.
func isSecond(p *probe, a executor.Answer) bool {
	return a.Kind == executor.Answered && p.first != nil && isOther(*p.first, *a.Record)
}

// isOther reports whether two records are of two transfers.
func isOther(a, b transfer.Record) bool {
	return a.ID != b.ID && (a.GroupID != b.GroupID || a.GroupID == "")
}

// judgeSameTime compares created_at of two copies of a record. One that has whole seconds may be cut.
func judgeSameTime(s sheet, first, again transfer.Record) {
	if first.CreatedAt.IsZero() || again.CreatedAt.IsZero() {
		return
	}
	most := 2 * time.Millisecond
	if first.CreatedAt.Nanosecond() == 0 || again.CreatedAt.Nanosecond() == 0 {
		most = time.Second
	}
	if off := again.CreatedAt.Sub(first.CreatedAt); off.Abs() > most {
		s.differs(contract.CreatedAt, "created_at of the same record is %s later when it is answered again.", inWords(off))
	}
}

// judgeOdd judges the ref_ids that are there for their characters.
func (t *Trial) judgeOdd(s sheet, name, row string) {
	p := t.probe(name)
	if p == nil {
		return
	}
	for _, a := range t.gate.of(p) {
		if a.answer.Kind != executor.Answered {
			continue
		}
		s.holds(row)
		refID := p.request.RefID
		if got := a.answer.Record.RefID; got != "" && got != refID {
			s.differs(row, "The record has %q for %q.", got, refID)
		}
		switch {
		case !t.odd[refID].tried || t.odd[refID].err != nil:
		case t.odd[refID].unreadable != "":
			s.differs(row, "A lookup of %q can't be read: %s.", refID, t.odd[refID].unreadable)
		case t.odd[refID].count == 0 && t.final.found != nil:
			s.differs(row, "A lookup does not list %q.", refID)
		}
	}
}

func (t *Trial) judgeCase(s sheet) {
	lower, upper := t.probe(nameLower), t.probe(nameUpper)
	if lower == nil || upper == nil || lower.first == nil {
		return
	}
	for _, a := range t.gate.of(upper) {
		switch {
		case a.answer.Kind == executor.Exists:
			s.differs(contract.RefIDCase, "%q is answered with %d, as if it were %q.", upper.request.RefID, a.answer.HTTPStatus, lower.request.RefID)
		case a.answer.Kind == executor.Answered && isSameTransfer(*a.answer.Record, *lower.first):
			s.differs(contract.RefIDCase, "%q is answered with the record of %q.", upper.request.RefID, lower.request.RefID)
		case a.answer.Kind == executor.Answered:
			s.holds(contract.RefIDCase)
		}
	}
}

// isSameTransfer reports whether two records are of one transfer, even where a service gives all records one id.
func isSameTransfer(a, b transfer.Record) bool { return a.ID == b.ID && a.GroupID == b.GroupID }

// judgeOthers looks at requests under ref_ids that the service knows, with other words.
func (t *Trial) judgeOthers(s sheet) {
	for _, p := range t.made {
		if !p.other {
			continue
		}
		for _, a := range t.gate.of(p) {
			t.judgeOther(s, p, a.answer)
		}
	}
}

func (t *Trial) judgeOther(s sheet, p *probe, a executor.Answer) {
	first := t.firstOf(p.request.RefID)
	switch {
	case a.Kind == executor.Exists, a.Kind == executor.Rejected:
		s.holds(contract.ReplayOther)
		if a.HTTPStatus != statusConflict {
			s.note(contract.ReplayOther, "With %s it is answered with %d.", p.name, a.HTTPStatus)
		}
	case a.Kind == executor.Unclear:
		s.differsIn(contract.ReplayOther, a.Reason, fmt.Sprintf("With %s: %s", p.name, a.Reason))
	case a.Kind != executor.Answered || first == nil:
	case !isOther(*first, *a.Record):
		s.note(contract.ReplayOther, "With %s it is answered with the first record: the service does not see that the request is another one, and remit does.", p.name)
	default:
		s.differs(contract.ReplayOther, "With %s under the same ref_id the service made a second transfer: id %s, and before it %s.", p.name, a.Record.ID, first.ID)
	}
}

// firstOf is the record that a ref_id was first answered with; nil where there is none.
func (t *Trial) firstOf(refID string) *transfer.Record {
	for _, p := range t.made {
		if !p.other && p.request.RefID == refID {
			return p.first
		}
	}
	return nil
}

// judgeLater looks at what earlier trials kept to be sent again.
func (t *Trial) judgeLater(s sheet) {
	const row = contract.ReplayLasts
	window := t.Policy.ReplayWindow
	var oldest *probe
	for _, p := range t.kept {
		attempts := t.gate.of(p)
		if len(attempts) == 0 {
			s.unknown(row, "Not tried: %s", p.unsent)
			continue
		}
		a := attempts[len(attempts)-1].answer
		switch {
		case isSecond(p, a):
			s.differs(row, "After %s the service made a second transfer of the same request: id %s, and before it %s.", inWords(p.age), a.Record.ID, p.first.ID)
		case a.Kind == executor.Answered && p.first == nil:
			s.unknown(row, "The first answer had no record to compare with.")
		case a.Kind == executor.Answered, a.Kind == executor.Exists, a.Kind == executor.Rejected:
			if oldest == nil || p.age > oldest.age {
				oldest = p
			}
		}
	}
	switch {
	case oldest != nil && oldest.age >= window:
		s.row(row).why = ""
		s.note(row, "A request of %s ago made no second transfer. replay_window is %s.", inWords(oldest.age), inWords(window))
	case oldest != nil:
		s.unknown(row, "A request of %s ago made no second transfer, and replay_window is %s. Type the same with --resume once it is over.", inWords(oldest.age), inWords(window))
	case s.row(row).why == "" && len(t.kept) == 0:
		s.unknown(row, "Not tried yet: one transfer is kept for that. Type the same with --resume once replay_window, which is %s, is over.", inWords(window))
	}
}
