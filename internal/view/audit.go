package view

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/state"
)

// digestShort is how many digits of a digest a line has.
const digestShort = digestShown

// Audit writes the journal: for each event a line with its number, time, kind and ref_id, and below
// it the event in words, by whom, where and under which plan. runs are those that the events name,
// by run_id. An error that events yield ends the list and is returned.
func Audit(w io.Writer, events iter.Seq2[state.Event, error], runs map[string]state.Run, s Screen) error {
	p := newPage(w, s)
	count := 0
	for e, err := range events {
		if err != nil {
			_ = p.Flush()
			return err
		}
		count++
		p.line(dim(fmt.Sprintf("%6d  %s  ", e.Seq, moment(e.Time))), strong(fmt.Sprintf("%-8s  ", e.Kind)), plain(e.RefID))
		entry, err := e.Entry()
		if err != nil {
			p.paragraph("        ", err.Error(), toneBad)
			continue
		}
		what, by, t := auditEntry(entry, runs[e.RunID].Begun)
		p.paragraph("        ", what, t)
		p.paragraph("        ", by, toneDim)
	}
	if count == 0 {
		p.line(plain("The journal has no such event."))
	}
	return p.Flush()
}

// auditEntry says in words what an entry means, and who caused it.
func auditEntry(entry state.Entry, run state.Begun) (what, by string, t tone) {
	ofRun := ""
	if run.RunID != "" {
		ofRun = who(run.By) + ", run " + run.RunID + planOf(run)
	}
	switch e := entry.(type) {
	case state.Created:
		made := "made in environment " + e.Environment
		if e.NewState {
			made += ", as a new state by --new-state"
		}
		return made + ", lineage " + e.Lineage, who(e.By), toneNone
	case state.Begun:
		return auditBegun(e), who(e.By), toneNone
	case state.Intent:
		return "about to send: POST " + e.Path + " " + e.Body, ofRun, toneNone
	case state.Outcome:
		return auditOutcome(e, ofRun)
	case state.Ended:
		what, t = auditEnded(e)
		return what, ofRun, t
	case state.Unlocked:
		from := "the lock was taken away, and nobody held it"
		if e.From != (state.Holder{}) {
			from = "the lock was taken away from " + who(e.From)
		}
		return from + ": " + e.Reason, who(e.By), toneDoubt
	case state.Rebound:
		return "bound to " + strings.Join(reboundTexts(e), ", and to ") + ": " + e.Reason, who(e.By), toneDoubt
	case state.ClockConfirmed:
		return auditClock(e), who(e.By), toneDoubt
	case state.Asked:
		until := "until a wait is over"
		if e.WaitedMS > 0 {
			until = "after remit had waited"
		}
		return fmt.Sprintf("asked to settle %q as not made, and refused %s: %s", e.About, until, e.Reason), who(e.By), toneDoubt
	case state.Erased:
		return fmt.Sprintf("%s removed: %s", english.Plural(e.Names, "display name"), e.Reason), who(e.By), toneDoubt
	}
	panic(fmt.Sprintf("unknown entry %T", entry))
}

func auditBegun(e state.Begun) string {
	what := "run " + e.RunID + planOf(e)
	limits, accepted := splitAccepted(e.Accepted)
	if len(limits) > 0 {
		what += ", overridden limits: " + strings.Join(limits, ", ")
	}
	if len(accepted) > 0 {
		what += ", accepted: " + strings.Join(accepted, ", ")
	}
	for _, s := range e.Shortfalls {
		what += fmt.Sprintf(", %s was said to have %s %s, and %s was needed: accepted", s.ProfileID, s.Asset,
			transfer.Scales(nil).Shown(s.Available, s.Asset), transfer.Scales(nil).Shown(s.Needed, s.Asset))
	}
	if author := signedBy(e.Approvals, state.RoleAuthor); author != "" {
		what += ", signed by its author " + author
	}
	if approvers := signedBy(e.Approvals, state.RoleApprover); approvers != "" {
		what += ", approved by " + approvers
	}
	return what
}

func auditEnded(e state.Ended) (what string, t tone) {
	by := ""
	for _, text := range runnersText(e.Runners) {
		by += "\n  " + text
	}
	if e.Complete && e.Outcomes[string(executor.ResultInDoubt)] == 0 {
		return "run " + e.RunID + " is complete" + by, toneNone
	}
	return strings.TrimSuffix("run "+e.RunID+" ended incomplete: "+e.Error, ": ") + by, toneDoubt
}

func auditClock(c state.ClockConfirmed) string {
	what := "the clock is right"
	if behind := time.Duration(c.BehindMS) * time.Millisecond; behind > 0 {
		what += fmt.Sprintf(", although the event before lies %s ahead of it", behind.Round(time.Second))
	}
	if jump := time.Duration(c.JumpMS) * time.Millisecond; jump != 0 {
		what += fmt.Sprintf(", although it jumped by %s against the time since the machine booted", jump.Round(time.Second))
	}
	if !c.Clocks.Date.IsZero() {
		what += ", the service's says " + moment(c.Clocks.Date)
	}
	if c.Reason != "" {
		what += ": " + c.Reason
	}
	return what
}

// reboundTexts says what a state was bound to, and before, of all that changed.
func reboundTexts(e state.Rebound) []string {
	var texts []string
	if e.EnvironmentAfter != "" {
		texts = append(texts, fmt.Sprintf("environment %q, before to %q", e.EnvironmentAfter, e.EnvironmentBefore))
	}
	if e.After != e.Before || len(texts) == 0 {
		texts = append(texts, fmt.Sprintf("%s, before to %s", boundText(e.After), boundText(e.Before)))
	}
	return texts
}

// boundText names a service to which a state is bound.
func boundText(i state.Identity) string {
	text := fmt.Sprintf("%s (client %s", i.BaseURL, i.ClientID)
	if i.TokenURL != "" {
		text += ", tokens from " + i.TokenURL
	}
	return text + ")"
}

func auditOutcome(o state.Outcome, ofRun string) (what, by string, t tone) {
	what = fmt.Sprintf("%s, by %s", o.Status, o.Source)
	if o.HTTPStatus != 0 {
		what += fmt.Sprintf(" (HTTP %d)", o.HTTPStatus)
	}
	if o.Reason != "" {
		what += ": " + o.Reason
	}
	for _, d := range o.Differences {
		what += fmt.Sprintf("\n  %s: asked %q, answered %q", d.Field, d.Asked, d.Answered)
	}
	by = ofRun
	if o.By != nil {
		by = who(*o.By)
	}
	return what, by, statusTone(o.Status)
}

func who(h state.Holder) string {
	return fmt.Sprintf("by %s on %s (process %d, %q, remit %s)", h.User, h.Host, h.PID, h.Command, h.Version)
}

func planOf(b state.Begun) string {
	if b.Digest == "" {
		return ""
	}
	return ", plan digest " + b.Digest[:min(digestShort, len(b.Digest))]
}

// eventLine is one event of the journal, as it is.
type eventLine struct {
	Type string `json:"type"` // "event"
	state.Event
}

// Audit writes an "event" for each event, with its payload and its hash. An error that events
// yield ends the list and is returned.
func (j *JSON) Audit(events iter.Seq2[state.Event, error]) error {
	j.begin()
	for e, err := range events {
		if err != nil {
			_ = j.end()
			return err
		}
		j.write(eventLine{"event", e})
	}
	return j.end()
}

// Verified says that a state holds what its journal says, and up to which hash.
type Verified struct {
	Type       string `json:"type"` // "verified"
	Events     int64  `json:"events"`
	Head       string `json:"head"`
	TailProven bool   `json:"tail_proven"` // a hash that was kept elsewhere is in the chain

	WrongClocks []state.WrongClock `json:"wrong_clocks,omitempty"` // the newest first
}

// Verified writes the result of a check that found nothing wrong.
func (j *JSON) Verified(v Verified) error {
	v.Type = "verified"
	j.write(v)
	return j.end()
}

// AuditVerified writes the result of a check that found nothing wrong, for a person.
func AuditVerified(w io.Writer, v Verified, s Screen) error {
	p := newPage(w, s)
	p.line(span{fmt.Sprintf("The journal is whole: %s, and the transfers are what they make of them.", english.Plural(int(v.Events), "event")), toneGood})
	p.line(plain("Journal head: " + v.Head))
	for _, wrong := range v.WrongClocks {
		p.paragraph("", wrong.Words, toneDoubt)
	}
	if !v.TailProven {
		p.paragraph("", "Without --head, its end is unproven: a journal that was cut off, or written anew as a whole, looks the same. "+
			"Give the head that an earlier run printed and that was kept elsewhere.", toneDoubt)
	}
	return p.Flush()
}
