package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"remit/state"
)

// attempt is one that a run began, as far as its journal says.
type attempt struct {
	runID    string
	begun    state.Begun // of its run; zero where the state does not know that
	isTaken  bool        // a person took the lock away after it: until then its run may have tried again
	hasEnded bool        // the run said that it ended, all of its runners with it

	clocks state.Clocks  // at its intent
	within time.Duration // that it took to read them
	taken  state.Clocks  // when the lock was taken away first; zero where nobody kept them
}

// asked is when somebody asked to settle something as not made.
type asked struct {
	clocks state.Clocks
	at     time.Time
}

// wait is how far one clock is in telling that the holder of an attempt is dead.
type wait struct {
	clock  string // in words
	passed time.Duration
}

// seenDead returns an *[AliveError] where a run that attempted it may still send something. Who
// holds the lock now has seen every earlier holder of it release it or die, unless a person took
// it away after the attempt, or it is a lock that its holder can lose and live on, or the lock of
// another file, of which this one is a copy: then its run must have said that it ended, its machine must have booted again, or the wait must be over. That is
// counted by clocks that whoever asks can't set: where there is none, from the first time that
// somebody asks, which is journalled.
func (r Resolution) seenDead(ctx context.Context, detail state.Detail) error {
	attempts, asks, err := r.attempts(ctx, detail)
	if err != nil {
		return fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	lock, ok := r.Journal.(state.Losable)
	isLosable := ok && lock.IsLosable()
	open := slices.DeleteFunc(attempts, func(a attempt) bool {
		isSeen := a.hasEnded || !isLosable && sawRelease(r.Journal, a.begun, r.Clock.Boot())
		return isSeen && !a.isTaken
	})
	if len(open) == 0 {
		return nil
	}
	now, err := r.readClocks(ctx)
	if err != nil {
		return fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	local := r.Clock.Now()
	need := r.Policy.RequestTimeout + holderTimeout
	for _, a := range slices.Backward(open) { // the latest one is waited for longest
		best, isCounted := waited(a, asks, now, local, need)
		if a.begun.File.Path == placeOf(r.Journal).Path && isBootedAgain(a.clocks, now) {
			continue // nobody lives through that
		}
		if best.passed >= need {
			continue
		}
		if !isCounted {
			if best, err = r.ask(ctx, now); err != nil {
				return err
			}
		}
		return &AliveError{RefID: r.RefID, RunID: a.runID, Wait: need - best.passed, Clock: best.clock, Original: r.original(a)}
	}
	return nil
}

// attempts are those of the request in force, in their order, and what was journalled after the
// latest of them by those who asked to settle something as not made.
func (r Resolution) attempts(ctx context.Context, detail state.Detail) ([]attempt, []asked, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	runs := make(map[string]state.Run)
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return nil, nil, err
		}
		runs[run.Begun.RunID] = run
	}
	var attempts []attempt
	var asks []asked
	for event, err := range snapshot.Events(ctx, detail.IntentSeq-1, "") {
		if err != nil {
			return nil, nil, err
		}
		isOfAttempt := event.Kind == state.KindIntent && event.RefID == r.RefID
		if !isOfAttempt && event.Kind != state.KindUnlocked && event.Kind != state.KindEnded && event.Kind != state.KindAsked {
			continue
		}
		entry, err := event.Entry()
		if err != nil {
			return nil, nil, err
		}
		switch e := entry.(type) {
		case state.Intent:
			run := runs[e.RunID]
			within := run.Begun.Clocks.WithinMS
			if e.Clocks != (state.Clocks{}) {
				within = e.Clocks.WithinMS
			}
			attempts = append(attempts, attempt{
				runID: e.RunID, begun: run.Begun, clocks: e.ClocksIn(run.Begun.Clocks), within: time.Duration(within) * time.Millisecond,
			})
			asks = nil
		case state.Unlocked:
			for i := range attempts {
				if !attempts[i].isTaken {
					attempts[i].isTaken, attempts[i].taken = true, e.Clocks
				}
			}
			asks = nil // until then its holder had the lock
		case state.Ended:
			isLost := slices.ContainsFunc(e.Runners, func(one state.Runner) bool { return one.Lost })
			for i := range attempts {
				attempts[i].hasEnded = attempts[i].hasEnded || attempts[i].runID == e.RunID && !isLost
			}
		case state.Asked:
			asks = append(asks, asked{e.Clocks, event.Time})
		case state.Created, state.Begun, state.Outcome, state.Rebound, state.Clock:
		}
	}
	return attempts, asks, nil
}

// readClocks reads what can't be set by whoever asks. A Date that the local clock contradicts, so
// that no run would begin, tells nothing.
func (r Resolution) readClocks(ctx context.Context) (state.Clocks, error) {
	b := r.Clock.Boot()
	now := state.Clocks{Boot: b.ID, Machine: b.Machine, BootMS: b.Up.Milliseconds()}
	if r.Date != nil {
		if date := r.Date(ctx); r.Clock.Now().Sub(date).Abs() <= clockSkewMax {
			now.Date = date
		}
	}
	if journal, ok := r.Journal.(state.Timekeeper); ok {
		server, err := journal.ServerTime(ctx)
		if err != nil {
			return state.Clocks{}, err
		}
		now.Server = server
	}
	return now, nil
}

// isBootedAgain reports whether the machine of a reading was booted since then.
func isBootedAgain(then, now state.Clocks) bool {
	return then.Machine != "" && then.Machine == now.Machine && then.Boot != now.Boot
}

// waited is how long the holder of an attempt had, at least, to send what it was sending: since the
// attempt, or since somebody asked, by the clock that says the least, as any other may be wrong. isCounted
// says that waiting helps: there is a clock, and no other one contradicts it by having the wait of
// need as over for long, and none has gone back.
func waited(a attempt, asks []asked, now state.Clocks, local time.Time, need time.Duration) (best wait, isCounted bool) {
	consider := func(passed []wait) {
		if len(passed) == 0 {
			return
		}
		byPassed := func(a, b wait) int { return cmp.Compare(a.passed, b.passed) }
		least, most := slices.MinFunc(passed, byPassed), slices.MaxFunc(passed, byPassed)
		if most.passed >= need && least.passed < need && most.passed-least.passed > clockSkewMax {
			return // one of the two is wrong, for good perhaps
		}
		if least.passed < -clockSkewMax {
			return // this clock was ahead then, or is behind now: the wait would be as long as it is off
		}
		if !isCounted || least.passed > best.passed {
			best, isCounted = least, true
		}
	}
	if a.isTaken {
		consider(elapsed(a.taken, now, time.Duration(a.taken.WithinMS)*time.Millisecond))
	} else {
		consider(elapsed(a.clocks, now, a.within))
	}
	for _, one := range asks {
		passed := elapsed(one.clocks, now, time.Duration(one.clocks.WithinMS)*time.Millisecond)
		switch {
		case isBootedAgain(one.clocks, now):
			passed = append(passed, wait{"the time since this machine booted", now.SinceBoot()})
		case one.clocks == state.Clocks{} && now == state.Clocks{}: // this system has no other clock
			passed = append(passed, wait{"the clock of this machine", local.Round(0).Sub(one.at)})
		}
		consider(passed)
	}
	return best, isCounted
}

// elapsed is how long ago a reading was, at least, by each clock that knows it.
func elapsed(then, now state.Clocks, within time.Duration) []wait {
	var passed []wait
	if !then.Server.IsZero() && !now.Server.IsZero() {
		passed = append(passed, wait{"the clock of the PostgreSQL server", now.Server.Sub(then.Server) - within})
	}
	if !then.Date.IsZero() && !now.Date.IsZero() {
		passed = append(passed, wait{"the service's clock", now.Date.Sub(then.Date) - within - dateGrain})
	}
	if then.Boot != "" && then.Boot == now.Boot {
		passed = append(passed, wait{"the time since this machine booted", now.SinceBoot() - then.SinceBoot()})
	}
	return passed
}

// ask journals that somebody asked: the wait is counted from now on.
func (r Resolution) ask(ctx context.Context, now state.Clocks) (wait, error) {
	if err := r.Journal.Append(context.WithoutCancel(ctx), state.Asked{About: r.RefID, Clocks: now, By: r.By, Reason: r.Reason}); err != nil {
		return wait{}, fmt.Errorf("journal that %q was asked about: %w", r.RefID, err)
	}
	switch {
	case now.Boot != "":
		return wait{clock: "the time since this machine booted"}, nil
	case !now.Date.IsZero():
		return wait{clock: "the service's clock"}, nil
	}
	return wait{clock: "the clock of this machine"}, nil
}

// original is the file of which this state is a copy, in words; "" where the run of the attempt used
// no other file.
func (r Resolution) original(a attempt) string {
	ours, theirs := placeOf(r.Journal), a.begun.File
	if none := (state.FilePlace{}); theirs == none || ours == none || theirs.IsFile(ours) {
		return ""
	}
	return fmt.Sprintf("%s on %s", theirs.Path, a.begun.By.Host)
}
