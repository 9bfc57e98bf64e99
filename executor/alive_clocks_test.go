package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/state"
)

const wholeWait = 10*time.Minute + 30*time.Second

// waitsFor fails unless it is too early to say that rent was not made, for so long.
func waitsFor(t *testing.T, r executor.Resolution, want time.Duration) {
	t.Helper()
	outcome, err := executor.ResolveNotMade(t.Context(), r)
	if alive, ok := errors.AsType[*executor.AliveError](err); !ok || alive.Wait != want {
		t.Fatalf("got %v, %v; want a wait of %v", outcome.Status, err, want)
	}
}

// TestOfTwoClocksThatDifferByLittleTheLeastCounts has a Date that is four minutes ahead, as clocks may be.
func TestOfTwoClocksThatDifferByLittleTheLeastCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock = turned{boot: "a"}
		died(t, w, "rent")
		lock := taken(w)
		lock.Clocks.Date = time.Now()
		if err := w.journal.Append(t.Context(), lock); err != nil {
			t.Fatal(err)
		}
		time.Sleep(8 * time.Minute)
		r := w.resolution("rent")
		r.Clock, r.Date = turned{boot: "a"}, func(context.Context) time.Time { return time.Now().Add(4 * time.Minute) }
		waitsFor(t, r, wholeWait-8*time.Minute)
	})
}

// TestAQuestionCountsFromTheLossOfTheLock has somebody ask on another machine before the lock was taken away.
func TestAQuestionCountsFromTheLossOfTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock, w.service.ready = turned{boot: "a", machine: "other"}, func() (time.Time, error) { return time.Time{}, nil }
		died(t, w, "rent")
		b := turned{boot: "b"}.Boot()
		asked := state.Asked{About: "rent", Reason: "who knows", Clocks: state.Clocks{Boot: b.ID, Machine: b.Machine, BootMS: b.Up.Milliseconds()}}
		if err := w.journal.Append(t.Context(), asked); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := w.journal.Append(t.Context(), taken(w)); err != nil {
			t.Fatal(err)
		}
		r := w.resolution("rent")
		r.Clock = turned{boot: "b"}
		waitsFor(t, r, wholeWait)
	})
}

// TestAQuestionIsAboutTheAttemptsBeforeIt has somebody ask, and then another run send the request again.
func TestAQuestionIsAboutTheAttemptsBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock, w.service.ready = turned{boot: "a", machine: "other"}, func() (time.Time, error) { return time.Time{}, nil }
		died(t, w, "rent")
		if err := w.journal.Append(t.Context(), taken(w)); err != nil {
			t.Fatal(err)
		}
		r := w.resolution("rent")
		r.Clock = turned{boot: "b"}
		waitsFor(t, r, wholeWait)
		time.Sleep(wholeWait - time.Second)
		doubtful(w)
		time.Sleep(time.Second)
		if outcome, err := executor.ResolveNotMade(t.Context(), r); err == nil {
			t.Errorf("a second after it was sent again it is %v", outcome.Status)
		}
	})
}

// TestADateThatTheLocalClockContradictsEndsNoWait has no clock but the Date, which goes an hour ahead.
func TestADateThatTheLocalClockContradictsEndsNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := lostLock(t)
		r := w.resolution("rent")
		r.Clock, r.Date = turned{}, func(context.Context) time.Time { return time.Now() }
		waitsFor(t, r, wholeWait)
		r.Date = func(context.Context) time.Time { return time.Now().Add(time.Hour) }
		before := time.Now()
		outcome, err := executor.ResolveNotMade(t.Context(), r)
		if waited := time.Since(before); err == nil && waited < wholeWait {
			t.Errorf("it is %v after %v", outcome.Status, waited)
		}
	})
}

// TestAWaitBeforeTheLossOfTheLockIsNone has a command wait itself, and then somebody take the lock away: until then its
// holder may have gone on.
func TestAWaitBeforeTheLossOfTheLockIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		died(t, w, "rent")
		if err := w.journal.Append(t.Context(), state.Asked{About: "rent", WaitedMS: wholeWait.Milliseconds(), Reason: "who knows"}, taken(w)); err != nil {
			t.Fatal(err)
		}
		waitsFor(t, w.resolution("rent"), wholeWait)
	})
}
