package executor

import (
	"context"
	"fmt"

	"remit/internal/transfer"
	"remit/state"
)

// lotMax is how many intents are written at once: the first requests need not wait for the
// intents of thousands behind them.
const lotMax = 1024

// lane are the attempts of an operation that wait for a slot, and for their intents.
type lane struct {
	jobs []*job // in their order
	busy bool   // a lot of them is being written
}

func newLanes() map[transfer.Operation]*lane {
	lanes := make(map[transfer.Operation]*lane)
	for _, op := range transfer.Operations() {
		lanes[op] = new(lane)
	}
	return lanes
}

// intents is what became of a lot of attempts.
type intents struct {
	durable []*job
	barred  []barred
	left    []*job // for which there is no slot now
}

// barred is an attempt that may not be made, and why.
type barred struct {
	*job
	verdict verdict
}

func (in *intents) bar(j *job, v verdict) { in.barred = append(in.barred, barred{j, v}) }

// intendWaiting has the intents of what waits be written, where enough requests have begun for
// the lot to be worth a commit: few attempts wait for nobody but their fellows, who are ahead
// of them anyway.
func (o *order) intendWaiting() {
	for _, op := range transfer.Operations() {
		l := o.lanes[op]
		room := o.inFlightMax() - int(o.ahead.Load())
		if l.busy || len(l.jobs) == 0 || room < o.lotMin() {
			continue
		}
		n := min(len(l.jobs), room, lotMax)
		lot := l.jobs[:n:n]
		l.jobs, l.busy = l.jobs[n:], true
		o.ahead.Add(int64(n))
		go func() {
			made := o.c.intend(lot)
			o.inbox.post(func() {
				l.busy = false
				o.intended(l, made)
			})
		}()
	}
}

// lotMin is how much room there must be ahead for another lot: a quarter, or a whole lot.
func (o *order) lotMin() int { return max(1, min(o.inFlightMax()/4, lotMax)) }

// intended hands on what became of a lot.
func (o *order) intended(l *lane, made intents) {
	l.jobs = append(made.left, l.jobs...)
	o.ahead.Add(-int64(len(made.left) + len(made.barred)))
	for _, b := range made.barred {
		o.attempts--
		o.settled(b.known, b.verdict, b.planned)
	}
	for _, j := range made.durable {
		o.start(j)
	}
}

// giveUp settles the attempts that have no intent, where nothing starts any more.
func (o *order) giveUp() {
	for _, op := range transfer.Operations() {
		l := o.lanes[op]
		for _, j := range l.jobs {
			o.attempts--
			o.settled(j.known, o.c.stoppedBefore(j), j.planned)
		}
		l.jobs = nil
	}
}

// intend takes a slot for each attempt of a lot, and writes the intents of those that have one.
// It waits for the first slot alone, so that no intent waits for another one's.
func (c *course) intend(lot []*job) intents {
	var made intents
	limit := c.limiters[lot[0].intent.Operation]
	if limit.Take(c.starting) != nil {
		for _, j := range lot {
			made.bar(j, c.stoppedBefore(j))
		}
		return made
	}
	ready := make([]*job, 0, len(lot))
	for i, j := range lot {
		if i > 0 && !limit.TryTake() {
			made.left = lot[i:]
			break
		}
		j.checked = c.timekeeper.local()
		if why := j.tooLate(j.checked.local); why != "" {
			limit.Release()
			made.bar(j, unsent(j.known, why))
			continue
		}
		if j.first.IsZero() {
			j.first = j.checked.local
		}
		c.date(&j.intent)
		j.answer = Answer{Kind: Unwritten} // before any
		ready = append(ready, j)
	}
	c.writeIntents(ready, &made)
	return made
}

// date keeps with an intent what clocks that nobody can turn say of its time.
func (c *course) date(i *state.Intent) {
	i.AfterMS, i.Clocks = c.timekeeper.sinceBegin().Milliseconds(), state.Clocks{}
	if c.joined {
		i.Clocks = c.timekeeper.begun().Clocks
	}
}

// writeIntents makes intents durable before a byte of a request leaves (law 1): all at once, or,
// where the state refuses one of them, each by itself.
func (c *course) writeIntents(lot []*job, made *intents) {
	if len(lot) == 0 {
		return
	}
	entries := make([]state.Entry, len(lot))
	for i, j := range lot {
		entries[i] = j.intent
	}
	err := c.journal.append(entries...)
	switch {
	case err == nil:
		for _, j := range lot {
			c.report.tell(Event{Type: EventIntended, RefID: j.refID, Amount: j.request.Amount, Asset: j.request.Asset})
		}
		made.durable = append(made.durable, lot...)
	case refusal(err) && len(lot) > 1:
		for _, j := range lot {
			c.writeIntents([]*job{j}, made)
		}
	default:
		c.stopOn(err)
		for _, j := range lot {
			c.limiters[j.intent.Operation].Release()
			made.bar(j, unsent(j.known, fmt.Sprintf("Nothing was sent: its intent could not be written (%v).", err)))
		}
	}
}

// stoppedBefore is the verdict on an attempt before whose intent the run stopped.
func (c *course) stoppedBefore(j *job) verdict {
	return unsent(j.known, fmt.Sprintf("Nothing was sent: the run stopped before (%v).", context.Cause(c.starting)))
}
