package executor_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/transfer"
	"remit/state"
)

// reserving is a share that reserves a few starts for a time, and is slow to answer.
type reserving struct {
	offered

	most   int
	within time.Duration // from when it is asked
	slow   time.Duration

	granted sync.Mutex
	opened  bool        // guarded by granted, as grants: until then the run is of one runner
	grants  []time.Time // until when each start may be used
}

func (s *reserving) Open(ctx context.Context, o state.Opening) error {
	_ = o.Rates() // from now on every start is reserved
	s.granted.Lock()
	s.opened = true
	s.granted.Unlock()
	return s.offered.Open(ctx, o)
}

func (s *reserving) Reserve(ctx context.Context, _ transfer.Operation, _ state.Rate, wanted int) (int, time.Duration, error) {
	asked := time.Now()
	time.Sleep(s.slow)
	s.granted.Lock()
	defer s.granted.Unlock()
	starts := min(wanted, s.most)
	for range starts {
		s.grants = append(s.grants, asked.Add(s.within))
	}
	return starts, s.within, ctx.Err()
}

// use takes one start that is still good, and reports whether there was one, or none was needed.
func (s *reserving) use(now time.Time) bool {
	s.granted.Lock()
	defer s.granted.Unlock()
	if !s.opened {
		return true
	}
	slices.SortFunc(s.grants, func(a, b time.Time) int { return cmp.Compare(a.UnixNano(), b.UnixNano()) })
	for i, until := range s.grants {
		if now.Before(until) {
			s.grants = slices.Delete(s.grants, i, i+1)
			return true
		}
	}
	return false
}

// TestARequestStartsOnAReservedStartThatIsGood has runners that share a limit: each request of this one
// uses a start that it reserved, before the time of it is over, however slow the reservation was.
func TestARequestStartsOnAReservedStartThatIsGood(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		share := &reserving{
			most:   rapid.IntRange(1, 8).Draw(rt, "starts"),
			within: time.Duration(rapid.IntRange(200, 1000).Draw(rt, "within")) * time.Millisecond,
			slow:   time.Duration(rapid.IntRange(0, 150).Draw(rt, "slow")) * time.Millisecond,
		}
		inFlight := rapid.IntRange(1, 8).Draw(rt, "in flight")
		takes := time.Duration(rapid.IntRange(100, 600).Draw(rt, "takes")) * time.Millisecond
		// After a 429 starts have a gap between them, so that those that are reserved together are not used together.
		every := rapid.IntRange(2, 9).Draw(rt, "429 to each request of so many")
		early, count := 0, 0
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.settings.InFlightMax = inFlight
			w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 8, Window: time.Second}}
			var counting sync.Mutex
			w.service.before = func(context.Context, string, int) *executor.Answer {
				isGood := share.use(time.Now())
				counting.Lock()
				defer counting.Unlock()
				if !isGood {
					early++
				}
				if count++; count%every == 0 {
					return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, Reason: "Too many."}
				}
				return nil
			}
			w.service.after = func(_ string, _ int, a executor.Answer) executor.Answer {
				time.Sleep(takes)
				return a
			}
			run := w.run(w.plan(numbered(60)...))
			run.Share, run.Saved = share, true
			if _, err := executor.Apply(t.Context(), run); err != nil {
				t.Error(err)
			}
		})
		if !share.opened {
			rt.Fatal("no other runner was let in")
		}
		if early > 0 {
			rt.Fatalf("%d requests started without a reserved start that was good", early)
		}
	})
}
