package executor_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// offered is a run that another runner asks to take part in, and never does. It counts the writes
// for it.
type offered struct {
	mu      sync.Mutex
	parts   []state.Part // that are free
	open    map[int]int  // levels of those that are not done, by number
	tallies [][]byte
	settled int
	stops   []string // the reasons for which others were told to stop
}

func (s *offered) Wanted() bool { return true }

func (s *offered) Open(_ context.Context, o state.Opening) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = map[int]int{0: 0}
	for _, p := range o.Parts {
		s.open[p.Number] = p.Level
	}
	s.parts, s.tallies, s.settled = o.Parts, [][]byte{o.Tally}, o.Settled
	return nil
}

func (s *offered) Claim(_ context.Context, all bool) (parts []state.Part, done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.parts) > 0 && (all || len(parts) == 0) {
		for _, level := range s.open {
			if level < s.parts[0].Level {
				return parts, false, nil
			}
		}
		parts, s.parts = append(parts, s.parts[0]), s.parts[1:]
	}
	return parts, len(s.open) == 0, nil
}

func (s *offered) Done(_ context.Context, parts []int, settled int, tally []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range parts {
		if _, ok := s.open[n]; !ok {
			return fmt.Errorf("part %d is done twice", n)
		}
		delete(s.open, n)
	}
	s.tallies, s.settled = append(s.tallies, tally), settled
	return nil
}

func (s *offered) Stop(_ context.Context, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops = append(s.stops, reason)
	return nil
}

func (s *offered) Stopped() string { return "" }

func (s *offered) Reserve(_ context.Context, _ transfer.Operation, _ state.Rate, wanted int) (int, time.Duration, error) {
	return wanted, time.Second, nil
}

func (s *offered) Runners(context.Context) ([]state.Runner, [][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []state.Runner{{Number: 1, Settled: s.settled}}, slices.Clone(s.tallies), nil
}

func (s *offered) Alone(context.Context) (bool, error) { return true, nil }
func (s *offered) Leave(context.Context) error         { return nil }

// TestAnInterruptOfALookupStopsNobodyElse interrupts a runner while it looks ref_ids up. The interrupt ends the lookup, whose
// error is no failure of the service, for which the other runners of the run would have to stop.
func TestAnInterruptOfALookupStopsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup, w.settings.LookUpFirst, w.settings.InFlightMax = true, true, 4
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(300 * time.Millisecond)
			return nil
		}
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		share := new(offered)
		w.service.find = func([]string) (map[string][]transfer.Record, error) {
			share.mu.Lock()
			isShared := share.open != nil
			share.mu.Unlock()
			if !isShared {
				return nil, nil
			}
			interrupt()
			time.Sleep(100 * time.Millisecond)
			return nil, context.Canceled
		}
		run := w.run(w.plan(numbered(1000)...))
		run.Share, run.Saved = share, true
		summary, err := executor.Apply(ctx, run)
		if err != nil || !summary.Interrupted || share.open == nil {
			t.Errorf("interrupted %t, shared %t, %v", summary.Interrupted, share.open != nil, err)
		}
		for _, reason := range share.stops {
			if strings.Contains(reason, "lookup") {
				t.Errorf("the other runners stop, as %s", reason)
			}
		}
	})
}

// losing is a run of which another runner took the last part first, wrote the intent of its last line down, and was lost.
type losing struct {
	offered

	begin func(refID string) // writes the intent down
	refID string
}

func (s *losing) Open(ctx context.Context, o state.Opening) error {
	last := &o.Parts[len(o.Parts)-1]
	last.Again, s.refID = true, last.RefIDs[len(last.RefIDs)-1]
	s.begin(s.refID)
	return s.offered.Open(ctx, o)
}

// TestWhatALostRunnerBeganIsSettledByWhoTakesItsPart has the doubt be settled in the run in which it arose, by sending the
// recorded bytes again.
func TestWhatALostRunnerBeganIsSettledByWhoTakesItsPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 4
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(300 * time.Millisecond)
			return nil
		}
		plan := w.plan(numbered(1000)...)
		run := w.run(plan)
		share := new(losing)
		share.begin = func(refID string) {
			for _, c := range plan.Changes.All() {
				if c.RefID != refID {
					continue
				}
				r := c.Request
				if err := w.journal.Append(t.Context(), state.Intent{
					RefID: refID, RunID: run.Begun.RunID, Operation: r.Operation, Path: transfer.DefaultOperator.Path(r.Operation),
					Body: string(r.Body()), Fingerprint: r.Fingerprint().String(), Address: c.Address, Place: c.Place,
				}); err != nil {
					t.Error(err)
				}
			}
		}
		run.Share, run.Saved = share, true
		summary, err := executor.Apply(t.Context(), run)
		if err != nil || share.refID == "" {
			t.Fatalf("lost at %q, %v", share.refID, err)
		}
		if n := summary.Totals[executor.ResultRecorded].Count(); n != 1000 || !summary.Complete {
			t.Errorf("%d of 1000 are recorded; complete: %t", n, summary.Complete)
		}
		if n := w.service.requests(share.refID); n != 1 {
			t.Errorf("%d requests of what the lost runner began, of which it had sent none", n)
		}
	})
}

// TestWhatRunnersLearnIsWrittenOnce has many transfers PENDING on which others depend. The outcome
// of a lookup is for all runners, and is written once: not again with every part. Nor is what a part
// depends on read again with every part.
func TestWhatRunnersLearnIsWrittenOnce(t *testing.T) {
	tests := map[string]struct {
		low, high int
		after     func(i int, low []string) []string // of the i-th high one
	}{
		"each depends on another one": {400, 400, func(i int, low []string) []string { return low[i : i+1] }},
		"many depend on many":         {400, 400, func(_ int, low []string) []string { return low }},
		"many depend on one":          {1, 400, func(_ int, low []string) []string { return low }},
		"one depends on very many":    {1200, 1, func(_ int, low []string) []string { return low }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				w.settings.InFlightMax = max(4, test.low/40)
				var low []string
				var requests []transfer.Request
				for i := range test.low {
					low = append(low, fmt.Sprintf("low-%04d", i))
					requests = append(requests, request(low[i]))
				}
				for i := range test.high {
					requests = append(requests, request(fmt.Sprintf("high-%04d", i)))
				}
				plan := w.plan(requests...)
				for i := range test.high {
					plan.Changes.Update(test.low+i, func(c *planner.Change) { c.After = test.after(i, low) })
				}
				w.service.before = func(context.Context, string, int) *executor.Answer {
					time.Sleep(300 * time.Millisecond) // somebody asks to take part meanwhile
					return nil
				}
				w.service.after = func(refID string, _ int, a executor.Answer) executor.Answer {
					if strings.HasPrefix(refID, "low-") {
						a.Record = edited(*a.Record, map[string]string{"status": string(transfer.Pending)})
					}
					return a
				}
				share := new(offered)
				run := w.run(plan)
				run.Share, run.Saved = share, true
				summary, err := executor.Apply(t.Context(), run)
				if err != nil {
					t.Fatal(err)
				}
				if n := summary.Totals[executor.ResultRecorded].Count(); n != test.low+test.high || summary.Unfinished != 0 || !summary.Complete {
					t.Errorf("%d are recorded, and of %d the end is not known; complete: %t", n, summary.Unfinished, summary.Complete)
				}
				if share.settled != test.low+test.high {
					t.Errorf("the runner says that it settled %d", share.settled)
				}
				written, most := 0, 0
				for _, tally := range share.tallies {
					n := strings.Count(string(tally), "staff-low-")
					written, most = written+n, max(most, n)
				}
				if written != test.low {
					t.Errorf("what was learned of %d transfers is written %d times", test.low, written)
				}
				// Each line with its part, and each dependency with the first part, and when it is looked up.
				if reads, want := int(w.journal.reads.Load()), test.low+test.high+2*test.low+10; reads > want {
					t.Errorf("the state was asked for %d transfers, of %d at most", reads, want)
				}
				if most > 1024 {
					t.Errorf("what was learned of %d transfers is written at once", most)
				}
			})
		})
	}
}

// TestWhatManyWaitForIsKeptOnce has many lines wait for one list of as many others. The memory that
// takes grows with both together: twice as many of each take some twice as much.
func TestWhatManyWaitForIsKeptOnce(t *testing.T) {
	allocated := func(n int) (bytes uint64) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var elsewhere []string
			for i := range n {
				elsewhere = append(elsewhere, fmt.Sprintf("elsewhere-%04d", i))
			}
			plan := w.plan(numbered(n)...)
			for i := range n {
				plan.Changes.Update(i, func(c *planner.Change) { c.After = elsewhere })
			}
			run := w.run(plan)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			summary, err := executor.Apply(t.Context(), run)
			runtime.ReadMemStats(&after)
			if err != nil || summary.Idle != n {
				t.Errorf("%d of %d wait for what is not recorded: %v", summary.Idle, n, err)
			}
			bytes = after.TotalAlloc - before.TotalAlloc
		})
		return bytes
	}
	once, twice := allocated(1500), allocated(3000)
	if 2*twice > 5*once {
		t.Errorf("twice as many take %d bytes, %.1f times as much", twice, float64(twice)/float64(once))
	}
}

// opening is a run that takes its time to open.
type opening struct{ offered }

func (s *opening) Open(ctx context.Context, o state.Opening) error {
	time.Sleep(2 * time.Second)
	return s.offered.Open(ctx, o)
}

// TestARunThatWasStoppedWhileItOpenedStopsTheOthers has a refusal stop the run before anybody could be told: those who join find it written down.
func TestARunThatWasStoppedWhileItOpenedStopsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax, w.settings.StopOnRefusal = 4, true
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(300 * time.Millisecond)
			return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Reason: "It refused."}
		}
		share := new(opening)
		run := w.run(w.plan(numbered(1000)...))
		run.Share, run.Saved = share, true
		if _, err := executor.Apply(t.Context(), run); err != nil || share.open == nil {
			t.Fatalf("shared %t, %v", share.open != nil, err)
		}
		if len(share.stops) == 0 {
			t.Error("nobody else is told to stop")
		}
	})
}

// noting is a run that notes what it was opened with.
type noting struct {
	offered

	isAlone bool // no other runner is left
	levels  []int
	ages    []time.Duration // of the starts that count
}

func (s *noting) Open(ctx context.Context, o state.Opening) error {
	for _, p := range o.Parts {
		s.levels = append(s.levels, p.Level)
	}
	s.ages = o.Rates()[transfer.Internal].Ages
	return s.offered.Open(ctx, o)
}

func (s *noting) Alone(context.Context) (bool, error) { return s.isAlone, nil }

// TestWhoJoinsARunHasItsLimitAndItsLastPart has starts before the run was opened, which count in the limit of all runners, and a
// payout that waits for its funding. The part that looks refusals up comes after all others.
func TestWhoJoinsARunHasItsLimitAndItsLastPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup, w.settings.InFlightMax = true, 4
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1000, Window: time.Hour}}
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(300 * time.Millisecond)
			return nil
		}
		plan := w.plan(append(numbered(300), request("funding"), request("payout"))...)
		after(plan, "payout", "funding")
		share := new(noting)
		run := w.run(plan)
		run.Share, run.Saved = share, true
		summary, err := executor.Apply(t.Context(), run)
		if err != nil || summary.Totals[executor.ResultRecorded].Count() != 302 {
			t.Fatalf("%v, %v", counts(summary), err)
		}
		if len(share.ages) != 4 {
			t.Errorf("%d starts count, of the four that are under way", len(share.ages))
		}
		last := len(share.levels) - 1
		if last < 1 || slices.Max(share.levels[:last]) != 1 || share.levels[last] != 2 {
			t.Errorf("the parts are of the levels %v", share.levels)
		}
	})
}

// TestARunGoesOnWithoutARunnerThatIsInterruptedUnlessItIsTheLastOne interrupts a runner: others carry on, and the last one
// ends the run.
func TestARunGoesOnWithoutARunnerThatIsInterruptedUnlessItIsTheLastOne(t *testing.T) {
	for _, isAlone := range []bool{false, true} {
		t.Run(fmt.Sprintf("it is the last one: %t", isAlone), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.settings.InFlightMax = 4
				begun := time.Now()
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				share := &noting{isAlone: isAlone}
				w.service.before = func(context.Context, string, int) *executor.Answer {
					time.Sleep(300 * time.Millisecond)
					if time.Since(begun) > 2*time.Second {
						interrupt()
					}
					return nil
				}
				run := w.run(w.plan(numbered(1000)...))
				run.Share, run.Saved = share, true
				summary, err := executor.Apply(ctx, run)
				if err != nil || !summary.Interrupted || share.open == nil {
					t.Fatalf("interrupted %t, shared %t, %v", summary.Interrupted, share.open != nil, err)
				}
				isEnded, isStopped := w.journal.ended(run.Begun.RunID) != nil, len(share.stops) > 0
				if isEnded != isAlone || summary.Left == isAlone || isStopped != isAlone {
					t.Errorf("the run ended: %t; the runner left it: %t; stops: %q", isEnded, summary.Left, share.stops)
				}
				if isAlone && len(w.results()) != 1000 {
					t.Errorf("the run tells of %d lines", len(w.results()))
				}
			})
		})
	}
}
