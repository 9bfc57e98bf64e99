package executor_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/transfer"
	"remit/planner"
)

// TestTheRateLimitHoldsInEveryWindow draws limits, slow journals, slow answers, answers of
// 429 and 401, interrupts and restarts: no window of the limit's length ever has more starts.
func TestTheRateLimitHoldsInEveryWindow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := ratelimit.Limit{
			Requests: rapid.IntRange(1, 8).Draw(rt, "requests"),
			Window:   time.Duration(rapid.IntRange(10, 3000).Draw(rt, "window")) * time.Millisecond,
		}
		inFlight := rapid.IntRange(1, 16).Draw(rt, "in flight")
		delays := rapid.SliceOfN(rapid.IntRange(0, 1500), 1, 20).Draw(rt, "delays")
		kills := rapid.SliceOfN(rapid.IntRange(1, 5000), 0, 3).Draw(rt, "interrupts")
		tooMany, expired := 0, 0
		if len(kills) == 0 { // the state does not know of each try that a killed run made
			tooMany = rapid.IntRange(0, 4).Draw(rt, "of five are 429")
			expired = rapid.IntRange(0, 5-tooMany).Draw(rt, "of five are 401")
		}
		var starts []time.Time
		sent := 0
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.settings.InFlightMax = inFlight
			w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: limit}
			calls := make(chan int, 1)
			calls <- 0
			delay := func() {
				n := <-calls
				calls <- n + 1
				time.Sleep(time.Duration(delays[n%len(delays)]) * time.Millisecond)
			}
			w.journal.before = func(effect string) error {
				if effect == "append intent" {
					delay()
				}
				return nil
			}
			w.service.before = func(_ context.Context, refID string, try int) *executor.Answer {
				delay()
				switch last := int(refID[len(refID)-1]) % 5; {
				case try == 1 && last < tooMany:
					return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429}
				case try == 1 && last < tooMany+expired:
					return &executor.Answer{Kind: executor.TokenRefused, HTTPStatus: 401}
				}
				return nil
			}
			for _, kill := range kills {
				ctx, interrupt := context.WithCancel(t.Context())
				time.AfterFunc(time.Duration(kill)*time.Millisecond, interrupt)
				if _, err := executor.Apply(ctx, w.run(w.plan(numbered(20)...))); err != nil {
					rt.Error(err)
				}
				interrupt()
			}
			w.apply(numbered(20)...)
			starts, sent = w.service.starts, len(w.service.made)
		})
		for i := limit.Requests; i < len(starts); i++ {
			if span := starts[i].Sub(starts[i-limit.Requests]); span < limit.Window {
				rt.Fatalf("%d requests started within %v, %d are allowed in %v", limit.Requests+1, span, limit.Requests, limit.Window)
			}
		}
		if sent != 20 {
			rt.Fatalf("%d of 20 transfers were made", sent)
		}
	})
}

// TestTheRateLimitHoldsAtTheService has requests come to the service later than they start, the
// first ones most of all, as where connections are made: it counts arrivals.
func TestTheRateLimitHoldsAtTheService(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := ratelimit.Limit{Requests: rapid.IntRange(1, 8).Draw(rt, "requests"), Window: time.Second}
		late := rapid.SliceOfN(rapid.IntRange(0, 100), 30, 30).Draw(rt, "late")
		slow := rapid.IntRange(0, 300).Draw(rt, "slow")
		inFlight := rapid.IntRange(1, 16).Draw(rt, "in flight")
		var came []time.Time
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.settings.InFlightMax = inFlight
			w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: limit}
			turn := make(chan int, 1)
			turn <- 0
			w.service.before = func(context.Context, string, int) *executor.Answer {
				n := <-turn
				turn <- n + 1
				time.Sleep(time.Duration(late[n]) * time.Millisecond)
				n = <-turn
				came = append(came, time.Now())
				turn <- n
				time.Sleep(time.Duration(slow) * time.Millisecond)
				return nil
			}
			w.apply(numbered(30)...)
		})
		for i := limit.Requests; i < len(came); i++ {
			if span := came[i].Sub(came[i-limit.Requests]); span < limit.Window {
				rt.Fatalf("%d requests came within %v, %d are allowed in %v", limit.Requests+1, span, limit.Requests, limit.Window)
			}
		}
	})
}

// TestTheRateLimitHoldsForWhoStoodStill has the machine stand still at each moment of a run: starts from
// before it come after it, and counts from then on.
func TestTheRateLimitHoldsForWhoStoodStill(t *testing.T) {
	const stops = 80
	for stop := range stops {
		var starts []time.Time
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.clock = &stoppedClock{left: stop}
			w.settings.InFlightMax = 2
			w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: 2 * time.Second}}
			w.apply(numbered(4)...)
			starts = w.service.starts
		})
		for i := 1; i < len(starts); i++ {
			if span := starts[i].Sub(starts[i-1]); span < 2*time.Second {
				t.Errorf("stopped at reading %d, requests %d and %d started within %v, one is allowed in 2s", stop, i, i+1, span)
			}
		}
		if len(starts) != 4 {
			t.Errorf("stopped at reading %d, %d of 4 requests started", stop, len(starts))
		}
	}
}

// stoppedClock is one of a process that stands still, once, after some readings of the clock.
type stoppedClock struct {
	clock
	mu   sync.Mutex
	left int
}

func (c *stoppedClock) Boot() executor.Boot {
	c.mu.Lock()
	c.left--
	stops := c.left == 0
	c.mu.Unlock()
	if stops {
		time.Sleep(3 * time.Second)
	}
	return c.clock.Boot()
}

func TestTheRateLimitIsUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 10, Window: time.Second}}
		begun := time.Now()
		w.apply(numbered(100)...)
		if took := time.Since(begun); took != 9*time.Second {
			t.Errorf("100 requests at 10 a second took %v, want 9 s", took)
		}
	})
}

func TestEachOperationHasItsOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: time.Hour}}
		w.settings.InFlightMax = 2
		w.apply(request("before"))
		var requests []transfer.Request
		for i := range 10 {
			r := request(fmt.Sprintf("p-%d", i))
			r.Operation = transfer.Platform
			requests = append(requests, r)
		}
		begun := time.Now()
		w.apply(append(requests, request("rent"))...)
		if at := w.service.starts[len(w.service.starts)-2].Sub(begun); at > 0 {
			t.Errorf("the last platform transfer started after %v", at)
		}
		if at := w.service.starts[len(w.service.starts)-1].Sub(begun); at < time.Hour {
			t.Errorf("the second internal transfer started after %v", at)
		}
	})
}

// TestIntentsAreNotWrittenFarAhead keeps what a crash leaves in doubt small: who waits for
// the limit has no intent yet.
func TestIntentsAreNotWrittenFarAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 16
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 2, Window: time.Minute}}
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(90*time.Second, interrupt)
		if _, err := executor.Apply(ctx, w.run(w.plan(numbered(16)...))); err != nil {
			t.Fatal(err)
		}
		if n := len(w.journal.rows); n != 4 {
			t.Errorf("%d intents were written for 4 requests", n)
		}
	})
}

func TestAStormOf429SlowsTheRunDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 32
		// The service takes 5 requests in any second, and says nothing of it beforehand.
		var taken []time.Time
		turn := make(chan struct{}, 1)
		w.service.before = func(context.Context, string, int) *executor.Answer {
			turn <- struct{}{}
			defer func() { <-turn }()
			now := time.Now()
			for len(taken) > 0 && now.Sub(taken[0]) >= time.Second {
				taken = taken[1:]
			}
			if len(taken) >= 5 {
				return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, Reason: "Too many."}
			}
			taken = append(taken, now)
			return nil
		}
		summary := w.apply(numbered(200)...)
		if got := counts(summary)[executor.ResultRecorded]; got != 200 {
			t.Errorf("%v after %d requests, stopped by %q", counts(summary), summary.Requests, summary.Stopped)
		}
	})
}

// TestTheLimitRemembersALateTry has a first run whose request starts long after its intent,
// because it was not processed at first.
func TestTheLimitRemembersALateTry(t *testing.T) {
	for name, crash := range map[string]bool{"that was answered": false, "that was not": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: 10 * time.Second}}
				w.service.before = func(_ context.Context, _ string, try int) *executor.Answer {
					if try == 1 {
						return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429}
					}
					if crash {
						w.journal.before = func(string) error { return errDisk }
					}
					return nil
				}
				_, err := executor.Apply(t.Context(), w.run(w.plan(request("first"))))
				if crashed := err != nil; crashed != crash {
					t.Fatal(err)
				}
				w.service.before, w.journal.before = nil, func(string) error { return nil }
				w.apply(request("second"))
				last := len(w.service.starts) - 1
				if span := w.service.starts[last].Sub(w.service.starts[last-1]); span < 10*time.Second {
					t.Errorf("the next request started %v after the late one", span)
				}
			})
		})
	}
}

// TestTheLimitRemembersAnAnswerInTheSameMillisecond has a request that starts late in a
// millisecond, to which the state's times are cut, and is answered within it.
func TestTheLimitRemembersAnAnswerInTheSameMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: 10 * time.Second}}
		time.Sleep(700 * time.Microsecond)
		w.apply(request("first"))
		w.apply(request("second"))
		if span := w.service.starts[1].Sub(w.service.starts[0]); span < 10*time.Second {
			t.Errorf("the next run's request started %v after the first", span)
		}
	})
}

func TestASlotThatIsNotUsedIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: time.Second}}
		w.settings.InFlightMax = 1
		plan := w.plan(numbered(2)...)
		plan.Changes.Update(0, func(c *planner.Change) { c.Expires = time.Now().Add(-time.Second) })
		w.applyPlan(plan)
		want := map[string]executor.Result{"t-000": executor.ResultNotAttempted, "t-001": executor.ResultRecorded}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

// TestTheRateLimitCountsEveryAttemptOfTheJournal has each run leave all in doubt, and the next one send
// it again at once: the window counts every request, and not only the latest one of each ref_id.
func TestTheRateLimitCountsEveryAttemptOfTheJournal(t *testing.T) {
	limit := ratelimit.Limit{Requests: 10, Window: time.Minute}
	var starts []time.Time
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: limit}
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.Unclear, HTTPStatus: 503, Reason: "The service answered 503."}
		}
		for range 5 {
			w.apply(numbered(3)...)
		}
		starts = w.service.starts
	})
	if len(starts) != 15 {
		t.Fatalf("%d requests of 15", len(starts))
	}
	for i := limit.Requests; i < len(starts); i++ {
		if span := starts[i].Sub(starts[i-limit.Requests]); span < limit.Window {
			t.Fatalf("%d requests started within %v, %d are allowed in %v", limit.Requests+1, span, limit.Requests, limit.Window)
		}
	}
}

// TestTheRateLimitHoldsAcrossAClockThatWasBehind has a run by a clock that is ten hours behind, and the next one
// at once by a clock that is right: what the first one sent is not ten hours old.
func TestTheRateLimitHoldsAcrossAClockThatWasBehind(t *testing.T) {
	limit := ratelimit.Limit{Requests: 5, Window: time.Minute}
	var starts []time.Time
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: limit}
		time.Sleep(11 * time.Hour) // the state was made by a clock that was right
		w.clock = turned{by: -10 * time.Hour, boot: "a"}
		w.journal.now = w.clock.Now
		w.service.ready = func() (time.Time, error) { return time.Time{}, nil } // without a Date
		all := numbered(8)
		w.apply(all[:4]...)
		w.clock = turned{boot: "a"}
		w.journal.now = w.clock.Now
		w.service.ready = func() (time.Time, error) { return time.Now(), nil }
		w.apply(all...)
		starts = w.service.starts
	})
	if len(starts) != 8 {
		t.Fatalf("%d requests of 8", len(starts))
	}
	for i := limit.Requests; i < len(starts); i++ {
		if span := starts[i].Sub(starts[i-limit.Requests]); span < limit.Window {
			t.Fatalf("%d requests started within %v, %d are allowed in %v", limit.Requests+1, span, limit.Requests, limit.Window)
		}
	}
}

// TestADoorThatLetsFewInSlowsTheRunDown has a proxy answer 503 to requests that come too fast, as nginx does: most of the plan gets through in one
// run, and the others alone are in doubt.
func TestADoorThatLetsFewInSlowsTheRunDown(t *testing.T) {
	for name, tt := range map[string]struct {
		pause time.Duration
		stops bool
	}{
		"as the proxy asks for":           {time.Second, false},
		"an hour is another run's":        {time.Hour, true},
		"a pause of none is no slow down": {0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var mu sync.Mutex // workers come at once
				var last time.Time
				burst := 5
				w.service.before = func(context.Context, string, int) *executor.Answer {
					mu.Lock()
					defer mu.Unlock()
					if passed := time.Since(last); passed > 100*time.Millisecond {
						burst = min(burst+int(passed/(100*time.Millisecond)), 5)
						last = time.Now()
					}
					if burst--; burst >= 0 {
						return nil
					}
					return &executor.Answer{Kind: executor.Unclear, HTTPStatus: 503, RetryAfter: tt.pause, Reason: "The service answered 503."}
				}
				summary := w.apply(numbered(118)...)
				if isStopped := summary.Stopped != ""; isStopped != tt.stops {
					t.Errorf("stopped: %q", summary.Stopped)
				}
				if n := counts(summary)[executor.ResultRecorded]; !tt.stops && n < 80 {
					t.Errorf("%d of 118 got through", n)
				}
			})
		})
	}
}
