package certify

import (
	"remit/executor"
	"remit/internal/contract"
	"remit/internal/transfer"
)

// judgeReplays compares what the same request was answered with each time.
func (t *Trial) judgeReplays(s sheet) {
	t.judgeText(s)
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
		debits := 0
		for _, r := range t.final.found[p.request.RefID] {
			if r.Direction == transfer.Debit {
				debits++
			}
		}
		if debits > 1 && !p.other {
			s.differs(contract.Replay, "A lookup lists %d debit sides under %q.", debits, p.request.RefID)
		}
	}
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
		for _, d := range transfer.CompareCopies(*p.first, *a.Record) {
			s.differs(contract.ReplayAnswer, "The repeated record has another %s than the first: %s, and before it %s.", d.Field, d.Answered, d.Asked)
		}
	case executor.Exists:
		s.holds(contract.Replay)
		t.judgeExists(s, a)
	case executor.Rejected:
		s.holds(contract.Replay)
		s.differs(contract.ReplayAnswer, "It is refused: %s", a.Reason)
	case executor.Unclear, executor.Unwritten, executor.NotProcessed, executor.TokenRefused: // a row of its own
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

// isSecond reports whether an answer has a record that is not the first one's.
func isSecond(p *probe, a executor.Answer) bool {
	return a.Kind == executor.Answered && p.first != nil && a.Record.ID != p.first.ID && !isSides(*p.first, *a.Record)
}

// isSides reports whether two records are the two sides of one transfer.
func isSides(a, b transfer.Record) bool {
	return a.Direction != b.Direction && a.GroupID != "" && a.GroupID == b.GroupID
}

func (t *Trial) judgeText(s sheet) {
	p := t.probe("text")
	if p == nil {
		return
	}
	for _, a := range t.gate.of(p) {
		if a.answer.Kind != executor.Answered {
			continue
		}
		s.holds(contract.RefIDText)
		if got := a.answer.Record.RefID; got != "" && got != p.request.RefID {
			s.differs(contract.RefIDText, "The record has %q for %q.", got, p.request.RefID)
		}
		if why := t.final.unreadable[p.request.RefID]; why != "" {
			s.differs(contract.RefIDText, "A lookup of %q can't be read: %s.", p.request.RefID, why)
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
	case a.Kind != executor.Answered || first == nil:
	case isSameTransfer(*a.Record, *first) || isSides(*a.Record, *first):
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
