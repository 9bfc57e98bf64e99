package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// sharing is a runner of a run that several carry out.
type sharing interface {
	state.Journal
	state.Share
}

// began locks a state and begins a run there.
func began(t *testing.T, s *postgres.Store, runID string) sharing {
	t.Helper()
	holder := statetest.Holder("apply")
	holder.RunID = runID
	j, err := s.Lock(t.Context(), holder, 0)
	if err != nil {
		t.Fatal(err)
	}
	add(t, j, state.Begun{RunID: runID, By: holder, Digest: "digest"})
	t.Cleanup(func() { _ = j.Unlock() }) // some are fenced
	return j.(sharing)
}

// opened opens the run of began with parts of one line each.
func opened(t *testing.T, j sharing, rate state.Rate, inHand []string, refIDs ...string) {
	t.Helper()
	o := state.Opening{Plan: []byte("the plan"), InHand: inHand, Rates: func() map[transfer.Operation]state.Rate {
		return map[transfer.Operation]state.Rate{transfer.Internal: rate}
	}}
	for i, refID := range refIDs {
		o.Parts = append(o.Parts, state.Part{Number: i + 1, RefIDs: []string{refID}})
	}
	if err := j.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func join(t *testing.T, server *pgtest.Server, schema string, wait time.Duration) (state.JoinedJournal, error) {
	t.Helper()
	j, err := reopen(t, server, schema).Join(t.Context(), statetest.Holder("apply --join"), wait)
	if err == nil {
		t.Cleanup(func() { _ = j.Unlock() }) // some are fenced
	}
	return j, err
}

func joined(t *testing.T, server *pgtest.Server, schema string) state.JoinedJournal {
	t.Helper()
	j, err := join(t, server, schema, patience)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func claim(t *testing.T, j state.Share) []string {
	t.Helper()
	parts, _, err := j.Claim(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	var refIDs []string
	for _, p := range parts {
		refIDs = append(refIDs, p.RefIDs...)
	}
	return refIDs
}

var rate = state.Rate{Requests: 5, Window: time.Second}

// A run is joined by nobody before it is open, and its lock is held by all who take part: no
// other run begins while one of them lives.
func TestARunIsJoinedOnceItIsOpen(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	if _, err := join(t, server, schema, 0); !errors.Is(err, state.ErrNoRun) {
		t.Errorf("join while nobody runs: %v", err)
	}
	first := began(t, s, "run-1")
	var locked *state.LockedError
	if _, err := join(t, server, schema, 200*time.Millisecond); !errors.As(err, &locked) {
		t.Errorf("join a run that is not open: %v", err)
	}
	opened(t, first, rate, nil, "a", "b")
	second := joined(t, server, schema)
	if second.RunID() != "run-1" {
		t.Errorf("joined run %q", second.RunID())
	}
	if plan, err := second.Plan(t.Context()); err != nil || string(plan) != "the plan" {
		t.Errorf("the plan is %q: %v", plan, err)
	}
	if rates, err := second.Rates(t.Context()); err != nil || len(rates) != 1 || rates[transfer.Internal].Requests != rate.Requests || rates[transfer.Internal].Window != rate.Window {
		t.Errorf("the rate limits are %v: %v", rates, err)
	}
	if _, err := reopen(t, server, schema).Lock(t.Context(), statetest.Holder("another"), 0); !errors.As(err, &locked) {
		t.Errorf("another run locks: %v", err)
	}
	// The one who began it leaves; the other holds the lock, and says so.
	if err := errors.Join(first.Leave(t.Context()), first.Unlock()); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the one who is left to sign", func() bool {
		snap, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		holder, held := snap.Holder()
		return held && holder.RunID == "run-1" && holder.Command == "apply --join"
	})
	add(t, second, statetest.Intent("a", "run-1", "10.00"))
	if err := errors.Join(second.Leave(t.Context()), second.Unlock()); err != nil {
		t.Fatal(err)
	}
	unlock(t, lock(t, s))
}

// Each part is one runner's, and parts of a level wait for those below.
func TestAPartIsClaimedOnce(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	var parts []state.Part
	for i := range 60 {
		parts = append(parts, state.Part{Number: i + 1, Level: i / 30, RefIDs: []string{fmt.Sprintf("t-%02d", i)}})
	}
	if err := first.Open(t.Context(), state.Opening{Parts: parts, Rates: func() map[transfer.Operation]state.Rate { return nil }}); err != nil {
		t.Fatal(err)
	}
	runners := []state.Share{first, joined(t, server, schema), joined(t, server, schema)}
	var mu sync.Mutex
	var claimed []string
	var all sync.WaitGroup
	for _, r := range runners {
		all.Go(func() {
			for {
				parts, done, err := r.Claim(context.Background(), false)
				if err != nil {
					t.Error(err)
					return
				}
				if done {
					return
				}
				for _, p := range parts {
					mu.Lock()
					claimed = append(claimed, p.RefIDs...)
					if p.Level == 1 && len(claimed) <= 30 {
						t.Errorf("part %d is claimed before what it depends on is done", p.Number)
					}
					mu.Unlock()
					if err := r.Done(context.Background(), []int{p.Number}, 1, nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	slices.Sort(claimed)
	if len(claimed) != 60 || len(slices.Compact(claimed)) != 60 {
		t.Errorf("%d parts were claimed, of 60", len(claimed))
	}
}

// Each tally is kept beside those of before, that of one who is lost as well, and none of one who is
// lost already. The next run has none of them.
func TestTalliesAreKeptBesideOneAnother(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	if err := first.Open(t.Context(), state.Opening{
		InHand: []string{"in hand"}, Parts: []state.Part{{Number: 1, RefIDs: []string{"a"}}},
		Rates:   func() map[transfer.Operation]state.Rate { return nil },
		Settled: 3, Tally: []byte("before"),
	}); err != nil {
		t.Fatal(err)
	}
	second := joined(t, server, schema)
	claim(t, second)
	for _, done := range []struct {
		by      state.Share
		parts   []int
		settled int
		tally   string
	}{{first, []int{0}, 4, "in hand"}, {second, []int{1}, 1, "a"}, {first, nil, 4, "learned"}, {second, nil, 1, ""}} {
		if err := done.by.Done(t.Context(), done.parts, done.settled, []byte(done.tally)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := server.TryExec(t.Context(), schema, `UPDATE runners SET gone = 'lost' WHERE number = 2`); err != nil {
		t.Fatal(err)
	}
	if err := second.Done(t.Context(), nil, 2, []byte("late")); !errors.Is(err, state.ErrFenced) {
		t.Errorf("a lost runner notes: %v", err)
	}
	runners, tallies, err := first.Runners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(runners) != 2 || runners[0].Settled != 4 || runners[1].Settled != 1 || !runners[1].Lost {
		t.Errorf("the runners are %+v", runners)
	}
	if got := string(bytes.Join(tallies, []byte(", "))); got != "before, in hand, learned, a" {
		t.Errorf("the tallies are %s", got)
	}
	if err := errors.Join(first.Leave(t.Context()), first.Unlock()); err != nil {
		t.Fatal(err)
	}
	began(t, s, "run-2")
	if got := server.Exec(t, schema, `SELECT count(*) FROM tallies`); got != "0" {
		t.Errorf("%s tallies are left to the next run", got)
	}
}

// A runner without a sign of life is lost: others claim what it had, and it writes nothing more and
// begins nothing more, whatever it does.
func TestALostRunnerIsFenced(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, []string{"in hand"}, "a", "b")
	second := joined(t, server, schema)
	if got := claim(t, second); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("claimed %v", got)
	}
	add(t, second, statetest.Intent("a", "run-1", "10.00"))
	// Its lease ends, as if it had stood still.
	if _, err := server.TryExec(t.Context(), schema, `UPDATE runners SET lease_until = lease_until - interval '1 hour', gone = 'lost' WHERE number = 2`); err != nil {
		t.Fatal(err)
	}
	outcome := statetest.Outcome("a", "run-1", state.SourceAnswer, state.Recorded)
	for what, err := range map[string]error{
		"writes an outcome": second.Append(t.Context(), outcome),
		"may begin":         second.Check(t.Context()),
		"is done":           second.Done(t.Context(), []int{1}, 1, nil),
	} {
		if !errors.Is(err, state.ErrFenced) {
			t.Errorf("a lost runner %s: %v", what, err)
		}
	}
	waitUntil(t, "the other to claim what it had", func() bool {
		parts, _, err := first.Claim(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		return len(parts) == 1 && parts[0].RefIDs[0] == "a" && parts[0].Again
	})
	for _, row := range rows(t, s) {
		if row.RefID == "a" && (row.Status != state.InDoubt || !row.Open()) {
			t.Errorf("what it had begun is %s", row.Status)
		}
	}
	// The last one to leave takes the lock from it, although its session lives.
	if alone, err := first.Alone(t.Context()); err != nil || !alone {
		t.Errorf("alone: %t, %v", alone, err)
	}
	if err := errors.Join(first.Leave(t.Context()), first.Unlock()); err != nil {
		t.Fatal(err)
	}
	unlock(t, lock(t, s))
}

// A runner whose process is killed is lost as soon as the server has seen its connection end.
func TestAKilledRunnerIsLostAtOnce(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a")
	second := joined(t, server, schema)
	claim(t, second)
	// To wait for the end of its lease would take an hour.
	server.Exec(t, schema, `WITH lasting AS (UPDATE runners SET lease_until = now() + interval '1 hour' WHERE number = 2 RETURNING pid)
		SELECT pg_terminate_backend(pid) FROM lasting`)
	waitUntil(t, "the other to claim what it had", func() bool { return len(claim(t, first)) == 1 })
}

// A runner whose session the server ended has lost its server, and not the others' patience: it may join again, also where it
// has claimed nothing. The others had no time to wait for its lease.
func TestARunnerWithoutItsSessionMayJoinAgain(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a")
	second := joined(t, server, schema)
	server.Exec(t, schema, `SELECT pg_terminate_backend(pid) FROM runners WHERE number = 2`)
	waitUntil(t, "it to be lost", func() bool {
		return server.Exec(t, schema, `SELECT gone = 'lost' FROM runners WHERE number = 2`) == "true"
	})
	_, _, err := second.Claim(t.Context(), false)
	if !errors.Is(err, state.ErrLost) || !errors.Is(err, state.ErrAway) || errors.Is(err, state.ErrFenced) {
		t.Errorf("got %v, want %v and %v", err, state.ErrLost, state.ErrAway)
	}
	again := joined(t, server, schema)
	if got := claim(t, again); !slices.Equal(got, []string{"a"}) {
		t.Errorf("it joined again, and claimed %v", got)
	}
}

// Journals of several runners make one chain, and force-unlock ends all of them.
func TestRunnersWriteOneJournal(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a")
	runners := []state.Journal{first, joined(t, server, schema), joined(t, server, schema)}
	var all sync.WaitGroup
	for n, j := range runners {
		for worker := range 4 {
			all.Go(func() {
				for i := range 20 {
					refID := fmt.Sprintf("%d-%d-%d", n, worker, i)
					if err := j.Append(context.Background(), statetest.Intent(refID, "run-1", "10.00")); err != nil {
						t.Error(err)
						return
					}
					if err := j.Append(context.Background(), statetest.Outcome(refID, "run-1", state.SourceAnswer, state.Recorded)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	if _, err := s.Verify(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if got := len(rows(t, s)); got != 240 {
		t.Errorf("%d rows, want 240", got)
	}
	if err := s.ForceUnlock(t.Context(), statetest.Holder("force"), state.Clocks{}, "it hangs"); err != nil {
		t.Fatal(err)
	}
	for n, j := range runners {
		if err := j.Append(t.Context(), statetest.Intent(fmt.Sprint("late-", n), "run-1", "10.00")); !errors.Is(err, state.ErrFenced) {
			t.Errorf("runner %d writes after its lock was taken away: %v", n+1, err)
		}
	}
	unlock(t, lock(t, s))
}

// However many runners reserve, and whatever they do with it, no window has more starts than
// the rate allows.
func TestRunnersShareARate(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	shared := state.Rate{Requests: 7, Window: 300 * time.Millisecond, Ages: []time.Duration{0, 0, 0, 0}}
	starts := slices.Repeat([]time.Time{time.Now()}, 4) // those of before
	opened(t, first, shared, nil, "a")
	runners := []state.Share{first, joined(t, server, schema), joined(t, server, schema)}
	var mu sync.Mutex
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(starts) >= 60
	}
	var all sync.WaitGroup
	for n, r := range runners {
		all.Go(func() {
			for !enough() {
				asked := time.Now()
				got, within, err := r.Reserve(context.Background(), transfer.Internal, shared, 1+n)
				if err != nil {
					t.Error(err)
					return
				}
				if got == 0 {
					time.Sleep(within)
					continue
				}
				if n == 2 { // begins as late as it may
					time.Sleep(time.Until(asked.Add(within - 5*time.Millisecond)))
				}
				mu.Lock()
				if now := time.Now(); now.Before(asked.Add(within)) {
					starts = append(starts, slices.Repeat([]time.Time{now}, got)...)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.SortFunc(starts, time.Time.Compare)
	for first, last := 0, 0; last < len(starts); last++ {
		for starts[last].Sub(starts[first]) >= shared.Window {
			first++
		}
		if n := last - first + 1; n > shared.Requests {
			t.Fatalf("%d starts in a window, %d are allowed", n, shared.Requests)
		}
	}
}

// A runner that asks to take part after the last one has closed the run is too late.
func TestAClosedRunIsNotJoined(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a")
	if alone, err := first.Alone(t.Context()); err != nil || !alone {
		t.Fatalf("alone: %t, %v", alone, err)
	}
	if _, err := join(t, server, schema, time.Second); !errors.Is(err, state.ErrNoRun) {
		t.Errorf("join a closed run: %v", err)
	}
}

// Of runners that leave at the same moment one is the last, and ends the run: each of them asks
// before any of them has left.
func TestOfSeveralWhoLeaveOneIsTheLast(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a", "b")
	second := joined(t, server, schema)
	claim(t, first)
	if alone, err := first.Alone(t.Context()); err != nil || alone {
		t.Fatalf("the first is alone: %t, %v", alone, err)
	}
	if alone, err := second.Alone(t.Context()); err != nil || !alone {
		t.Fatalf("the second is alone: %t, %v", alone, err)
	}
	if parts, _, err := second.Claim(t.Context(), true); err != nil || len(parts) != 2 {
		t.Errorf("the second claims %v: %v", parts, err)
	}
	time.Sleep(1500 * time.Millisecond) // a sign of life is due each second
	if err := errors.Join(first.Leave(t.Context()), second.Leave(t.Context())); err != nil {
		t.Error(err)
	}
}

// The opener of a run that others take for lost, before it has heard that the run is open,
// writes nothing and begins nothing.
func TestALostOpenerIsFenced(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	err := first.Open(t.Context(), state.Opening{Rates: func() map[transfer.Operation]state.Rate {
		add(t, first, statetest.Intent("a", "run-1", "10.00"))
		if err := first.Check(t.Context()); err != nil {
			t.Error(err)
		}
		server.Exec(t, schema, `INSERT INTO runners VALUES ('run-1', 1, 1, '{}', true, now(), 'lost', 0)`)
		if err := first.Append(t.Context(), statetest.Intent("b", "run-1", "10.00")); !errors.Is(err, state.ErrFenced) {
			t.Errorf("append: %v", err)
		}
		if err := first.Check(t.Context()); !errors.Is(err, state.ErrFenced) {
			t.Errorf("check: %v", err)
		}
		return nil
	}})
	if err == nil {
		t.Error("the run is open")
	}
}

// A stop reaches every runner.
func TestAStopReachesEveryRunner(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a")
	second := joined(t, server, schema)
	if err := second.Stop(t.Context(), "a conflict"); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(t.Context(), "another reason"); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "both to see it", func() bool { return first.Stopped() == "a conflict" && second.Stopped() == "a conflict" })
}

// joinedThrough takes part in a run by a network that can be cut.
func joinedThrough(t *testing.T, server *pgtest.Server, schema string) (state.JoinedJournal, *proxy) {
	t.Helper()
	network := newProxy(t, server.Address())
	through, err := postgres.Open(t.Context(), postgres.Options{
		URL: strings.Replace(server.URL(), server.Address(), network.address, 1), Schema: schema, Now: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, through) })
	j, err := through.Join(t.Context(), statetest.Holder("apply --join"), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Unlock() }) // some are broken
	return j, network
}

// A runner that asked for work, and found that others had it all, took part; one that was refused before did not.
// The reports of all runners name the same ones, whichever leaves first.
func TestARunnerThatAskedForWorkTookPart(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a")
	claim(t, first)
	second, refused := joined(t, server, schema), joined(t, server, schema)
	if got := claim(t, second); got != nil {
		t.Errorf("the second runner claimed %q", got)
	}
	if err := errors.Join(second.Leave(t.Context()), refused.Leave(t.Context())); err != nil {
		t.Fatal(err)
	}
	runners, _, err := first.Runners(t.Context())
	if err != nil || len(runners) != 2 || runners[1].Number != 2 {
		t.Errorf("runners %v: %v", runners, err)
	}
}

// A runner that has left is not taken for lost where the answer that says so does not arrive.
func TestLeavingIsNotHeardOf(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	opened(t, first, rate, nil, "a")
	second, network := joinedThrough(t, server, schema)
	network.arm("run-1", cut{forwards: true}) // not its statements, which are prepared before
	if alone, err := second.Alone(t.Context()); alone || err != nil {
		t.Errorf("alone %v: %v", alone, err)
	}
	if network.happened() != 1 {
		t.Fatal("nothing was cut")
	}
	if err := second.Leave(t.Context()); err != nil {
		t.Error(err)
	}
	if alone, err := first.Alone(t.Context()); !alone || err != nil {
		t.Errorf("the other one: alone %v: %v", alone, err)
	}
}

// A runner does not try again to reach the others once its journal was broken.
func TestABrokenRunnerClaimsNothingMore(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	opened(t, began(t, s, "run-1"), rate, nil, "a")
	second, network := joinedThrough(t, server, schema)
	gone := errors.New("it was given up")
	network.arm("UPDATE parts SET runner = $2", cut{first: func() { second.(interface{ Break(error) }).Break(gone) }})
	if parts, _, err := second.Claim(t.Context(), false); !errors.Is(err, gone) {
		t.Errorf("it claimed %v: %v", parts, err)
	}
	if network.happened() != 1 {
		t.Fatal("nothing was cut")
	}
}

// TestARunThatCannotBeOpenedWorksAlone lets nobody in while the server has no connection left for
// what runners do together, instead of ending a run that does well.
func TestARunThatCannotBeOpenedWorksAlone(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	s, schema, role := createFor(t, server)
	first := began(t, s, "run-1")
	server.Exec(t, "public", `ALTER ROLE `+role+` CONNECTION LIMIT 3`)
	var locked *state.LockedError
	if _, err := join(t, server, schema, 2*time.Second); !errors.As(err, &locked) {
		t.Errorf("join a run that can't be opened: %v", err)
	}
	if first.Wanted() {
		t.Error("the run is to be opened, and the server has no connection for that")
	}
	add(t, first, statetest.Intent("a", "run-1", "10.00"))
	server.Exec(t, "public", `ALTER ROLE `+role+` CONNECTION LIMIT -1`)
	let := make(chan error, 1)
	go func() {
		_, err := join(t, server, schema, patience)
		let <- err
	}()
	waitUntil(t, "the run to be wanted open", first.Wanted)
	opened(t, first, rate, nil, "b")
	if err := <-let; err != nil {
		t.Errorf("join the run that is open: %v", err)
	}
}

// TestAPartWithoutLinesIsClaimedAndDone has the last part of a run be one that has no lines: one runner claims it when all others are
// done, and the run is not done before it is. What the opener has in hand is done where that is nothing.
func TestAPartWithoutLinesIsClaimedAndDone(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	first := began(t, s, "run-1")
	o := state.Opening{
		Parts: []state.Part{{Number: 1, RefIDs: []string{"a"}}, {Number: 2, Level: 1}},
		Rates: func() map[transfer.Operation]state.Rate { return nil },
	}
	if err := first.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	second := joined(t, server, schema)
	if got := claim(t, second); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the second runner claims %v", got)
	}
	if parts, done, err := first.Claim(t.Context(), true); err != nil || done || len(parts) != 0 {
		t.Errorf("while the second works, the first claims %v, done: %t, %v", parts, done, err)
	}
	if err := second.Done(t.Context(), []int{1}, 1, nil); err != nil {
		t.Fatal(err)
	}
	parts, done, err := first.Claim(t.Context(), false)
	if err != nil || done || len(parts) != 1 || parts[0].Number != 2 || len(parts[0].RefIDs) != 0 {
		t.Errorf("at the end the first claims %v, done: %t, %v", parts, done, err)
	}
	if parts, done, err := second.Claim(t.Context(), true); err != nil || done || len(parts) != 0 {
		t.Errorf("while the first works, the second claims %v, done: %t, %v", parts, done, err)
	}
	if err := first.Done(t.Context(), []int{2}, 1, nil); err != nil {
		t.Fatal(err)
	}
	if _, done, err := second.Claim(t.Context(), true); err != nil || !done {
		t.Errorf("after that the run is done: %t, %v", done, err)
	}
}
