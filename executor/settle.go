package executor

import (
	"fmt"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// findMax is how many ref_ids a lookup asks for at once (design section 3).
const findMax = 100

// lateLists are the pauses after which an absent ref_id is asked for again (design section
// 3): lists lag.
var lateLists = [...]time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second}

// looked is what one lookup of a doubt says.
type looked struct {
	doubt   *unsettled
	verdict verdict
	settled bool   // verdict is final
	undue   string // why it must not be sent again although it is not settled; "" where it was absent
}

// settleDoubts looks up once what is in doubt before anything else starts. What is absent is
// asked for again while the rest of the run goes on, and sent again only after that.
func (o *order) settleDoubts() {
	var open []*unsettled
	for _, u := range o.doubts {
		if u.amiss != "" {
			o.hold(u, u.amiss)
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
		o.lookedUp(o.c.lookUpDoubts(open), 0)
	}
}

// lookedUp settles what the n-th lookup found, and sees to the rest.
func (o *order) lookedUp(results []looked, n int) {
	var open []*unsettled
	for _, l := range results {
		if l.settled {
			o.settled(l.doubt.known, l.verdict, o.planned[l.doubt.refID] != nil)
			continue
		}
		open = append(open, l.doubt)
		l.doubt.undue = l.undue
	}
	if len(open) > 0 && n < len(lateLists) && o.c.starting.Err() == nil {
		o.lookAgain(open, n)
		return
	}
	for _, u := range open {
		switch {
		case u.undue != "":
			o.hold(u, u.undue)
		default:
			o.sendAgain(u)
		}
	}
}

// lookAgain is the lookup after the n-th pause.
func (o *order) lookAgain(open []*unsettled, n int) {
	o.waits++
	o.c.report.tell(Event{Type: EventWaiting, Total: len(open), Reason: fmt.Sprintf("The service does not list %d transfers in doubt yet; they are looked up again in %v.", len(open), lateLists[n])})
	go func() {
		var results []looked
		if o.c.run.Clock.Sleep(o.c.starting, lateLists[n]) == nil {
			results = o.c.lookUpDoubts(open)
		} else {
			for _, u := range open {
				results = append(results, looked{doubt: u, undue: "The run stopped before it could be looked up again."})
			}
		}
		o.messages <- func() {
			o.waits--
			o.lookedUp(results, n+1)
		}
	}()
}

// lookUpDoubts asks for each ref_id once and makes durable what that settles.
func (c *course) lookUpDoubts(open []*unsettled) []looked {
	results := make([]looked, 0, len(open))
	var failed error
	for chunk := range slices.Chunk(open, findMax) {
		var found map[string][]transfer.Record
		if failed == nil {
			found, failed = c.find(c.starting, refIDs(chunk)...)
		}
		first := len(results)
		for _, u := range chunk {
			results = append(results, c.lookAt(u, found[u.refID], failed))
		}
		c.writeFound(results[first:])
	}
	return results
}

// lookAt judges what was found of one doubt.
func (c *course) lookAt(u *unsettled, records []transfer.Record, failed error) looked {
	switch {
	case failed != nil:
		return looked{doubt: u, undue: fmt.Sprintf("It could not be looked up: %v.", failed)}
	case len(records) == 0:
		return looked{doubt: u}
	}
	k := u.known
	k.customer = c.knownCustomer()
	v := judgeFound(k, inDoubt, records)
	if v.unread {
		return looked{doubt: u, undue: v.outcome.Reason}
	}
	return looked{doubt: u, verdict: v, settled: true}
}

// writeFound makes outcomes durable, all at once where none contradicts the state.
func (c *course) writeFound(results []looked) {
	var entries []state.Entry
	for _, l := range results {
		if l.settled {
			entries = append(entries, l.verdict.outcome)
		}
	}
	if len(entries) == 0 {
		return
	}
	together := c.journal.append(entries...) == nil
	for i := range results {
		l := &results[i]
		switch {
		case !l.settled:
		case together:
			l.verdict.written = true
			c.learnCustomer(l.verdict.customer)
		default:
			l.verdict = c.write(l.verdict)
		}
		if l.verdict.stop != "" {
			c.halt(l.verdict.stop)
		}
	}
}

// sendAgain queues a doubt to be sent again with its recorded bytes, or holds it.
func (o *order) sendAgain(u *unsettled) {
	change := o.planned[u.refID]
	if why := o.mayNotSendAgain(u, change); why != "" {
		o.hold(u, why)
		return
	}
	j := &job{known: u.known, intent: u.intent, planned: true}
	j.until, j.late = u.first.Add(o.c.run.Policy.ReplayWindow-o.c.run.Policy.RequestTimeout), pastReplay
	if !change.Expires.IsZero() && change.Expires.Before(j.until) {
		j.until, j.late = change.Expires, "Not sent again: it has expired."
	}
	o.queue = append(o.queue, j)
}

const pastReplay = "Not sent again: the service may no longer protect its ref_id from a second transfer (replay_window)."

// mayNotSendAgain is why the recorded bytes must not be sent again; "" where they may
// (design section 3).
func (o *order) mayNotSendAgain(u *unsettled, change *planner.Change) string {
	now, policy := o.c.run.Clock.Now(), o.c.run.Policy
	switch {
	case !o.c.sending:
		return "This run sends nothing."
	case o.c.starting.Err() != nil:
		return "Not sent again: the run stopped before."
	case policy.HoldDoubt:
		return "Not sent again: on_doubt is \"hold\"."
	case change == nil:
		return "Not sent again: this plan does not have it."
	case !change.Declared():
		return "Not sent again: it is no longer declared."
	case change.Action != planner.Resolve && o.c.run.Saved:
		return "Not sent again: the saved plan does not show it as in doubt."
	case change.Request.Fingerprint().String() != u.intent.Fingerprint || len(change.Differences) > 0:
		return "Not sent again: its declaration differs from the recorded request."
	case !change.Expires.IsZero() && now.After(change.Expires):
		return "Not sent again: it has expired."
	case change.Until.After(now):
		return "Not sent again: it is not due."
	case !now.Add(policy.RequestTimeout).Before(u.first.Add(policy.ReplayWindow)):
		return pastReplay
	}
	for _, refID := range change.After {
		if row := o.known.rows[refID]; row.RecordStatus != transfer.Completed || row.Status != state.Recorded && row.Status != state.Adopted {
			return fmt.Sprintf("Not sent again: it depends on %q, which is not COMPLETED.", refID)
		}
	}
	return ""
}

// hold leaves a doubt to a lookup or to a person.
func (o *order) hold(u *unsettled, why string) {
	o.settled(u.known, hold(u, why), o.planned[u.refID] != nil)
}

func hold(u *unsettled, why string) verdict {
	v := doubt(u.known, why)
	v.next = command(u.refID, "")
	return v
}

func refIDs(list []*unsettled) []string {
	ids := make([]string, len(list))
	for i, u := range list {
		ids[i] = u.refID
	}
	return ids
}
