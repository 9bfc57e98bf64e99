package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"remit/state"
)

// holderTimeout is how long, beyond the timeout of a request, the holder of a lock that was
// taken away may still be waking up (docs/states.md, The wait before --not-made).
const holderTimeout = 10 * time.Minute

// AliveError says that an attempt may still be carried out: its holder lost its lock, to a person or
// with its connection, and may have a request under way; or it sends nothing any more, and the service
// may be at work.
type AliveError struct {
	RefID string
	RunID string        // of the attempt
	Wait  time.Duration // after which it is certain that nothing more is made
	Clock string        // by which, in words
	// Original is the file that the run used, and its host, where this state is another one: a copy.
	Original string
	Gone     bool // the run sends nothing any more
	Ended    bool // the run said that it ended
	Waited   bool // remit has waited itself: earlier knowledge may be out of date now
}

// Error says how long to wait.
func (e *AliveError) Error() string {
	if e.Waited {
		return fmt.Sprintf("%s. remit has waited %s. Look again whether the service has a record of it, and ask again where it has none", e.why(), e.Wait.Round(time.Second))
	}
	return fmt.Sprintf("%s. Wait another %s, which %s tells, and ask again", e.why(), max(e.Wait.Round(time.Second), time.Second), e.Clock)
}

func (e *AliveError) why() (why string) {
	switch {
	case e.Original != "" && e.Ended:
		why = fmt.Sprintf("this state is a copy: run %s sent %q from %s, where another run may have sent it again since", e.RunID, e.RefID, e.Original)
	case e.Original != "":
		why = fmt.Sprintf("this state is a copy: run %s, which may be sending %q, used %s, and was not seen to end", e.RunID, e.RefID, e.Original)
	case e.Gone:
		why = fmt.Sprintf("the service may still carry out the request for %q that run %s sent", e.RefID, e.RunID)
	default:
		why = fmt.Sprintf("the lock of run %s, which may be sending %q, was taken away or lost, and not seen released", e.RunID, e.RefID)
	}
	return why
}

// pastAttempt is an attempt that a run began, as far as the journal says, or may have begun in another file, of
// which this state is a copy.
type pastAttempt struct {
	runID      string
	begun      state.Begun // of its run; zero where the state does not know that
	isTaken    bool        // a person took the lock away after it: until then its run may have tried again
	hasEnded   bool        // the run said that it ended, all of its runners with it
	isAnswered bool        // clearly: it is over

	clocks   state.Clocks // at its intent
	taken    state.Clocks // when the lock was taken away first; zero where nobody kept them
	ended    state.Clocks // when its run ended, likewise
	followed state.Clocks // when the next run began that had the lock of this state, likewise

	waited time.Duration // the longest that a command has waited itself since
}

// owed says how long an attempt may go on, and since when.
type owed struct {
	need     time.Duration
	since    []state.Clocks // readings after which its run sent nothing more; zero ones tell nothing
	isGone   bool           // nobody sends it any more; the service may carry it out
	original string         // the file of which this state is a copy, in words; "" for none
}

// seenDead returns an *[AliveError] where an attempt may still be carried out. The holder of the
// lock has seen every earlier holder of it release it or die, unless a person took it away after
// the attempt, or it is a lock that its holder can lose and live on, or the lock of another file,
// of which this one is a copy. That its machine booted again says so of a file alone: two hosts of one server
// may be clones, with one name and one machine ID. The service may be at work for the timeout of a request after its
// sender died. All of that is counted by clocks that the asker can't set: where there is none, from
// the first time that somebody asks, which is journalled.
func (r Resolution) seenDead(ctx context.Context, detail state.Detail) error {
	attempts, asks, err := r.attempts(ctx, detail)
	if err != nil {
		return fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	open := slices.DeleteFunc(attempts, func(a pastAttempt) bool { return a.isAnswered })
	if len(open) == 0 {
		return nil
	}
	now, err := r.readClocks(ctx)
	if err != nil {
		return fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	var longest *AliveError
	isToAsk := false
	for _, a := range open {
		o := r.owed(a, now)
		best, isCounted := waited(o, asks, now)
		if best.passed >= o.need || a.waited >= o.need {
			continue
		}
		if !isCounted {
			best, isToAsk = wait{clock: askedBy(now)}, hasClock(now)
		}
		left := &AliveError{RefID: r.RefID, RunID: a.runID, Wait: o.need - best.passed, Clock: best.clock, Original: o.original, Gone: o.isGone, Ended: a.hasEnded}
		if longest == nil || left.Wait > longest.Wait {
			longest = left
		}
	}
	if isToAsk {
		if err := r.ask(ctx, state.Asked{Clocks: now}); err != nil {
			return err
		}
	}
	switch {
	case longest == nil:
		return nil
	case !hasClock(now):
		return r.sitOut(ctx, longest)
	}
	return longest
}

// hasClock reports whether a reading has a clock that the asker can't set.
func hasClock(c state.Clocks) bool { return c.Boot != "" || !c.Server.IsZero() || !c.Date.IsZero() }

// sitOut waits itself, and journals that. On a system that has no clock but one that anybody can set, a wait that began
// at an earlier command would be as long as that clock says. It returns an *[AliveError]: the attempt may have been
// carried out during the wait, so the person is to look again.
func (r Resolution) sitOut(ctx context.Context, left *AliveError) error {
	if r.Waiting != nil {
		r.Waiting(fmt.Sprintf("%s, and this machine has no clock that nobody can set: remit waits %s here", left.why(), left.Wait.Round(time.Second)))
	}
	if err := r.Clock.Sleep(ctx, left.Wait); err != nil {
		return fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	if err := r.ask(ctx, state.Asked{WaitedMS: left.Wait.Milliseconds()}); err != nil {
		return err
	}
	left.Waited = true
	return left
}

// owed says how long after what an attempt is over. In a copy nobody has seen what its original did
// since: the time counts from when this file was first used.
func (r Resolution) owed(a pastAttempt, now state.Clocks) owed {
	lock, ok := r.Journal.(state.Losable)
	isLosable := ok && lock.IsLosable()
	original := r.original(a)
	isBooted := !isLosable && a.begun.File.Path == fileOf(r.Journal).Path && isBootedAgain(a.clocks, now)
	o := owed{need: r.Settings.RequestTimeout, isGone: true}
	switch {
	case isBooted: // nobody lives through that
		o.since = []state.Clocks{a.ended, a.followed, {Boot: now.Boot, Machine: now.Machine}}
	case original != "":
		o = owed{need: o.need + holderTimeout, since: []state.Clocks{a.followed}, original: original}
	case a.hasEnded:
		o.since = []state.Clocks{a.ended, a.followed}
	case a.isTaken:
		o = owed{need: o.need + holderTimeout, since: []state.Clocks{a.taken}}
	case !isLosable && sawRelease(r.Journal, a.begun, r.Clock.Boot()):
		o.since = []state.Clocks{a.followed}
	default:
		o = owed{need: o.need + holderTimeout, since: []state.Clocks{a.followed}}
	}
	return o
}

// attempts returns the attempts of the request in force, in their order, and the questions that the
// journal has after the latest of them: somebody asked to settle something as not made.
func (r Resolution) attempts(ctx context.Context, detail state.Detail) ([]pastAttempt, []state.Clocks, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	h := history{refID: r.RefID, here: fileOf(r.Journal), runs: make(map[string]state.Run)}
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return nil, nil, err
		}
		h.runs[run.Begun.RunID] = run
	}
	for event, err := range snapshot.Events(ctx, detail.IntentSeq-1, "") {
		if err != nil {
			return nil, nil, err
		}
		if event.RefID != "" && event.RefID != r.RefID {
			continue
		}
		entry, err := event.Entry()
		if err != nil {
			return nil, nil, err
		}
		h.follow(entry)
	}
	return h.attempts, h.asks, nil
}

// history gathers the attempts of one ref_id from a journal.
type history struct {
	refID    string
	here     state.FilePlace
	runs     map[string]state.Run
	attempts []pastAttempt
	asks     []state.Clocks // when somebody asked to settle it as not made
}

func (h *history) follow(entry state.Entry) {
	switch e := entry.(type) {
	case state.Intent:
		h.asks = nil
		if e.Found { // nothing is sent under it
			return
		}
		run := h.runs[e.RunID]
		h.attempts = append(h.attempts, pastAttempt{runID: e.RunID, begun: run.Begun, clocks: e.ClocksIn(run.Begun.Clocks)})
	case state.Outcome:
		if last := len(h.attempts) - 1; last >= 0 && e.Source == state.SourceAnswer && e.Status != state.InDoubt {
			h.attempts[last].isAnswered = true
		}
	case state.Begun:
		isHere := e.File == h.here || e.File.IsFile(h.here)
		if !isHere {
			h.asks = nil // in the file of that run: this one was copied from it later
			if len(h.attempts) > 0 {
				// Nobody here knows what that run does after the copy was made: it may send the request again.
				h.attempts = append(h.attempts, pastAttempt{runID: e.RunID, begun: e, clocks: e.Clocks})
			}
		}
		for i := range h.attempts {
			switch a := &h.attempts[i]; {
			case !isHere:
				a.followed, a.waited = state.Clocks{}, 0
			case a.runID != e.RunID && a.followed == (state.Clocks{}):
				a.followed = e.Clocks
			}
		}
	case state.Unlocked:
		for i := range h.attempts {
			h.attempts[i].waited = 0
			if a := &h.attempts[i]; !a.isTaken && !a.hasEnded {
				a.isTaken, a.taken = true, e.Clocks
			}
		}
		h.asks = nil // until then its holder had the lock
	case state.Ended:
		isLost := slices.ContainsFunc(e.Runners, func(one state.Runner) bool { return one.Lost })
		for i := range h.attempts {
			if a := &h.attempts[i]; a.runID == e.RunID && !isLost {
				a.hasEnded, a.ended = true, e.Clocks
			}
		}
	case state.Asked:
		h.asks = append(h.asks, e.Clocks)
		for i := range h.attempts {
			h.attempts[i].waited = max(h.attempts[i].waited, time.Duration(e.WaitedMS)*time.Millisecond)
		}
	case state.Created, state.Rebound, state.ClockConfirmed:
	}
}

// readClocks reads the clocks that the asker can't set. A Date that the local clock contradicts, so
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

// waited is how long an attempt had, at least, to come to its end: since its run sent nothing more, or
// since somebody asked, by the clock that says the least, as any other may be wrong. isCounted
// says that waiting helps: there is a clock, and no other one contradicts it by having the wait
// as over for long, and none has gone back.
func waited(o owed, asks []state.Clocks, now state.Clocks) (best wait, isCounted bool) {
	consider := func(passed []wait) {
		if len(passed) == 0 {
			return
		}
		byPassed := func(a, b wait) int { return cmp.Compare(a.passed, b.passed) }
		least, most := slices.MinFunc(passed, byPassed), slices.MaxFunc(passed, byPassed)
		if most.passed >= o.need && least.passed < o.need && most.passed-least.passed > clockSkewMax {
			return // one of the two is wrong, for good perhaps
		}
		if least.passed < -clockSkewMax {
			return // this clock was ahead then, or is behind now: the wait would be as long as it is off
		}
		if !isCounted || least.passed > best.passed {
			best, isCounted = least, true
		}
	}
	for _, then := range o.since {
		consider(elapsed(then, now, time.Duration(then.WithinMS)*time.Millisecond))
	}
	for _, one := range asks {
		passed := elapsed(one, now, time.Duration(one.WithinMS)*time.Millisecond)
		if isBootedAgain(one, now) {
			passed = append(passed, wait{"the time since this machine booted", now.SinceBoot()})
		}
		consider(passed)
	}
	return best, isCounted
}

// ask journals that somebody asked: the wait is counted from now on, or is over.
func (r Resolution) ask(ctx context.Context, asked state.Asked) error {
	asked.About, asked.By, asked.Reason = r.RefID, r.By, r.Reason
	if err := r.Journal.Append(context.WithoutCancel(ctx), asked); err != nil {
		return fmt.Errorf("journal that %q was asked about: %w", r.RefID, err)
	}
	return nil
}

// askedBy is the clock by which a wait is counted that begins now, in words.
func askedBy(now state.Clocks) string {
	switch {
	case now.Boot != "":
		return "the time since this machine booted"
	case !now.Server.IsZero():
		return "the clock of the PostgreSQL server"
	}
	return "the service's clock"
}

// original is the file of which this state is a copy, in words; "" where the run of the attempt used
// no other file.
func (r Resolution) original(a pastAttempt) string {
	ours, theirs := fileOf(r.Journal), a.begun.File
	if none := (state.FilePlace{}); theirs == none || ours == none || theirs.IsFile(ours) {
		return ""
	}
	return fmt.Sprintf("%s on %s", theirs.Path, a.begun.By.Host)
}
