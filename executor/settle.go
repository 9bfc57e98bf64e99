package executor

import (
	"fmt"
	"slices"
	"time"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// lateLists returns the pauses after which an absent ref_id is asked for again (design section
// 3): lists lag.
func lateLists() []time.Duration {
	return []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second}
}

// finding is what a lookup says of one transfer.
type finding struct {
	verdict verdict
	settled bool          // verdict is final
	lead    []state.Entry // to be written before its outcome
	undue   doubt.Hold    // why it must not be sent (again) although it is not settled; nothing where it was absent
}

// settleDoubts looks up once what is in doubt before anything else starts. What is absent is
// asked for again while the rest of the run goes on, and sent again only after that.
func (o *order) settleDoubts() { o.settleOpen(o.doubts) }

func (o *order) settleOpen(doubts []*unsettled) {
	var open []*unsettled
	for _, u := range doubts {
		if u.amiss != "" {
			o.hold(u, doubt.Final(u.amiss))
			continue
		}
		open = append(open, u)
	}
	switch {
	case len(open) == 0:
	case o.c.run.Finder == nil:
		for _, u := range open {
			o.sendAgain(u)
		}
	default:
		o.lookedUp(open, o.c.lookUpDoubts(open), 0)
	}
}

// lookedUp settles what the n-th lookup found of the doubts that were open, and sees to the
// rest.
func (o *order) lookedUp(doubts []*unsettled, findings []finding, n int) {
	var open []*unsettled
	for i, f := range findings {
		u := doubts[i]
		if f.settled {
			o.settled(u.known, f.verdict, o.planned[u.refID] != nil)
			continue
		}
		u.undue = f.undue
		open = append(open, u)
	}
	if len(open) > 0 && n < len(lateLists()) && o.c.starting.Err() == nil {
		o.lookAgain(open, n)
		return
	}
	for _, u := range open {
		if u.undue.Holds() {
			o.hold(u, u.undue)
		} else {
			o.sendAgain(u)
		}
	}
}

// lookAgain is the lookup after the n-th pause.
func (o *order) lookAgain(open []*unsettled, n int) {
	o.waits++
	pause := lateLists()[n]
	o.c.report.tell(Event{Type: EventWaiting, Total: len(open), Reason: fmt.Sprintf("Still in doubt after a lookup: %d. Looked up again in %v.", len(open), pause)})
	go func() {
		var findings []finding
		if o.c.run.Clock.Sleep(o.c.starting, pause) == nil {
			findings = o.c.lookUpDoubts(open)
		} else {
			findings = slices.Repeat([]finding{{undue: doubt.Passing("The run stopped before it could be looked up again.")}}, len(open))
		}
		o.inbox.post(func() {
			o.waits--
			o.lookedUp(open, findings, n+1)
		})
	}()
}

// lookUpDoubts asks for each ref_id once and makes durable what that settles. It returns a
// finding for each.
func (c *course) lookUpDoubts(open []*unsettled) []finding {
	findings := make([]finding, 0, len(open))
	var failed error
	for chunk := range slices.Chunk(open, FindMax) {
		var found lookup
		if failed == nil {
			found, failed = c.find(c.starting, refIDs(chunk)...)
		}
		first := len(findings)
		for _, u := range chunk {
			u.known = c.aged(u.known, reading{})
			findings = append(findings, lookAt(u, found, failed))
		}
		c.writeFindings(findings[first:])
	}
	return findings
}

// lookAt judges what was found of one doubt.
func lookAt(u *unsettled, found lookup, failed error) finding {
	switch {
	case failed != nil:
		return finding{undue: doubt.Passing(fmt.Sprintf("It could not be looked up: %v.", failed))}
	case found.unreadable[u.refID] != "":
		return finding{undue: doubt.Unread(unread(found.unreadable[u.refID]))}
	case len(found.records[u.refID]) == 0:
		return finding{}
	}
	v := judgeFound(u.known, inDoubt, found.records[u.refID])
	if v.unread {
		return finding{undue: doubt.Final(v.outcome.Reason)}
	}
	return finding{verdict: v, settled: true}
}

// unread says of a transfer that its record was found, or may have been.
func unread(why string) string {
	return fmt.Sprintf("The service lists a record that cannot be read: %s.", why)
}

// writeFindings makes what was settled durable: all at once, or, where something of it
// contradicts the state, one by one.
func (c *course) writeFindings(findings []finding) {
	var entries []state.Entry
	for _, f := range findings {
		if f.settled {
			entries = append(append(entries, f.lead...), f.verdict.outcome)
		}
	}
	if len(entries) == 0 {
		return
	}
	together := c.journal.append(entries...) == nil
	for i := range findings {
		f := &findings[i]
		switch {
		case !f.settled:
			continue
		case together:
			f.verdict.written = true
		default:
			f.verdict = c.write(f.verdict, f.lead...)
		}
		if f.verdict.stop != "" {
			c.halt(f.verdict.stop)
		}
	}
}

// sendAgain queues a doubt to be sent again with its recorded bytes, or holds it.
func (o *order) sendAgain(u *unsettled) {
	change := o.planned[u.refID]
	if why := o.mayNotSendAgain(u, change); why.Holds() {
		o.hold(u, why)
		return
	}
	j := &job{known: u.known, intent: u.intent, planned: true}
	j.old = func() string { return o.c.tooOld(u.since).Text() }
	if !change.Expires.IsZero() {
		j.until, j.late = change.Expires, doubt.Expired(change.Expires).Text()
	}
	j.shut = o.shut(change)
	o.queue = append(o.queue, j)
}

// mayNotSendAgain is why the recorded bytes must not be sent again (design section 3).
func (o *order) mayNotSendAgain(u *unsettled, change *planner.Change) doubt.Hold {
	now, policy := o.c.run.Clock.Now(), o.c.run.Policy
	switch {
	case !o.c.sending:
		return doubt.Passing("This run sends nothing.")
	case o.c.starting.Err() != nil:
		return doubt.Stopped()
	case u.found:
		return doubt.Made()
	case policy.HoldDoubt:
		return doubt.OnDoubt()
	case change == nil:
		return doubt.NotInPlan()
	case !change.Declared():
		return doubt.Undeclared()
	case o.c.run.Saved && change.Action != planner.Resolve && string(change.Request.Body()) != u.intent.Body:
		// An interrupted plan is finished with its own bytes; another's were not reviewed.
		return doubt.OtherBytes()
	case change.Request.Fingerprint().String() != u.intent.Fingerprint || len(change.Differences) > 0:
		return doubt.Differs()
	case !change.Expires.IsZero() && now.After(change.Expires):
		return doubt.Expired(change.Expires)
	}
	if old := o.c.tooOld(u.since); old.Holds() {
		return old
	}
	switch shut := o.c.run.Plan.Header.Shut(change.Windows, now); {
	case change.Until.After(now):
		return doubt.NotDue(change.Until)
	case shut != "":
		return doubt.Shut(shut)
	}
	for _, refID := range change.After {
		if row := o.known.rows[refID]; row.RecordStatus != transfer.Completed || row.Status != state.Recorded && row.Status != state.Adopted {
			return doubt.DependsOn(refID)
		}
	}
	return doubt.Hold{}
}

// hold leaves a doubt to a lookup or to a person.
func (o *order) hold(u *unsettled, why doubt.Hold) {
	o.settled(u.known, o.c.hold(u, why), o.planned[u.refID] != nil)
}

func (c *course) hold(u *unsettled, why doubt.Hold) verdict {
	return c.advise(undecided(u.known, why.Text()), doubt.Doubt{Hold: why})
}

// advise says of a verdict in doubt what an apply does about it, and what a person types.
func (c *course) advise(v verdict, u doubt.Doubt) verdict {
	u.RefID, u.CanLookUp = v.outcome.RefID, c.run.Finder != nil
	if !u.Hold.Holds() && c.run.Policy.HoldDoubt {
		u.Hold = doubt.OnDoubt()
	}
	v.advice, v.next, v.idle = u.Advice(), u.Next(), u.IsIdle()
	if v.outcome.Reason == u.Hold.Text() {
		v.advice = u.Plan()
	}
	return v
}

func refIDs(list []*unsettled) []string {
	ids := make([]string, len(list))
	for i, u := range list {
		ids[i] = u.refID
	}
	return ids
}
