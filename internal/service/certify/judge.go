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

// sheet gathers the observations of each row.
type sheet map[string]*entry

type entry struct {
	tried   bool
	differs []said // observations that differ
	notes   []said // worth to know although the row holds
	why     string // it was not tried
}

// said is a sentence, and how often its like could have been said.
type said struct {
	kind  string
	text  string
	times int
}

// sentencesMax bounds the sentences about one row.
const sentencesMax = 3

func (s sheet) row(name string) *entry {
	if s[name] == nil {
		s[name] = new(entry)
	}
	return s[name]
}

// holds says that a row was tried.
func (s sheet) holds(name string) { s.row(name).tried = true }

// note says of a row something that is worth to know although it holds.
func (s sheet) note(name, format string, args ...any) {
	e := s.row(name)
	e.tried = true
	e.notes = addKind(e.notes, format, fmt.Sprintf(format, args...))
}

// differs says what a row differs in. Of sentences of one format the first is said.
func (s sheet) differs(name, format string, args ...any) {
	s.differsIn(name, format, fmt.Sprintf(format, args...))
}

// differsIn is differs for a sentence of a kind.
func (s sheet) differsIn(name, kind, text string) {
	e := s.row(name)
	e.differs = addKind(e.differs, kind, text)
}

// unknown says why a row was not tried.
func (s sheet) unknown(name, format string, args ...any) {
	s.row(name).why = fmt.Sprintf(format, args...)
}

func addKind(list []said, kind, text string) []said {
	for i := range list {
		if list[i].kind == kind {
			list[i].times++
			return list
		}
	}
	return append(list, said{kind, text, 1})
}

// once are notes, however often they could have been made.
func once(notes []said) string {
	for i := range notes {
		notes[i].times = 1
	}
	return text(notes)
}

// text are the first few sentences, and how many are left out.
func text(list []said) string {
	var parts []string
	for _, one := range list[:min(len(list), sentencesMax)] {
		if one.times > 1 {
			one.text += fmt.Sprintf(" (%d times)", one.times)
		}
		parts = append(parts, one.text)
	}
	if more := len(list) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("(and %d more)", more))
	}
	return strings.Join(parts, " ")
}

// judge makes the report of all that was seen.
func (t *Trial) judge() contract.Report {
	s := make(sheet)
	t.judgeTokens(s)
	t.judgeAnswers(s)
	t.judgeRecords(s)
	t.judgeReplays(s)
	t.judgeLater(s)
	t.judgeLookups(s)
	t.judgeRefusals(s)
	t.judgeBalances(s)
	r := contract.Report{Requests: len(t.gate.attempts)}
	if !t.Resume && len(t.gate.attempts) > 0 {
		r.Series = t.number
	}
	r.Made = len(t.transfersMade())
	for _, a := range t.gate.attempts {
		r.Slowest = max(r.Slowest, a.took)
	}
	for _, row := range contract.Rows() {
		r.Findings = append(r.Findings, t.finding(row, s[row.Name]))
	}
	return r
}

func (t *Trial) finding(row contract.Row, e *entry) contract.Finding {
	f := contract.Finding{Row: row, Verdict: contract.Unknown}
	switch {
	case e != nil && len(e.differs) > 0:
		f.Verdict, f.Seen = contract.Differs, text(e.differs)
	case e != nil && e.why != "":
		f.Seen = e.why
	case e != nil && e.tried:
		f.Verdict, f.Seen = contract.Holds, once(e.notes)
	case t.Resume:
		f.Seen = "Not tried: --resume sends nothing new."
	case t.halted != "":
		f.Seen = fmt.Sprintf("Not tried: %s.", t.halted)
	default:
		f.Seen = "Not tried: the trial was interrupted."
	}
	return f
}

// transfersMade are the ids of the debit sides that answers and lookups have of this series, by ref_id.
func (t *Trial) transfersMade() map[string]string {
	made := make(map[string]string)
	for key, r := range t.debits() {
		made[key] = r.of
	}
	return made
}

// debit is the debit side of a transfer that was made for a ref_id.
type debit struct {
	transfer.Record

	of string
}

// debits are the transfers that the service made, by group and ID: from answers, and then from lookups.
func (t *Trial) debits() map[string]debit {
	made := make(map[string]debit)
	for _, a := range t.gate.attempts {
		if r := a.answer.Record; r != nil && a.answer.Kind == executor.Answered && r.Direction != transfer.Credit {
			made[r.GroupID+"\x00"+r.ID] = debit{*r, a.request.RefID}
		}
	}
	for refID, records := range t.final.found {
		for _, r := range records {
			if r.Direction == transfer.Debit {
				made[r.GroupID+"\x00"+r.ID] = debit{r, refID}
			}
		}
	}
	return made
}

func (t *Trial) judgeTokens(s sheet) {
	g := t.gate
	if g.readyErr != nil {
		s.differs(contract.Token, "%s.", sentence(g.readyErr.Error()))
		t.halted = "there is no token"
		return
	}
	if g.tokens == 0 {
		return
	}
	s.holds(contract.Token)
	s.holds(contract.TokenScope)
	switch apart := g.apart.Abs(); {
	case !g.dated:
		s.differs(contract.Clock, "The token's answer has no Date.")
	case apart > clockSkewMax:
		s.differs(contract.Clock, "The service's clock and the clock of this machine are %s apart.", inWords(apart))
		t.halted = "the service's clock and the clock of this machine are too far apart"
	default:
		s.holds(contract.Clock)
	}
	t.judgeTokenLife(s)
}

// clockSkewMax is how far clocks may be apart (design section 6).
const clockSkewMax = 5 * time.Minute

func (t *Trial) judgeTokenLife(s sheet) {
	for _, e := range t.watch.exchanges {
		if !e.Token || e.Status/100 != 2 {
			continue
		}
		if len(e.Lacks) > 0 {
			s.differs(contract.TokenScope, "The token lacks the scope %q, which was asked for.", strings.Join(e.Lacks, " "))
		}
		if e.Life == 0 {
			s.note(contract.TokenLife, "The token endpoint does not say expires_in: remit gets another token after a 401.")
		}
	}
	refused := slices.ContainsFunc(t.gate.attempts, func(a attempt) bool { return a.answer.Kind == executor.TokenRefused }) ||
		slices.ContainsFunc(t.watch.exchanges, func(e Exchange) bool { return !e.Token && e.Status == statusUnauthorized })
	switch {
	case refused:
		s.differs(contract.TokenLife, "The service refused, with 401, a token that it had just issued and that had not expired.")
	case len(t.gate.attempts) > 0:
		s.holds(contract.TokenLife)
	}
}

func (t *Trial) judgeAnswers(s sheet) {
	attempts := t.gate.attempts
	if t.isInterrupted && len(attempts) > 0 {
		attempts = attempts[:len(attempts)-1] // the interrupt may have ended it
	}
	for _, a := range attempts {
		switch a.answer.Kind {
		case executor.Answered, executor.Exists:
			s.holds(contract.Answer)
			s.holds(contract.Redirect)
			s.holds(contract.Pace)
			if a.answer.Kind == executor.Answered {
				s.holds(contract.AnswerRecord)
				s.holds(contract.Accepted)
			}
		case executor.Unclear:
			t.judgeUnclear(s, a)
		case executor.NotProcessed:
			s.differsIn(contract.Pace, a.answer.Reason, a.answer.Reason)
		case executor.Unwritten:
			s.differsIn(contract.Answer, a.answer.Reason, a.answer.Reason)
		case executor.Rejected:
			s.holds(contract.Answer)
			t.judgeRejected(s, a)
		case executor.TokenRefused:
		}
	}
}

// judgeUnclear names the fault of an answer, and the fate of the transfer by a lookup.
func (t *Trial) judgeUnclear(s sheet, a attempt) {
	first := t.gate.of(a.probe)[0].answer.Kind
	if hasStatus := a.answer.HTTPStatus/100 > 3; hasStatus && (a.other || first == executor.Answered) {
		return // of a ref_id that is known, which has rows of its own
	}
	row := contract.Answer
	switch a.answer.HTTPStatus / 100 {
	case 3:
		row = contract.Redirect
	case 2:
		row = contract.AnswerRecord
	}
	s.differsIn(row, a.answer.Reason, a.answer.Reason+t.became(a.request.RefID))
}

// became says what lookups have of a transfer in doubt, as a further sentence; "" where they can't say.
func (t *Trial) became(refID string) string {
	switch records, isFound := t.final.found[refID]; {
	case !t.final.tried || t.final.err != nil || t.final.unreadable[refID] != "":
		return ""
	case isFound && len(records) > 0:
		return " A lookup says that it was made."
	}
	return fmt.Sprintf(" A lookup did not list it within %s.", inWords(t.final.waited))
}

func (t *Trial) judgeRejected(s sheet, a attempt) {
	switch {
	case a.refuse, a.other, a.name == nameLater && a.age > 0:
	case len(t.gate.of(a.probe)) > 1 && t.gate.of(a.probe)[0].answer.Kind == executor.Answered: // a replay
	case a.name == nameLong:
		s.differs(contract.RefIDLength, "%q: %s", a.request.RefID, a.answer.Reason)
	case a.name == nameSigns:
		s.differs(contract.RefIDSigns, "%q: %s", a.request.RefID, a.answer.Reason)
	case a.name == nameLower, a.name == nameUpper:
		s.differs(contract.RefIDCase, "%q: %s", a.request.RefID, a.answer.Reason)
	default:
		s.differsIn(contract.Accepted, a.answer.Reason, a.answer.Reason)
	}
}

func (t *Trial) judgeRefusals(s sheet) {
	p := t.probe(nameTooMuch)
	attempts := []attempt(nil)
	if p != nil {
		attempts = t.gate.of(p)
	}
	switch {
	case t.TooMuch.IsZero():
		s.unknown(contract.RefusalFunds, "Not tried: name an amount that the sender does not have (--too-much).")
	case len(attempts) == 0:
	default:
		last := attempts[len(attempts)-1].answer
		switch {
		case last.Kind == executor.Rejected:
			s.holds(contract.RefusalFunds)
		case last.Kind == executor.Answered && last.Record.Status == transfer.Failed:
			s.differs(contract.RefusalFunds, "The service made the transfer as FAILED.")
		case last.Kind == executor.Answered:
			s.differs(contract.RefusalFunds, "The service made the transfer of %s %s.", t.TooMuch, t.Asset)
		default:
			s.differs(contract.RefusalFunds, "%s", last.Reason)
		}
	}
}

// sentence begins a text of others as a sentence, without its end.
func sentence(text string) string {
	text = strings.TrimRight(text, ".")
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
