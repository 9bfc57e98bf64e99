package executor

import (
	"context"
	"fmt"
	"time"

	"remit/internal/doubt"
	"remit/state"
)

const (
	// clocksApartMax is how far what two local clocks say may be from the truth: five minutes each.
	clocksApartMax = state.JumpMin
	// dateGrain is what the Date of an answer leaves out: it has whole seconds.
	dateGrain = time.Second
)

// sent is when a request may have been made for the first time, by what is known of it.
type sent struct {
	at     time.Time    // by the local clock of then
	clocks state.Clocks // zero where the run kept none, as those of remit 0.1.0
}

// measure is an age by one clock.
type measure struct {
	clock string // in words
	age   time.Duration
}

// ages are what clocks say of how long ago something was, each the most that it can be.
type ages struct {
	local   time.Duration // by clocks that anyone may have set; without their tolerance
	trusted []measure     // by those that nobody here can set
}

// agesAt measures what was at then, at the time of now.
func agesAt(then sent, now reading) ages {
	a := ages{local: now.local.Round(0).Sub(then.at.Round(0))}
	within := time.Duration(now.WithinMS) * time.Millisecond
	if !then.clocks.Date.IsZero() && !now.Date.IsZero() {
		a.trusted = append(a.trusted, measure{"the service's clock", now.Date.Sub(then.clocks.Date) + within + dateGrain})
	}
	if !then.clocks.Server.IsZero() && !now.Server.IsZero() {
		a.trusted = append(a.trusted, measure{"the clock of the PostgreSQL server", now.Server.Sub(then.clocks.Server) + within})
	}
	if then.clocks.Boot != "" && then.clocks.Boot == now.Boot {
		a.trusted = append(a.trusted, measure{"the time since the machine booted", now.SinceBoot() - then.clocks.SinceBoot()})
	}
	return a
}

// oldest is the largest age that a clock says which nobody here can set.
func (a ages) oldest() (time.Duration, bool) {
	oldest := time.Duration(0)
	for _, m := range a.trusted {
		oldest = max(oldest, m.age)
	}
	return oldest, len(a.trusted) > 0
}

// doubtful says why these ages prove nothing, in a sentence; "" where they do.
func (a ages) doubtful() string {
	if len(a.trusted) == 0 {
		return "Not sent again: how old it is, only a local clock says, which proves nothing (there is no Date of the service from both runs, and the machine or its boot is another one)."
	}
	for _, m := range a.trusted {
		if apart := (a.local - m.age).Abs(); apart > clocksApartMax+dateGrain {
			return fmt.Sprintf("Not sent again: the local clock says that it is %s old and %s says %s, so one of them was wrong.",
				inWords(a.local), m.clock, inWords(m.age))
		}
	}
	return ""
}

// inWords is a duration to the second.
func inWords(d time.Duration) string { return d.Round(time.Second).String() }

// mayBeForgotten reports whether the service may no longer know a ref_id that it may have seen so
// long ago, by the worst of all clocks, where it remembers for window.
func (a ages) mayBeForgotten(window, timeout time.Duration) bool {
	oldest, _ := a.oldest()
	return max(oldest, a.local+clocksApartMax)+timeout >= window
}

// now is the newest reading, brought up to this moment.
func (k *timekeeper) now() reading {
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	now := k.local()
	if last.local.IsZero() {
		return now
	}
	passed := since(last, now)
	now.Date, now.Server, now.WithinMS = last.Date, last.Server, last.WithinMS
	if !now.Date.IsZero() {
		now.Date = now.Date.Add(passed)
	}
	if !now.Server.IsZero() {
		now.Server = now.Server.Add(passed)
	}
	return now
}

// aged is k with how long ago the request may have been made that is judged now: since the first
// intent of a doubt, and of a first attempt since its own request.
func (c *course) aged(k known, asked reading) known {
	if k.doubted {
		k.age, k.isAged = agesAt(k.since, c.timekeeper.now()).oldest()
	} else if !asked.local.IsZero() {
		k.age, k.isAged = since(asked, c.timekeeper.local()), true
	}
	return k
}

// tooOld says why a doubt must not be sent again for its age.
func (c *course) tooOld(then sent) doubt.Hold {
	a := agesAt(then, c.timekeeper.now())
	switch why := a.doubtful(); {
	case why != "":
		return doubt.Final(why)
	case a.mayBeForgotten(c.run.Policy.ReplayWindow, c.run.Policy.RequestTimeout):
		return doubt.ReplayWindowPassed()
	}
	return doubt.Hold{}
}

// renewClocks reads the clocks anew where that was longer ago than the timeout of a request: a
// doubt is sent again by what they say. An error says that they could not be read.
func (c *course) renewClocks() error {
	k := c.timekeeper
	k.renewing.Lock()
	defer k.renewing.Unlock()
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	if since(last, k.local()) <= c.run.Policy.RequestTimeout {
		return nil
	}
	if k.failed != nil && since(k.failedAt, k.local()) <= c.run.Policy.RequestTimeout {
		return k.failed // those that wait behind it need not ask again
	}
	ctx, cancel := c.bounded(c.flight, 2*c.run.Policy.RequestTimeout)
	defer cancel()
	k.failed, k.failedAt = c.readClocks(ctx), k.local()
	return k.failed
}

// learnClocks finds what the runs of these transfers kept of clocks when they began.
func (c *course) learnClocks(ctx context.Context, snapshot state.Snapshot, doubts []*unsettled) error {
	k := c.timekeeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs == nil {
		k.runs = make(map[string]state.Clocks)
	}
	k.runs[c.run.Begun.RunID] = c.run.Begun.Clocks
	isMissing := false
	for _, u := range doubts {
		_, isKnown := k.runs[u.firstBy]
		isMissing = isMissing || !isKnown
	}
	if isMissing {
		for run, err := range snapshot.Runs(ctx) {
			if err != nil {
				return err
			}
			k.runs[run.Begun.RunID] = run.Begun.Clocks
		}
	}
	for _, u := range doubts {
		u.since.clocks = u.dated.ClocksIn(k.runs[u.firstBy])
	}
	return nil
}
