package executor

import (
	"fmt"
	"slices"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// doubtSettler settles doubts: by a lookup, by sending the recorded bytes again, or by leaving them to
// a person. Only the goroutine of the scheduler calls its methods.
type doubtSettler struct {
	run     *activeRun
	survey  *survey
	drafter drafter
	planned map[string]*planner.Change // lines that are in doubt; nil for a doubt that is no line
	inbox   *inbox
	settled func(k knownTransfer, v verdict, planned bool)
	send    func(a *attempt)

	waits int // lookups that are under way or due
}

// settle looks every doubt up once before it returns. It asks again for absent ones while the rest of
// the run goes on, and sends them again only after that.
func (d *doubtSettler) settle(doubts []*unsettled) {
	var open []*unsettled
	for _, u := range doubts {
		if u.unreadable != "" {
			d.hold(u, doubt.Final(u.unreadable))
			continue
		}
		open = append(open, u)
	}
	switch {
	case len(open) == 0:
	case !d.run.lookups.possible():
		for _, u := range open {
			d.sendAgain(u)
		}
	default:
		d.lookedUp(open, byLookup(d.run).doubts(open), 0)
	}
}

// settleTaken is settle for what another runner may have begun, while the run goes on.
func (d *doubtSettler) settleTaken(doubts []*unsettled) {
	if len(doubts) == 0 || !d.run.lookups.possible() {
		d.settle(doubts)
		return
	}
	d.waits++
	go func() {
		var open []*unsettled
		for _, u := range doubts {
			if u.unreadable == "" {
				open = append(open, u)
			}
		}
		findings := byLookup(d.run).doubts(open)
		d.inbox.post(func() {
			d.waits--
			for _, u := range doubts {
				if u.unreadable != "" {
					d.hold(u, doubt.Final(u.unreadable))
				}
			}
			d.lookedUp(open, findings, 0)
		})
	}()
}

// lookedUp settles the open doubts of which the n-th lookup found something, and sees to the rest.
func (d *doubtSettler) lookedUp(doubts []*unsettled, findings []finding, n int) {
	var open []*unsettled
	for i, f := range findings {
		u := doubts[i]
		if f.settled {
			d.settled(u.knownTransfer, f.verdict, d.planned[u.refID] != nil)
			continue
		}
		u.undue = f.undue
		open = append(open, u)
	}
	if len(open) > 0 && n < len(lateLists()) && d.run.life.mayStart() {
		d.lookAgain(open, n)
		return
	}
	for _, u := range open {
		if u.undue.Holds() {
			d.hold(u, u.undue)
		} else {
			d.sendAgain(u)
		}
	}
}

// lookAgain looks doubts up after the n-th pause.
func (d *doubtSettler) lookAgain(open []*unsettled, n int) {
	d.waits++
	pause := lateLists()[n]
	d.run.report.tell(Event{Type: EventWaiting, Total: len(open), Reason: fmt.Sprintf("Still in doubt after a lookup: %d. Looked up again in %v.", len(open), pause)})
	go func() {
		var findings []finding
		if d.run.Clock.Sleep(d.run.life.starting, pause) == nil {
			findings = byLookup(d.run).doubts(open)
		} else {
			findings = slices.Repeat([]finding{{undue: doubt.Passing("The run stopped before it could be looked up again.")}}, len(open))
		}
		d.inbox.post(func() {
			d.waits--
			d.lookedUp(open, findings, n+1)
		})
	}()
}

// sendAgain queues a doubt to be sent again with its recorded bytes, or holds it.
func (d *doubtSettler) sendAgain(u *unsettled) {
	change := d.planned[u.refID]
	if why := d.mayNotSendAgain(u, change); why.Holds() {
		d.hold(u, why)
		return
	}
	a := &attempt{knownTransfer: u.knownTransfer, intent: u.intent, planned: true}
	a.old = func() string { return d.run.clocks.tooOld(u.since).Text() }
	if !change.Expires.IsZero() {
		a.until, a.late = change.Expires, doubt.Expired(change.Expires).Text()
	}
	a.closed = d.drafter.closed(change)
	d.send(a)
}

// mayNotSendAgain returns why the recorded bytes must not be sent again
// (docs/states.md, How a doubt ends).
func (d *doubtSettler) mayNotSendAgain(u *unsettled, change *planner.Change) doubt.Hold {
	if why := d.lasting(u, change); why.Holds() {
		return why
	}
	switch {
	case !d.run.sending:
		return doubt.Blocked()
	case !d.run.life.mayStart():
		return doubt.Stopped()
	case change == nil:
		return doubt.NotInPlan()
	}
	now := d.run.Clock.Now()
	switch shut := d.run.Plan.Header.Shut(change.Windows, now); {
	case change.Until.After(now):
		return doubt.NotDue(change.Until)
	case shut != "":
		return doubt.Shut(shut)
	}
	for _, refID := range change.After {
		if row := d.survey.rows[refID]; row.RecordStatus != transfer.Completed || row.Status != state.Recorded && row.Status != state.Adopted {
			return doubt.DependsOn(refID)
		}
	}
	return doubt.Hold{}
}

// lasting returns why no apply sends the recorded bytes again as things are. It comes before the reasons of this run
// alone, so that nobody waits for an apply that does. A plan need not have the doubt: change may be nil.
func (d *doubtSettler) lasting(u *unsettled, change *planner.Change) doubt.Hold {
	switch {
	case u.unread != "":
		return doubt.Unread(u.unread)
	case u.found:
		return doubt.Made()
	case d.run.Settings.HoldDoubt:
		return doubt.OnDoubt()
	}
	if old := d.run.clocks.tooOld(u.since); old.Holds() { // no declaration mends that
		return old
	}
	switch {
	case change == nil:
	case !change.Declared():
		return doubt.Undeclared()
	case d.run.isFinished() && change.Action != planner.Resolve && string(change.Request.Body()) != u.intent.Body:
		// An interrupted plan is finished with its own bytes; another's were not reviewed.
		return doubt.OtherBytes()
	case change.Request.Fingerprint().String() != u.intent.Fingerprint || len(change.Differences) > 0:
		return doubt.Differs()
	case !change.Expires.IsZero() && d.run.Clock.Now().After(change.Expires):
		return doubt.Expired(change.Expires)
	}
	return doubt.Hold{}
}

// hold leaves a doubt to a lookup or to a person.
func (d *doubtSettler) hold(u *unsettled, why doubt.Hold) {
	d.settled(u.knownTransfer, d.run.adviser.hold(u, why), d.planned[u.refID] != nil)
}
