package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// resolution is the word of a person who waits as long as it takes.
func (w *world) resolution(refID string) executor.Resolution {
	return executor.Resolution{
		RefID: refID, By: state.Holder{User: "ann", Host: "desk"}, Reason: "seen in the service's console",
		Journal: w.journal, Settings: w.settings, Clock: clock{},
	}
}

// adoptable makes the transfer unverified: found before its first request, unproven.
func adoptable(w *world) {
	w.lookup, w.settings.LookUpFirst = true, true
	old := sides(request("rent"), time.Now().Add(-time.Hour), transfer.Completed)
	w.service.find = func([]string) (map[string][]transfer.Record, error) {
		return map[string][]transfer.Record{"rent": old[:1]}, nil
	}
	w.apply(request("rent"))
	w.service.find = nil
}

// conflicting makes the transfer a conflict: the service made another amount of it.
func conflicting(w *world) {
	w.service.after = func(_ string, _ int, a executor.Answer) executor.Answer {
		a.Record = edited(*a.Record, map[string]string{"amount": "70.00", "total": "70.00"})
		return a
	}
	w.apply(request("rent"))
	w.service.after = nil
}

// sharing makes the transfer a conflict whose kept record is stored as that of another one.
func sharing(w *world) {
	answeredAs(w, map[string]string{"id": "debit-of-fund", "ref_id": "", "group_id": "group-of-fund"})
}

// reusing makes the transfer a conflict whose kept record is its own, and has the id of another one's: the service was
// restored from a backup, and counts on from there.
func reusing(w *world) { answeredAs(w, map[string]string{"id": "debit-of-fund"}) }

// answeredAs has the service record one transfer, and answer the next one with a record that has these fields.
func answeredAs(w *world, fields map[string]string) {
	w.settings.InFlightMax = 1
	w.apply(request("fund"))
	w.service.after = func(_ string, _ int, a executor.Answer) executor.Answer {
		a.Record = edited(*a.Record, fields)
		return a
	}
	w.apply(request("rent"))
	w.service.after = nil
}

func refusedBefore(w *world) {
	w.service.before = func(context.Context, string, int) *executor.Answer {
		return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
	}
	w.apply(request("rent"))
	w.service.before = nil
}

func recordedBefore(w *world) { w.apply(request("rent")) }

func TestAPersonsWord(t *testing.T) {
	rent := request("rent")
	give := func(records func() []transfer.Record) func(context.Context, *world) (state.Outcome, error) {
		return func(ctx context.Context, w *world) (state.Outcome, error) {
			return executor.ResolveRecorded(ctx, w.resolution("rent"), records())
		}
	}
	both := func() []transfer.Record { return sides(rent, time.Now(), transfer.Completed) }
	otherAmount := func() []transfer.Record {
		return []transfer.Record{*edited(both()[0], map[string]string{"amount": "70.00"})}
	}
	acceptGiven := func(records func() []transfer.Record) func(context.Context, *world) (state.Outcome, error) {
		return func(ctx context.Context, w *world) (state.Outcome, error) {
			return executor.ResolveAcceptRecord(ctx, w.resolution("rent"), records())
		}
	}
	accept := func(ctx context.Context, w *world) (state.Outcome, error) {
		return executor.ResolveAcceptRecord(ctx, w.resolution("rent"), nil)
	}
	notMade := func(ctx context.Context, w *world) (state.Outcome, error) {
		time.Sleep(w.settings.RequestTimeout) // which the service may need to end what it was asked for
		return executor.ResolveNotMade(ctx, w.resolution("rent"))
	}
	lookUp := func(ctx context.Context, w *world) (state.Outcome, error) {
		return executor.ResolveByLookup(ctx, w.resolution("rent"), w.service)
	}
	reused := func() []transfer.Record {
		return []transfer.Record{*edited(both()[0], map[string]string{"id": "debit-of-fund"})}
	}
	reusingInDoubt := func(w *world) {
		w.settings.InFlightMax = 1
		w.apply(request("fund"))
		doubtful(w)
	}
	answeredAsFund := func(w *world) {
		answeredAs(w, map[string]string{"id": "debit-of-fund", "ref_id": "fund", "group_id": "group-of-fund"})
		w.service.made["rent"] = both()
	}
	answeredOtherwise := func(w *world) {
		answeredAs(w, map[string]string{"ref_id": "their-own"})
		delete(w.service.made, "rent")
	}
	nothing := func(*world) {}
	tests := map[string]struct {
		before func(*world)
		word   func(context.Context, *world) (state.Outcome, error)
		want   state.Status
		err    error // or any of its type
	}{
		"a record ends a doubt":                      {doubtful, give(both), state.Recorded, nil},
		"its debit side is enough":                   {doubtful, give(func() []transfer.Record { return both()[:1] }), state.Recorded, nil},
		"its credit side is not":                     {doubtful, give(func() []transfer.Record { return both()[1:] }), state.InDoubt, executor.ErrCreditOnly},
		"a record from before the intent is adopted": {doubtful, give(func() []transfer.Record { return sides(rent, time.Now().Add(-time.Hour), transfer.Completed)[:1] }), state.Adopted, nil},
		"a record that differs is refused":           {doubtful, give(otherAmount), state.InDoubt, &executor.DifferenceError{}},
		"unless it is accepted":                      {doubtful, acceptGiven(otherAmount), state.Recorded, nil},
		"one that agrees is accepted as well":        {doubtful, acceptGiven(both), state.Recorded, nil},
		"a credit side that differs cannot be": {doubtful, acceptGiven(func() []transfer.Record {
			return []transfer.Record{*edited(both()[1], map[string]string{"amount": "70.00"})}
		}), state.InDoubt, executor.ErrCreditOnly},
		"what was refused is adopted as it is": {refusedBefore, acceptGiven(otherAmount), state.Adopted, nil},
		"no other record of a recorded one is": {recordedBefore, acceptGiven(func() []transfer.Record {
			return []transfer.Record{*edited(otherAmount()[0], map[string]string{"id": "second"})}
		}), state.Recorded, state.ErrRecorded},
		"a record of another customer is accepted": {recordedBefore, acceptGiven(func() []transfer.Record {
			return []transfer.Record{*edited(both()[0], map[string]string{"customer_id": "stranger"})}
		}), state.Recorded, nil},
		"a conflict ends with the record of a person": {conflicting, give(both), state.Recorded, nil},

		"one record for two is not accepted":                {sharing, accept, state.Conflict, &state.DuplicateRecordError{}},
		"the right record ends that":                        {sharing, give(both), state.Recorded, nil},
		"or one that is accepted":                           {sharing, acceptGiven(otherAmount), state.Recorded, nil},
		"or that it was not made as one of its own":         {sharing, notMade, state.Tombstone, nil},
		"one with an id that was given again is accepted":   {reusing, accept, state.Recorded, nil},
		"so it is where a person gives it":                  {reusing, acceptGiven(reused), state.Recorded, nil},
		"but not by mistake":                                {reusing, give(reused), state.Conflict, &executor.ReusedIDError{}},
		"and it was made":                                   {reusing, notMade, state.Conflict, &executor.ListedError{}},
		"a doubt ends with such a record":                   {reusingInDoubt, acceptGiven(reused), state.Recorded, nil},
		"a record that was refused is adopted all the same": {refusedBefore, give(both), state.Adopted, nil},
		"a record proves an unverified one":                 {adoptable, give(func() []transfer.Record { return sides(rent, time.Now().Add(-time.Hour), transfer.Completed) }), state.Adopted, nil},
		"a record of another customer is refused": {recordedBefore, give(func() []transfer.Record {
			return []transfer.Record{*edited(both()[0], map[string]string{"customer_id": "stranger"})}
		}), state.Recorded, &executor.DifferenceError{}},
		"so is one whose credit side is another customer's": {recordedBefore, give(func() []transfer.Record {
			return []transfer.Record{both()[0], *edited(both()[1], map[string]string{"customer_id": "stranger"})}
		}), state.Recorded, &executor.DifferenceError{}},
		"another record of a recorded one is refused": {recordedBefore, give(func() []transfer.Record {
			return []transfer.Record{*edited(both()[0], map[string]string{"id": "second"})}
		}), state.Recorded, state.ErrRecorded},
		"an unknown ref_id has no request to compare": {nothing, give(both), 0, executor.ErrUnknownRefID},

		"an unverified one is accepted":    {adoptable, accept, state.Adopted, nil},
		"a conflict is accepted":           {conflicting, accept, state.Recorded, nil},
		"a doubt cannot be accepted":       {doubtful, accept, state.InDoubt, &executor.StatusError{}},
		"a recorded one needs no word":     {recordedBefore, accept, state.Recorded, &executor.StatusError{}},
		"a doubt is settled as not made":   {doubtful, notMade, state.Tombstone, nil},
		"a conflict is settled so":         {conflicting, notMade, state.Tombstone, nil},
		"a recorded one was made":          {recordedBefore, notMade, state.Recorded, &executor.StatusError{}},
		"a refused one needs no such word": {refusedBefore, notMade, state.Refused, &executor.StatusError{}},

		"a lookup of what is not listed says nothing": {doubtful, lookUp, state.InDoubt, executor.ErrAbsent},
		"a lookup ends a doubt": {func(w *world) {
			w.service.after = func(string, int, executor.Answer) executor.Answer { return *timeout() }
			w.apply(rent)
		}, lookUp, state.Recorded, nil},
		"a lookup proves an unverified one": {func(w *world) {
			adoptable(w)
			w.service.made["rent"] = sides(rent, time.Now().Add(-time.Hour), transfer.Completed)
		}, lookUp, state.Adopted, nil},
		"a lookup ends a conflict with another's record":  {answeredAsFund, lookUp, state.Recorded, nil},
		"not where what it lists differs":                 {func(w *world) { answeredAsFund(w); w.service.made["rent"] = otherAmount() }, lookUp, state.Conflict, &executor.DifferenceError{}},
		"and not where it lists nothing":                  {func(w *world) { answeredAsFund(w); delete(w.service.made, "rent") }, lookUp, state.Conflict, executor.ErrAbsent},
		"another's record is not accepted":                {answeredAsFund, accept, state.Conflict, &state.DuplicateRecordError{}},
		"the ref_id of a record may be the service's own": {answeredOtherwise, lookUp, state.Conflict, executor.ErrForeignKept},
		"and that record is accepted":                     {answeredOtherwise, accept, state.Recorded, nil},
		"a conflict is no matter of a lookup":             {conflicting, lookUp, state.Conflict, &executor.StatusError{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				test.before(w)
				events := len(w.journal.events)
				outcome, err := test.word(t.Context(), w)
				if !sameError(err, test.err) {
					t.Errorf("error %v, want %v", err, test.err)
				}
				if got := w.journal.row("rent").Status; got != test.want {
					t.Errorf("it is %v, want %v", got, test.want)
				}
				if wrote := len(w.journal.events) - events; wrote != map[bool]int{true: 1, false: 0}[test.err == nil] {
					t.Errorf("%d events were written", wrote)
				}
				if test.err == nil && outcome.Source == state.SourcePerson && (outcome.By.User != "ann" || outcome.Reason == "") {
					t.Errorf("outcome: %+v", outcome)
				}
			})
		})
	}
}

// sameError reports whether err is the wanted one, or of its type.
func sameError(err, want error) bool {
	if _, ok := errors.AsType[*executor.DifferenceError](want); ok {
		_, ok := errors.AsType[*executor.DifferenceError](err)
		return ok
	}
	if _, ok := errors.AsType[*executor.StatusError](want); ok {
		_, ok := errors.AsType[*executor.StatusError](err)
		return ok
	}
	if _, ok := errors.AsType[*executor.ReusedIDError](want); ok {
		_, ok := errors.AsType[*executor.ReusedIDError](err)
		return ok
	}
	if _, ok := errors.AsType[*executor.ListedError](want); ok {
		_, ok := errors.AsType[*executor.ListedError](err)
		return ok
	}
	if _, ok := errors.AsType[*state.DuplicateRecordError](want); ok {
		_, ok := errors.AsType[*state.DuplicateRecordError](err)
		return ok
	}
	return errors.Is(err, want)
}

// TestAnAcceptedDifferenceIsKept accepts a difference in three ways: the journal says in what.
func TestAnAcceptedDifferenceIsKept(t *testing.T) {
	rent := request("rent")
	given := []transfer.Record{*edited(*debit(rent, time.Now()), map[string]string{"amount": "70.00", "total": "70.00"})}
	tests := map[string]struct {
		before func(*world)
		given  []transfer.Record
	}{
		"of a conflict's kept record":      {conflicting, nil},
		"of a conflict, by a given record": {conflicting, given},
		"of a doubt, by a given record":    {doubtful, given},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				test.before(w)
				outcome, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("rent"), test.given)
				if err != nil {
					t.Fatal(err)
				}
				want := []transfer.Difference{{Field: "amount", Asked: "80.00", Answered: "70.00"}}
				if diff := cmp.Diff(want, outcome.Differences); diff != "" {
					t.Errorf("differences (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestAConflictOverOneRecordSaysWhatToType has two transfers that the service shows one
// record for.
func TestAConflictOverOneRecordSaysWhatToType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		sharing(w)
		for _, e := range w.events {
			if e.Result == executor.ResultConflict && !strings.Contains(e.Next, "remit resolve rent --recorded FILE --accept-record") {
				t.Errorf("it says %q", e.Next)
			}
		}
		_, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("rent"), nil)
		if err == nil || strings.Count(err.Error(), "record outcome of") != 1 {
			t.Errorf("error: %v", err)
		}
	})
}

// listing is a service that lists records under one ref_id.
type listing map[string][]transfer.Record

func (l listing) Find(context.Context, []string) (map[string][]transfer.Record, error) { return l, nil }

// TestAListedConflictIsNotSettledAsNotMade has a conflict of which the service lists a record, and one of which it lists none.
func TestAListedConflictIsNotSettledAsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		conflicting(w)
		r := w.resolution("rent")
		r.Finder = listing{"rent": sides(request("rent"), time.Now(), transfer.Completed)}
		_, err := executor.ResolveNotMade(t.Context(), r)
		listed, ok := errors.AsType[*executor.ListedError](err)
		if !ok || listed.Status != state.Conflict {
			t.Fatal(err)
		}
		if _, next := executor.Remedy(err, "rent", ""); next != "remit resolve rent --accept-record --reason=…" {
			t.Errorf("it advises %q", next)
		}
		r.Finder = listing{}
		if outcome, err := executor.ResolveNotMade(t.Context(), r); err != nil || outcome.Status != state.Tombstone {
			t.Error(outcome, err)
		}
	})
}

// secondList is a service behind a cache: only its second list is one of now.
type secondList struct {
	listing
	asked int
}

func (l *secondList) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	if l.asked++; l.asked == 1 {
		return nil, nil
	}
	return l.listing.Find(ctx, refIDs)
}

// TestOneListOfNothingIsNoWordForNotMade has a list of before the transfer was made come first.
func TestOneListOfNothingIsNoWordForNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		conflicting(w)
		r := w.resolution("rent")
		r.Finder = &secondList{listing: listing{"rent": sides(request("rent"), time.Now(), transfer.Completed)}}
		if _, err := executor.ResolveNotMade(t.Context(), r); !strings.Contains(fmt.Sprint(err), "so it was made") {
			t.Error(err)
		}
	})
}

// TestNotMadeWaitsForAHolderThatMayBeAlive takes a lock away: who held it may wake up with a
// request that is past its check.
func TestNotMadeWaitsForAHolderThatMayBeAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		died(t, w, "rent")
		time.Sleep(time.Hour) // its run may have tried again until then
		unlocked := time.Now()
		if err := w.journal.Append(t.Context(), taken(w)); err != nil {
			t.Fatal(err)
		}
		_, err := executor.ResolveNotMade(t.Context(), w.resolution("rent"))
		alive, ok := errors.AsType[*executor.AliveError](err)
		if !ok {
			t.Fatalf("error %v, want an AliveError", err)
		}
		want := &executor.AliveError{RefID: "rent", RunID: "run-1", Wait: time.Until(unlocked.Add(30*time.Second + 10*time.Minute)), Clock: "the time since this machine booted"}
		if diff := cmp.Diff(want, alive); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
		time.Sleep(alive.Wait)
		if _, err := executor.ResolveNotMade(t.Context(), w.resolution("rent")); err != nil {
			t.Error(err)
		}
	})
}

// taken is that somebody takes the lock away now, on the machine of the run.
func taken(w *world) state.Unlocked {
	b := w.clock.Boot()
	return state.Unlocked{Reason: "its host is gone", Clocks: state.Clocks{Boot: b.ID, Machine: b.Machine, BootMS: b.Up.Milliseconds()}}
}

// TestTheWaitBeforeNotMadeIsByNoClockThatTheAskerCanSet has a lock that was taken away, and an asker
// whose clock is years ahead.
func TestTheWaitBeforeNotMadeIsByNoClockThatTheAskerCanSet(t *testing.T) {
	ahead := turned{by: 10 * 365 * 24 * time.Hour}
	on := func(boot string) turned { return turned{by: ahead.by, boot: boot} }
	for name, c := range map[string]struct {
		holder, asker turned
		dated         bool // a token is to be had
		wait          time.Duration
		asks          int // that are journalled
	}{
		"on its machine":                    {turned{boot: "a"}, on("a"), false, 10*time.Minute + 30*time.Second, 0},
		"on another one, with a Date":       {turned{boot: "a", machine: "other"}, on("b"), true, 10*time.Minute + 30*time.Second, 1},
		"on another one, without a Date":    {turned{boot: "a", machine: "other"}, on("b"), false, 10*time.Minute + 30*time.Second, 1},
		"on its machine after another boot": {turned{boot: "a"}, on("b"), false, 0, 0}, // which was long ago
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.clock = c.holder
				if !c.dated {
					w.service.ready = func() (time.Time, error) { return time.Time{}, nil }
				}
				died(t, w, "rent")
				time.Sleep(time.Minute)
				if err := w.journal.Append(t.Context(), taken(w)); err != nil {
					t.Fatal(err)
				}
				r := w.resolution("rent")
				r.Clock = c.asker
				if c.dated {
					r.Date = func(context.Context) time.Time { return time.Now() }
				}
				for _, part := range []time.Duration{0, c.wait / 2} {
					if c.wait == 0 {
						break
					}
					time.Sleep(part)
					_, err := executor.ResolveNotMade(t.Context(), r)
					alive, ok := errors.AsType[*executor.AliveError](err)
					if want := c.wait - part; !ok || alive.Wait != want {
						t.Fatalf("got %v, want a wait of %v", err, want)
					}
				}
				time.Sleep(c.wait - c.wait/2)
				if _, err := executor.ResolveNotMade(t.Context(), r); err != nil {
					t.Error(err)
				}
				if n := len(w.journal.kindsOf(state.KindAsked)); n != c.asks {
					t.Errorf("%d asks are journalled, want %d", n, c.asks)
				}
			})
		})
	}
}

// TestADateThatWasAheadMakesNobodyWaitLonger has somebody ask by a service's clock that is years ahead, as the local one
// is, and again when both were set right: the wait begins with that.
func TestADateThatWasAheadMakesNobodyWaitLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const years = 10 * 365 * 24 * time.Hour
		w := lostLock(t)
		r := w.resolution("rent")
		r.Clock = turned{by: years}
		r.Date = func(context.Context) time.Time { return time.Now().Add(years) }
		for range 2 {
			_, err := executor.ResolveNotMade(t.Context(), r)
			if alive, ok := errors.AsType[*executor.AliveError](err); !ok || alive.Wait != 10*time.Minute+30*time.Second {
				t.Fatalf("got %v, want the whole wait", err)
			}
			r.Clock = turned{}
			r.Date = func(context.Context) time.Time { return time.Now() }
		}
		time.Sleep(11 * time.Minute)
		if _, err := executor.ResolveNotMade(t.Context(), r); err != nil {
			t.Error(err)
		}
	})
}

// lostLock is a world without a Date and without a boot clock, in which the lock of a run was taken away while it had
// rent in flight.
func lostLock(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.clock, w.lookup = turned{}, false
	w.service.ready = func() (time.Time, error) { return time.Time{}, nil }
	died(t, w, "rent")
	if err := w.journal.Append(t.Context(), state.Unlocked{Reason: "its host is gone"}); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestNotMadeWaitsItselfWhereAnyClockCanBeSet has no clock but the local one, which somebody sets ten hours ahead: the
// command waits itself.
func TestNotMadeWaitsItselfWhereAnyClockCanBeSet(t *testing.T) {
	const whole = 10*time.Minute + 30*time.Second
	synctest.Test(t, func(t *testing.T) {
		w := lostLock(t)
		r := w.resolution("rent")
		r.Clock = turned{}
		interrupted, interrupt := context.WithTimeout(t.Context(), whole-time.Second)
		defer interrupt()
		if outcome, err := executor.ResolveNotMade(interrupted, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("interrupted: %v, %v", outcome, err)
		}
		if got := w.journal.row("rent").Status; got != state.InDoubt {
			t.Fatalf("interrupted, rent is %v", got)
		}
		var said []string
		r.Clock, r.Waiting = turned{by: 10 * time.Hour}, func(text string) { said = append(said, text) }
		before := time.Now()
		_, err := executor.ResolveNotMade(t.Context(), r)
		if alive, ok := errors.AsType[*executor.AliveError](err); !ok || !alive.Waited || !strings.Contains(err.Error(), "remit has waited 10m30s. Look again") {
			t.Fatalf("got %v", err)
		}
		if waited := time.Since(before); waited != whole {
			t.Errorf("it waited %v, want %v", waited, whole)
		}
		r.Clock = turned{} // set back since
		if _, err := executor.ResolveNotMade(t.Context(), r); err != nil {
			t.Error(err)
		}
		if len(said) != 1 || !strings.Contains(said[0], "remit waits 10m30s here") {
			t.Errorf("it said %q", said)
		}
	})
}

// TestAShortWaitIsNoLongOne has a command wait for a transfer whose run has ended, which the service alone may still
// carry out. Another transfer, which the holder of a lost lock may be sending, has a longer wait of its own.
func TestAShortWaitIsNoLongOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := lostLock(t)
		if err := w.journal.Append(t.Context(), state.Asked{About: "other", WaitedMS: (30 * time.Second).Milliseconds(), Reason: "the bank says so"}); err != nil {
			t.Fatal(err)
		}
		r := w.resolution("rent")
		r.Clock = turned{}
		_, err := executor.ResolveNotMade(t.Context(), r)
		if alive, ok := errors.AsType[*executor.AliveError](err); !ok || alive.Wait != 10*time.Minute+30*time.Second {
			t.Fatalf("got %v, want the whole wait", err)
		}
	})
}

// TestOneWrongClockNeverEndsTheWaitBeforeNotMade has a service whose Date goes an hour ahead after a
// lock was taken away. The time since the machine booted says better.
func TestOneWrongClockNeverEndsTheWaitBeforeNotMade(t *testing.T) {
	for name, local := range map[string]time.Duration{
		"the local clock contradicts the Date":   0,
		"the local clock is as wrong as it":      time.Hour,
		"the local clock is wrong the other way": -time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.clock = turned{boot: "a"}
				died(t, w, "rent")
				lock := taken(w)
				lock.Clocks.Date = time.Now()
				if err := w.journal.Append(t.Context(), lock); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				r := w.resolution("rent")
				r.Clock = turned{boot: "a", by: local}
				r.Date = func(context.Context) time.Time { return time.Now().Add(time.Hour) }
				_, err := executor.ResolveNotMade(t.Context(), r)
				alive, ok := errors.AsType[*executor.AliveError](err)
				if !ok || alive.Wait < 10*time.Minute {
					t.Fatalf("got %v, want a wait", err)
				}
				time.Sleep(alive.Wait - time.Minute)
				if _, err := executor.ResolveNotMade(t.Context(), r); err == nil {
					t.Fatal("it was settled before the wait was over")
				}
				time.Sleep(time.Minute + 2*time.Second)
				if _, err := executor.ResolveNotMade(t.Context(), r); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestNotMadeWaitsForEachHolderThatMayBeAlive takes the lock away between two attempts: the first one
// may still be under way when the second one was answered.
func TestNotMadeWaitsForEachHolderThatMayBeAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		died(t, w, "rent")
		first := w.journal.row("rent")
		unlocked := time.Now()
		if err := w.journal.Append(t.Context(), taken(w)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		doubtful(w)
		if second := w.journal.row("rent"); second.RunID == first.RunID {
			t.Fatal("there was no second attempt")
		}
		_, err := executor.ResolveNotMade(t.Context(), w.resolution("rent"))
		alive, ok := errors.AsType[*executor.AliveError](err)
		if !ok || alive.RunID != first.RunID || alive.Wait != time.Until(unlocked.Add(30*time.Second+10*time.Minute)) {
			t.Fatalf("error %v, want an AliveError of the first run", err)
		}
		time.Sleep(alive.Wait)
		if _, err := executor.ResolveNotMade(t.Context(), w.resolution("rent")); err != nil {
			t.Error(err)
		}
	})
}

// TestNotMadeAsksTheServiceFirst has a person say that a doubt was not made, of a service that has a lookup.
func TestNotMadeAsksTheServiceFirst(t *testing.T) {
	records := func() map[string][]transfer.Record {
		return map[string][]transfer.Record{"rent": sides(request("rent"), time.Now(), transfer.Completed)}
	}
	unreadable := &executor.UnreadableError{Reasons: map[string]string{"rent": "its amount is no number"}}
	tests := map[string]struct {
		find    func([]string) (map[string][]transfer.Record, error)
		refused string
		unasked bool
	}{
		"it lists a record":        {func([]string) (map[string][]transfer.Record, error) { return records(), nil }, "so it was made", false},
		"it lists something":       {func([]string) (map[string][]transfer.Record, error) { return nil, unreadable }, "its amount is no number", false},
		"it lists nothing":         {func([]string) (map[string][]transfer.Record, error) { return nil, nil }, "", false},
		"it can't be asked at all": {func([]string) (map[string][]transfer.Record, error) { return nil, errors.New("no route") }, "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				doubtful(w)
				time.Sleep(w.settings.RequestTimeout)
				w.service.find = tt.find
				r := w.resolution("rent")
				var unasked error
				r.Finder, r.Unasked = w.service, func(err error) { unasked = err }
				_, err := executor.ResolveNotMade(t.Context(), r)
				listed, isRefused := errors.AsType[*executor.ListedError](err)
				want := state.Tombstone
				if tt.refused != "" {
					want = state.InDoubt
				}
				if got := w.journal.row("rent").Status; got != want || isRefused != (tt.refused != "") || isRefused && !strings.Contains(listed.Error(), tt.refused) {
					t.Errorf("it is %v, want %v: error %v", got, want, err)
				}
				if (unasked != nil) != tt.unasked {
					t.Errorf("unasked: %v, want %v", unasked, tt.unasked)
				}
			})
		})
	}
}

// TestABootOfOneMachineSaysNothingOfItsClone has a run on another host of a server, with the name and the machine ID of the
// asker's.
func TestABootOfOneMachineSaysNothingOfItsClone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock, w.journal.file = turned{boot: "a"}, state.FilePlace{}
		died(t, w, "rent")
		time.Sleep(time.Minute)
		r := w.resolution("rent")
		r.Clock, r.Journal = turned{boot: "b"}, losable{w.journal}
		_, err := executor.ResolveNotMade(t.Context(), r)
		if alive, ok := errors.AsType[*executor.AliveError](err); !ok || alive.Wait < 10*time.Minute {
			t.Errorf("got %v, want a wait of more than 10m", err)
		}
	})
}

// TestWhatMayHaveBeenMadeIsNotForgotten has a person forget a transfer in each standing.
func TestWhatMayHaveBeenMadeIsNotForgotten(t *testing.T) {
	tests := map[string]struct {
		before  func(*world)
		refused bool
	}{
		"a doubt":                 {doubtful, true},
		"a conflict of an answer": {conflicting, true},
		"recorded":                {recordedBefore, false},
		"refused":                 {refusedBefore, false},
		"unverified":              {adoptable, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				tt.before(w)
				time.Sleep(w.settings.RequestTimeout)
				_, err := executor.ResolveForgotten(t.Context(), w.resolution("rent"))
				if _, got := errors.AsType[*executor.UnsettledError](err); got != tt.refused || !got && err != nil {
					t.Errorf("got %v, want it refused: %v", err, tt.refused)
				}
				if isGone := w.journal.row("rent").Status == state.Tombstone; isGone == tt.refused {
					t.Errorf("it is %v", w.journal.row("rent").Status)
				}
			})
		})
	}
}

// losable is a journal whose lock a server keeps.
type losable struct{ *memory }

func (losable) IsLosable() bool { return true }

// booted is a clock on a machine with a boot of its own.
type booted struct {
	clock
	boot executor.Boot
}

func (b booted) Boot() executor.Boot {
	if b.boot.ID == "" {
		return executor.Boot{}
	}
	return executor.Boot{ID: b.boot.ID, Machine: b.boot.Machine, Up: b.clock.Boot().Up}
}

// TestNotMadeWaitsInACopy has a run die without an end, and somebody settle what it had in flight
// where the state may be another file than the one whose lock that run had.
func TestNotMadeWaitsInACopy(t *testing.T) {
	here := clock{}.Boot()
	const dead = 30 * time.Second // the service may be at work
	const alive = dead + 10*time.Minute
	for name, c := range map[string]struct {
		file state.FilePlace // where it is settled
		boot executor.Boot
		ends bool
		wait time.Duration
	}{
		"the same file":                         {state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: "77"}, here, false, dead},
		"the same file, of an ended run":        {state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: "77"}, here, true, dead},
		"the same file by another path":         {state.FilePlace{Path: "/mnt/remit.db", Device: "8:1", Inode: "77"}, here, false, dead},
		"the same file after a restart":         {state.FilePlace{Path: "/var/lib/remit.db", Device: "8:17", Inode: "77"}, executor.Boot{ID: "next", Machine: "machine"}, false, 0},
		"another device with the same number":   {state.FilePlace{Path: "/var/lib/remit.db", Device: "8:17", Inode: "77"}, here, false, alive},
		"a copy beside it":                      {state.FilePlace{Path: "/var/lib/copy.db", Device: "8:1", Inode: "78"}, here, false, alive},
		"a copy in its place":                   {state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: "78"}, here, false, alive},
		"a copy in its place, of an ended run":  {state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: "78"}, here, true, alive},
		"the same numbers on another machine":   {state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: "77"}, executor.Boot{ID: "its own", Machine: "another"}, false, alive},
		"another file of the machine, later on": {state.FilePlace{Path: "/var/lib/copy.db", Device: "8:1", Inode: "77"}, executor.Boot{ID: "next", Machine: "machine"}, false, alive},
		"a system that names no files":          {state.FilePlace{}, here, false, alive},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				died(t, w, "rent")
				if c.ends {
					if err := w.journal.Append(t.Context(), state.Ended{RunID: w.journal.row("rent").RunID}); err != nil {
						t.Fatal(err)
					}
				}
				w.journal.file = c.file
				r := w.resolution("rent")
				r.Clock = booted{clock{}, c.boot}
				_, err := executor.ResolveNotMade(t.Context(), r)
				alive, waits := errors.AsType[*executor.AliveError](err)
				if waits != (c.wait > 0) || !waits && err != nil {
					t.Fatalf("got %v", err)
				}
				if !waits {
					return
				}
				if alive.Wait != c.wait {
					t.Errorf("it waits %v, want %v", alive.Wait, c.wait)
				}
				if isCopy := c.file.Inode == "78"; isCopy != strings.Contains(alive.Error(), "is a copy") {
					t.Errorf("it says %v", alive)
				}
				time.Sleep(alive.Wait)
				if _, err := executor.ResolveNotMade(t.Context(), r); err != nil {
					t.Errorf("after the wait: %v", err)
				}
			})
		})
	}
}

// TestNotMadeWaitsForARunOfTheOriginal has the machine of an attempt boot again, and a run on another machine under way when the
// state was copied: that run had not come to the doubt yet, and may send it again. The simulator found it (seed 21974).
func TestNotMadeWaitsForARunOfTheOriginal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		died(t, w, "rent")
		later := state.Begun{
			RunID: "later", By: state.Holder{Host: "other"}, File: state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: "77"},
			Clocks: state.Clocks{Boot: "other", Machine: "other", BootMS: 1},
		}
		if err := w.journal.Append(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		w.journal.file = state.FilePlace{Path: "/var/lib/remit.db", Device: "8:17", Inode: "78"}
		r := w.resolution("rent")
		r.Clock = booted{clock{}, executor.Boot{ID: "next", Machine: "machine"}}
		_, err := executor.ResolveNotMade(t.Context(), r)
		alive, ok := errors.AsType[*executor.AliveError](err)
		if !ok || alive.RunID != "later" || alive.Wait != 30*time.Second+10*time.Minute {
			t.Fatalf("got %v, want a wait for the run that may send it", err)
		}
		time.Sleep(alive.Wait)
		if _, err := executor.ResolveNotMade(t.Context(), r); err != nil {
			t.Errorf("after the wait: %v", err)
		}
	})
}

// TestNotMadeWaitsAnewInACopyOfACopy has somebody ask in a copy, and a run that goes on there. In a copy of
// that one the run may attempt a doubt at any time: neither the asking nor an earlier run proves that
// it does not.
func TestNotMadeWaitsAnewInACopyOfACopy(t *testing.T) {
	for name, isBegunBefore := range map[string]bool{"after somebody asked": false, "after somebody asked, and a run": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				died(t, w, "rent")
				copied := func(inode string) {
					w.journal.file = state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: inode}
				}
				begin := func(runID string) {
					b := w.clock.Boot()
					begun := state.Begun{RunID: runID, File: w.journal.file, Clocks: state.Clocks{Boot: b.ID, Machine: b.Machine, BootMS: b.Up.Milliseconds()}}
					if err := w.journal.Append(t.Context(), begun); err != nil {
						t.Fatal(err)
					}
				}
				ask := func() time.Duration {
					t.Helper()
					_, err := executor.ResolveNotMade(t.Context(), w.resolution("rent"))
					alive, ok := errors.AsType[*executor.AliveError](err)
					if !ok {
						t.Fatalf("got %v, want an AliveError", err)
					}
					return alive.Wait
				}
				copied("78")
				if isBegunBefore {
					begin("run-2")
				}
				whole := ask()
				time.Sleep(whole)
				begin("run-3")
				copied("79")
				if wait := ask(); wait != whole {
					t.Errorf("it waits %v, want %v", wait, whole)
				}
				time.Sleep(whole)
				if _, err := executor.ResolveNotMade(t.Context(), w.resolution("rent")); err != nil {
					t.Errorf("after the wait: %v", err)
				}
			})
		})
	}
}

// died leaves a run without an end, with a request in doubt.
func died(t *testing.T, w *world, refID string) {
	t.Helper()
	w.journal.before = func(effect string) error {
		if effect == "append ended" {
			return errors.New("the process died")
		}
		return nil
	}
	w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
	if _, err := executor.Apply(t.Context(), w.run(w.plan(request(refID)))); err == nil {
		t.Fatal("the run ended")
	}
	w.journal.before = func(string) error { return nil }
	time.Sleep(time.Second)
}

// TestNotMadeWaitsForARunThatMayHaveLostItsLock has a lock be free because a connection ended: only
// where the run says that it ended is nothing of it under way, and then the service may still be at work.
func TestNotMadeWaitsForARunThatMayHaveLostItsLock(t *testing.T) {
	const dead = 30 * time.Second
	const alive = dead + 10*time.Minute
	for name, c := range map[string]struct {
		ends      bool
		isLosable bool
		runners   []state.Runner
		next      bool // another run began
		wait      time.Duration
	}{
		"a run that says nothing":                   {isLosable: true, wait: alive},
		"a run that says nothing, and the next one": {isLosable: true, next: true, wait: alive - 5*time.Minute},
		"a run that ended":                          {isLosable: true, ends: true, wait: dead},
		"a run that ended a while ago":              {isLosable: true, ends: true, next: true},
		"a run that ended without a runner":         {isLosable: true, ends: true, runners: []state.Runner{{Number: 1}, {Number: 2, Lost: true}}, wait: alive},
		"a run that ended with all runners":         {isLosable: true, ends: true, runners: []state.Runner{{Number: 1}, {Number: 2}}, wait: dead},
		"a lock that dies with its process":         {wait: dead},
		"such a lock, and the next run":             {next: true},
		"such a lock, and a run that ended":         {ends: true, wait: dead},
		"such a lock, and a runner was lost":        {ends: true, runners: []state.Runner{{Number: 1, Lost: true}}, wait: dead},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				died(t, w, "rent")
				time.Sleep(time.Hour) // its run may have tried again until then
				clocks := state.Clocks{Boot: "boot", Machine: "machine", BootMS: clock{}.Boot().Up.Milliseconds()}
				var entries []state.Entry
				if c.ends {
					entries = append(entries, state.Ended{RunID: w.journal.row("rent").RunID, Runners: c.runners, Clocks: clocks})
				}
				if c.next {
					entries = append(entries, state.Begun{RunID: "the next", Clocks: clocks, File: w.journal.file})
				}
				if len(entries) > 0 {
					if err := w.journal.Append(t.Context(), entries...); err != nil {
						t.Fatal(err)
					}
				}
				if c.next {
					time.Sleep(5 * time.Minute)
				}
				r := w.resolution("rent")
				if c.isLosable {
					r.Journal = losable{w.journal}
				}
				_, err := executor.ResolveNotMade(t.Context(), r)
				alive, waits := errors.AsType[*executor.AliveError](err)
				if waits != (c.wait > 0) || !waits && err != nil {
					t.Fatalf("got %v", err)
				}
				if !waits {
					return
				}
				if alive.Wait != c.wait {
					t.Errorf("it waits %v, want %v", alive.Wait, c.wait)
				}
				time.Sleep(alive.Wait)
				if _, err := executor.ResolveNotMade(t.Context(), r); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestNotMadeNeedsNoWaitForWhatWasAnswered has a conflict, of which the answer was read.
func TestNotMadeNeedsNoWaitForWhatWasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		conflicting(w)
		if _, err := executor.ResolveNotMade(t.Context(), w.resolution("rent")); err != nil {
			t.Error(err)
		}
	})
}

func TestALockThatWasTakenAwayEarlierIsNoMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if err := w.journal.Append(t.Context(), taken(w)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		doubtful(w)
		time.Sleep(w.settings.RequestTimeout)
		if _, err := executor.ResolveNotMade(t.Context(), w.resolution("rent")); err != nil {
			t.Error(err)
		}
	})
}

// TestAnAcceptedConflictKeepsTheDebitFirst accepts what two sides say.
func TestAnAcceptedConflictKeepsTheDebitFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		w.lookup = true
		records := sides(request("rent"), time.Now(), transfer.Completed)
		w.service.find = func([]string) (map[string][]transfer.Record, error) {
			return map[string][]transfer.Record{"rent": {*edited(records[1], map[string]string{"amount": "70.00"}), *edited(records[0], map[string]string{"amount": "70.00"})}}, nil
		}
		w.apply(request("rent"))
		if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("rent"), nil); err != nil {
			t.Fatal(err)
		}
		if got := w.journal.row("rent").RecordID; got != "debit-of-rent" {
			t.Errorf("the state has record %q", got)
		}
	})
}

func TestALookupByAPersonWaitsForLateLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		doubtful(w)
		calls := 0
		w.service.find = func([]string) (map[string][]transfer.Record, error) {
			if calls++; calls < 5 {
				return nil, nil
			}
			return map[string][]transfer.Record{"rent": {*debit(request("rent"), time.Now())}}, nil
		}
		outcome, err := executor.ResolveByLookup(t.Context(), w.resolution("rent"), w.service)
		if err != nil || outcome.Status != state.Recorded || outcome.Source != state.SourceLookup {
			t.Errorf("%+v, %v", outcome, err)
		}
	})
}

// TestACreditSideIsNotAcceptedForATransfer has a conflict whose kept record is of the credit
// side: taken for the transfer's own, no record of the debit side could replace it.
func TestACreditSideIsNotAcceptedForATransfer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		both := sides(request("rent"), time.Now(), transfer.Completed)
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.Answered, HTTPStatus: 200, Record: edited(both[1], map[string]string{"ref_id": "another"})}
		}
		w.apply(request("rent"))
		if got := w.journal.row("rent").Status; got != state.Conflict {
			t.Fatalf("it is %v, want a conflict", got)
		}
		if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("rent"), nil); !errors.Is(err, executor.ErrCreditOnly) {
			t.Errorf("error %v", err)
		}
		if _, err := executor.ResolveRecorded(t.Context(), w.resolution("rent"), both); err != nil {
			t.Error(err)
		}
		if row := w.journal.row("rent"); row.Status != state.Recorded || row.RecordID != both[0].ID {
			t.Errorf("it is %v with record %q", row.Status, row.RecordID)
		}
	})
}
