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
func (j judgement) judgeReplays() {
	j.judgeOdd(nameLong, contract.RefIDLength)
	j.judgeOdd(nameSigns, contract.RefIDSigns)
	j.judgeCase()
	j.judgeOthers()
	again := j.trial.probe(nameAgain)
	if again == nil {
		return
	}
	attempts := j.trial.gate.of(again)
	if len(attempts) < 2 {
		return
	}
	for i, a := range attempts[1:] {
		between := 0
		if i == 1 {
			between = len(j.answered()) - 1
		}
		j.judgeReplay(again, a.answer, between)
	}
	for _, p := range j.trial.made {
		if n := len(j.debitsOf(p.request.RefID)); n > 1 && !j.isAskedOtherwise(p.request.RefID) {
			j.differs(contract.Replay, "A lookup lists %d debit sides under %q.", n, p.request.RefID)
		}
	}
}

// debitsOf are the debit sides that lookups list under a ref_id.
func (j judgement) debitsOf(refID string) []transfer.Record {
	var debits []transfer.Record
	for _, r := range j.trial.final.found[refID] {
		isCopy := slices.ContainsFunc(debits, func(d transfer.Record) bool { return d.ID == r.ID && d.Version() != r.Version() })
		if r.Direction == transfer.Debit && !isCopy {
			debits = append(debits, r)
		}
	}
	return debits
}

// isAskedOtherwise reports whether the other state asks for a ref_id in other words.
func (j judgement) isAskedOtherwise(refID string) bool {
	return slices.ContainsFunc(j.trial.made, func(p *probe) bool { return p.other && p.request.RefID == refID })
}

// judgeReplay looks at one answer to a request that was sent before.
func (j judgement) judgeReplay(p *probe, a executor.Answer, between int) {
	after := ""
	if between > 0 {
		after = " after other transfers were made"
	}
	switch a.Kind {
	case executor.Answered:
		if isSecond(p, a) {
			j.differs(contract.Replay, "The service made a second transfer of the same request%s: id %s, and before it %s.", after, a.Record.ID, p.first.ID)
			return
		}
		j.holds(contract.Replay)
		j.note(contract.ReplayAnswer, "It is answered with the first record.")
		if p.first == nil {
			j.note(contract.Replay, "Whether it is the first one, only a lookup can say: the first answer had no record.")
			return
		}
		judgeSameTime(j.sheet, *p.first, *a.Record)
		for _, d := range transfer.CompareCopies(*p.first, *a.Record) {
			j.differsIn(contract.ReplayAnswer, d.Field, fmt.Sprintf("The repeated record has another %s than the first: %s, and before it %s.", d.Field, short(d.Answered), short(d.Asked)))
		}
	case executor.Exists:
		j.holds(contract.Replay)
		j.judgeExists(a)
	case executor.Rejected:
		j.holds(contract.Replay)
		j.differs(contract.ReplayAnswer, "It is refused: %s", a.Reason)
	case executor.Unclear:
		if len(j.debitsOf(p.request.RefID)) == 1 {
			j.holds(contract.Replay) // a lookup says so
		}
		if a.HTTPStatus != 0 && p.first != nil {
			j.differsIn(contract.ReplayAnswer, a.Reason, "It is answered with "+strings.TrimPrefix(a.Reason, "The service answered "))
		}
	case executor.Unwritten, executor.NotProcessed, executor.TokenRefused: // a row of its own
	}
}

func (j judgement) judgeExists(a executor.Answer) {
	switch {
	case a.Record != nil:
		j.note(contract.ReplayAnswer, "It is answered with %d, and the first record.", a.HTTPStatus)
	case j.trial.Finder != nil:
		j.note(contract.ReplayAnswer, "It is answered with %d, without the record: a lookup settles it.", a.HTTPStatus)
	default:
		j.differs(contract.ReplayAnswer, "It is answered with %d, without the record, and there is no lookup_path.", a.HTTPStatus)
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
func (j judgement) judgeOdd(name, row string) {
	p := j.trial.probe(name)
	if p == nil {
		return
	}
	for _, a := range j.trial.gate.of(p) {
		if a.answer.Kind != executor.Answered {
			continue
		}
		j.holds(row)
		refID := p.request.RefID
		if got := a.answer.Record.RefID; got != "" && got != refID {
			j.differs(row, "The record has %q for %q.", got, refID)
		}
		switch {
		case !j.trial.odd[refID].tried || j.trial.odd[refID].err != nil:
		case j.trial.odd[refID].unreadable != "":
			j.differs(row, "A lookup of %q can't be read: %s.", refID, j.trial.odd[refID].unreadable)
		case j.trial.odd[refID].count == 0 && j.trial.final.found != nil:
			j.differs(row, "A lookup does not list %q.", refID)
		}
	}
}

func (j judgement) judgeCase() {
	lower, upper := j.trial.probe(nameLower), j.trial.probe(nameUpper)
	if lower == nil || upper == nil || lower.first == nil {
		return
	}
	for _, a := range j.trial.gate.of(upper) {
		switch {
		case a.answer.Kind == executor.Exists:
			j.differs(contract.RefIDCase, "%q is answered with %d, as if it were %q.", upper.request.RefID, a.answer.HTTPStatus, lower.request.RefID)
		case a.answer.Kind == executor.Answered && isSameTransfer(*a.answer.Record, *lower.first):
			j.differs(contract.RefIDCase, "%q is answered with the record of %q.", upper.request.RefID, lower.request.RefID)
		case a.answer.Kind == executor.Answered:
			j.holds(contract.RefIDCase)
		}
	}
}

// isSameTransfer reports whether two records are of one transfer, even where a service gives all records one id.
func isSameTransfer(a, b transfer.Record) bool { return a.ID == b.ID && a.GroupID == b.GroupID }

// judgeOthers looks at requests under ref_ids that the service knows, with other words.
func (j judgement) judgeOthers() {
	for _, p := range j.trial.made {
		if !p.other {
			continue
		}
		for _, a := range j.trial.gate.of(p) {
			j.judgeOther(p, a.answer)
		}
	}
}

func (j judgement) judgeOther(p *probe, a executor.Answer) {
	first := j.firstOf(p.request.RefID)
	switch {
	case a.Kind == executor.Exists, a.Kind == executor.Rejected:
		j.holds(contract.ReplayOther)
		if a.HTTPStatus != statusConflict {
			j.note(contract.ReplayOther, "With %s it is answered with %d.", p.name, a.HTTPStatus)
		}
	case a.Kind == executor.Unclear:
		j.differsIn(contract.ReplayOther, a.Reason, fmt.Sprintf("With %s: %s", p.name, a.Reason))
	case a.Kind != executor.Answered || first == nil:
	case !isOther(*first, *a.Record):
		j.note(contract.ReplayOther, "With %s it is answered with the first record: the service does not see that the request is another one, and remit does.", p.name)
	default:
		j.differs(contract.ReplayOther, "With %s under the same ref_id the service made a second transfer: id %s, and before it %s.", p.name, a.Record.ID, first.ID)
	}
}

// firstOf is the record that a ref_id was first answered with; nil where there is none.
func (j judgement) firstOf(refID string) *transfer.Record {
	for _, p := range j.trial.made {
		if !p.other && p.request.RefID == refID {
			return p.first
		}
	}
	return nil
}

// judgeLater looks at what earlier trials kept to be sent again.
func (j judgement) judgeLater() {
	const row = contract.ReplayLasts
	window := j.trial.Settings.ReplayWindow
	var oldest *probe
	for _, p := range j.trial.kept {
		attempts := j.trial.gate.of(p)
		if len(attempts) == 0 {
			j.unknown(row, "Not tried: %s", p.unsent)
			continue
		}
		a := attempts[len(attempts)-1].answer
		switch {
		case isSecond(p, a):
			j.differs(row, "After %s the service made a second transfer of the same request: id %s, and before it %s.", inWords(p.age), a.Record.ID, p.first.ID)
		case a.Kind == executor.Answered && p.first == nil:
			j.unknown(row, "The first answer had no record to compare with.")
		case a.Kind == executor.Answered, a.Kind == executor.Exists, a.Kind == executor.Rejected:
			if oldest == nil || p.age > oldest.age {
				oldest = p
			}
		}
	}
	switch {
	case oldest != nil && oldest.age >= window:
		j.row(row).why = ""
		j.note(row, "A request of %s ago made no second transfer. replay_window is %s.", inWords(oldest.age), inWords(window))
	case oldest != nil:
		j.unknown(row, "A request of %s ago made no second transfer, and replay_window is %s. Type the same with --resume once it is over.", inWords(oldest.age), inWords(window))
	case j.row(row).why == "" && len(j.trial.kept) == 0:
		j.unknown(row, "Not tried yet: one transfer is kept for that. Type the same with --resume once replay_window, which is %s, is over.", inWords(window))
	}
}
