package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"remit/executor/ratelimit"
)

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func quiet(time.Duration) {}

// TestNoWindowHasMoreStarts draws limits, past starts, late answers and pauses.
func TestNoWindowHasMoreStarts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := ratelimit.Limit{
			Requests: rapid.IntRange(1, 8).Draw(rt, "requests"),
			Window:   time.Duration(rapid.IntRange(10, 3000).Draw(rt, "window")) * time.Millisecond,
		}
		past := rapid.SliceOfN(rapid.IntRange(0, 3000), 0, 8).Draw(rt, "milliseconds since past starts")
		slices.SortFunc(past, func(a, b int) int { return b - a })
		takes := rapid.SliceOfN(rapid.IntRange(0, 900), 30, 30).Draw(rt, "milliseconds that each answer takes")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 400), 30, 30).Draw(rt, "milliseconds that each answer asks for")
		var starts []time.Time
		synctest.Test(t, func(t *testing.T) {
			for _, ms := range past {
				starts = append(starts, time.Now().Add(-time.Duration(ms)*time.Millisecond))
			}
			starts = starts[max(0, len(starts)-limit.Requests):]
			limiter := ratelimit.New(wall{}, limit, starts, quiet)
			var noting sync.Mutex
			var all sync.WaitGroup
			for i := range 30 {
				all.Go(func() {
					if err := limiter.Take(t.Context()); err != nil {
						t.Error(err)
						return
					}
					ages, err := limiter.Start(t.Context(), func() error { return nil })
					if err != nil {
						t.Error(err)
					}
					noting.Lock()
					starts = append(starts, time.Now())
					noting.Unlock()
					time.Sleep(time.Duration(takes[i]) * time.Millisecond)
					limiter.Arrived(ages)
					if pauses[i]%2 == 0 {
						limiter.Pause(time.Duration(pauses[i]) * time.Millisecond)
					} else {
						limiter.Processed()
					}
				})
			}
			all.Wait()
		})
		for i := limit.Requests; i < len(starts); i++ {
			if span := starts[i].Sub(starts[i-limit.Requests]); span < limit.Window && i >= len(starts)-30 {
				rt.Fatalf("%d requests started within %v, %d are allowed in %v", limit.Requests+1, span, limit.Requests, limit.Window)
			}
		}
	})
}

func TestTryTakeTakesOnlyAFreeSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratelimit.New(wall{}, ratelimit.Limit{Requests: 2, Window: time.Second}, nil, quiet)
		got := []bool{limiter.TryTake(), limiter.TryTake(), limiter.TryTake()}
		limiter.Release()
		if got = append(got, limiter.TryTake()); !slices.Equal(got, []bool{true, true, false, true}) {
			t.Errorf("slots taken: %v; the second last finds none, and the last one the slot that was given back", got)
		}
	})
}

func TestAStartThatFailsItsCheckKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratelimit.New(wall{}, ratelimit.Limit{Requests: 1, Window: time.Hour}, nil, quiet)
		if err := limiter.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		refused := errors.New("refused")
		if _, err := limiter.Start(t.Context(), func() error { return refused }); !errors.Is(err, refused) {
			t.Errorf("the start says %v", err)
		}
		if limiter.TryTake() {
			t.Error("another request took the slot")
		}
		if _, err := limiter.Start(t.Context(), func() error { return nil }); err != nil {
			t.Errorf("the second start: %v", err)
		}
	})
}

func TestAStartOfWhichNoRequestBeganTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratelimit.New(wall{}, ratelimit.Limit{Requests: 1, Window: time.Hour}, nil, quiet)
		if err := limiter.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ages, err := limiter.Start(t.Context(), func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if limiter.TryTake() {
			t.Error("another request took the place of a start")
		}
		if limiter.Forget(ages); !limiter.TryTake() {
			t.Error("no other request has the place of a start that was forgotten")
		}
	})
}

// TestASharedLimiterStartsWhatItReserved has another runner use the limit up at first.
func TestASharedLimiterStartsWhatItReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratelimit.New(wall{}, ratelimit.Limit{Requests: 5, Window: time.Second}, []time.Time{time.Now()}, quiet)
		time.Sleep(100 * time.Millisecond)
		asked := 0
		ages := limiter.Share(func(context.Context, int) (int, time.Duration, error) {
			if asked++; asked == 1 {
				return 0, 300 * time.Millisecond, nil
			}
			return 1, time.Second, nil
		})
		if !slices.Equal(ages, []time.Duration{100 * time.Millisecond}) {
			t.Errorf("the past starts are as old as %v", ages)
		}
		begun := time.Now()
		if err := limiter.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := limiter.Start(t.Context(), func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); waited != 300*time.Millisecond || asked != 2 {
			t.Errorf("the request waited %v for %d reservations", waited, asked)
		}
	})
}

func TestAnInterruptEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratelimit.New(wall{}, ratelimit.Limit{Requests: 1, Window: time.Hour}, []time.Time{time.Now()}, quiet)
		interrupted := errors.New("interrupted")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { stop(interrupted) })
		if err := limiter.Take(ctx); !errors.Is(err, interrupted) {
			t.Errorf("the wait ended with %v", err)
		}
	})
}
