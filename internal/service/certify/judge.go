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

// judgement reads the observations of a trial, and writes its sheet. It asks the service nothing.
type judgement struct {
	sheet

	trial *Trial
}

// judge makes the report of all observations.
func (t *Trial) judge() contract.Report {
	j := judgement{make(sheet), t}
	j.judgeTokens()
	j.judgeAnswers()
	j.judgeRecords()
	j.judgeReplays()
	j.judgeLater()
	j.judgeLookups()
	j.judgeRefusals()
	j.judgeBalances()
	r := contract.Report{Requests: len(t.gate.attempts)}
	if !t.Resume && len(t.gate.attempts) > 0 {
		r.Series = t.number
	}
	r.Made = len(debits(t.gate, &t.final))
	for _, a := range t.gate.attempts {
		r.Slowest = max(r.Slowest, a.took)
	}
	for _, row := range contract.Rows() {
		r.Findings = append(r.Findings, j.finding(row, j.sheet[row.Name]))
	}
	return r
}

func (j judgement) finding(row contract.Requirement, e *entry) contract.Finding {
	f := contract.Finding{Row: row, Verdict: contract.Unknown}
	switch {
	case e != nil && len(e.differs) > 0:
		f.Verdict, f.Seen = contract.Differs, text(e.differs)
	case e != nil && e.why != "":
		f.Seen = e.why
	case e != nil && e.tried:
		f.Verdict, f.Seen = contract.Holds, once(e.notes)
	case j.trial.Resume:
		f.Seen = "Not tried: --resume sends nothing new."
	case j.trial.halted != "":
		f.Seen = fmt.Sprintf("Not tried: %s.", j.trial.halted)
	default:
		f.Seen = "Not tried: the trial was interrupted."
	}
	return f
}

// debits are the transfers that the service made, by group and ID: from answers, and then from lookups.
func debits(g *gate, f *final) map[string]transfer.Record {
	made := make(map[string]transfer.Record)
	for _, a := range g.attempts {
		if r := a.answer.Record; r != nil && a.answer.Kind == executor.Answered && r.Direction != transfer.Credit {
			made[r.GroupID+"\x00"+r.ID] = *r
		}
	}
	for _, records := range f.found {
		for _, r := range records {
			if r.Direction == transfer.Debit {
				made[r.GroupID+"\x00"+r.ID] = r
			}
		}
	}
	return made
}

func (j judgement) judgeTokens() {
	g := j.trial.gate
	if g.readyErr != nil {
		j.differs(contract.Token, "%s.", sentence(g.readyErr.Error()))
		j.trial.halted = "there is no token"
		return
	}
	if g.tokens == 0 {
		return
	}
	j.holds(contract.Token)
	j.holds(contract.TokenScope)
	switch apart := g.apart.Abs(); {
	case !g.dated:
		j.differs(contract.Clock, "The token's answer has no Date.")
	case apart > clockSkewMax:
		j.differs(contract.Clock, "The service's clock and the clock of this machine are %s apart.", inWords(apart))
		j.trial.halted = "the service's clock and the clock of this machine are too far apart"
	default:
		j.holds(contract.Clock)
	}
	j.judgeTokenLife()
}

// clockSkewMax is how far clocks may be apart (docs/contract.md, row clock).
const clockSkewMax = 5 * time.Minute

func (j judgement) judgeTokenLife() {
	for _, e := range j.trial.watch.exchanges {
		if !e.Token || e.Status/100 != 2 {
			continue
		}
		if len(e.Lacks) > 0 {
			j.differs(contract.TokenScope, "The token lacks the scope %q, which was asked for.", strings.Join(e.Lacks, " "))
		}
		if e.Life == 0 {
			j.note(contract.TokenLife, "The token endpoint does not say expires_in: remit gets another token after a 401.")
		}
	}
	refused := slices.ContainsFunc(j.trial.gate.attempts, func(a attempt) bool { return a.answer.Kind == executor.TokenRefused }) ||
		slices.ContainsFunc(j.trial.watch.exchanges, func(e Exchange) bool { return !e.Token && e.Status == statusUnauthorized })
	switch {
	case refused:
		j.differs(contract.TokenLife, "The service refused, with 401, a token that it had just issued and that had not expired.")
	case len(j.trial.gate.attempts) > 0:
		j.holds(contract.TokenLife)
	}
}

func (j judgement) judgeAnswers() {
	attempts := j.trial.gate.attempts
	if j.trial.isInterrupted && len(attempts) > 0 {
		attempts = attempts[:len(attempts)-1] // the interrupt may have ended it
	}
	for _, a := range attempts {
		switch a.answer.Kind {
		case executor.Answered, executor.Exists:
			j.holds(contract.Answer)
			j.holds(contract.Redirect)
			j.holds(contract.Pace)
			if a.answer.Kind == executor.Answered {
				j.holds(contract.AnswerRecord)
				j.holds(contract.Accepted)
			}
		case executor.Unclear:
			j.judgeUnclear(a)
		case executor.NotProcessed:
			j.differsIn(contract.Pace, a.answer.Reason, a.answer.Reason)
		case executor.Unwritten:
			j.differsIn(contract.Answer, a.answer.Reason, a.answer.Reason)
		case executor.Rejected:
			j.holds(contract.Answer)
			j.judgeRejected(a)
		case executor.TokenRefused:
		}
	}
}

// judgeUnclear names the fault of an answer, and the fate of the transfer by a lookup.
func (j judgement) judgeUnclear(a attempt) {
	first := j.trial.gate.of(a.probe)[0].answer.Kind
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
	j.differsIn(row, a.answer.Reason, a.answer.Reason+j.trial.final.became(a.request.RefID))
}

// became says what lookups have of a transfer in doubt, as a further sentence; "" where they can't say.
func (f *final) became(refID string) string {
	switch records, isFound := f.found[refID]; {
	case !f.tried || f.err != nil || f.unreadable[refID] != "":
		return ""
	case isFound && len(records) > 0:
		return " A lookup says that it was made."
	}
	return fmt.Sprintf(" A lookup did not list it within %s.", inWords(f.waited))
}

func (j judgement) judgeRejected(a attempt) {
	switch {
	case a.refuse, a.other, a.name == nameLater && a.age > 0:
	case len(j.trial.gate.of(a.probe)) > 1 && j.trial.gate.of(a.probe)[0].answer.Kind == executor.Answered: // a replay
	case a.name == nameLong:
		j.differs(contract.RefIDLength, "%q: %s", a.request.RefID, a.answer.Reason)
	case a.name == nameSigns:
		j.differs(contract.RefIDSigns, "%q: %s", a.request.RefID, a.answer.Reason)
	case a.name == nameLower, a.name == nameUpper:
		j.differs(contract.RefIDCase, "%q: %s", a.request.RefID, a.answer.Reason)
	default:
		j.differsIn(contract.Accepted, a.answer.Reason, a.answer.Reason)
	}
}

func (j judgement) judgeRefusals() {
	p := j.trial.probe(nameTooMuch)
	attempts := []attempt(nil)
	if p != nil {
		attempts = j.trial.gate.of(p)
	}
	switch {
	case j.trial.TooMuch.IsZero():
		j.unknown(contract.RefusalFunds, "Not tried: name an amount that the sender does not have (--too-much).")
	case len(attempts) == 0:
	default:
		last := attempts[len(attempts)-1].answer
		switch {
		case last.Kind == executor.Rejected:
			j.holds(contract.RefusalFunds)
		case last.Kind == executor.Answered && last.Record.Status == transfer.Failed:
			j.differs(contract.RefusalFunds, "The service made the transfer as FAILED.")
		case last.Kind == executor.Answered:
			j.differs(contract.RefusalFunds, "The service made the transfer of %s %s.", j.trial.TooMuch, j.trial.Asset)
		default:
			j.differs(contract.RefusalFunds, "%s", last.Reason)
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
