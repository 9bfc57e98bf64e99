package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/transfer"
)

// slowReader answers after a while, and knows how many asked at once.
type slowReader struct {
	takes time.Duration

	mu             sync.Mutex
	now, most, all int
}

func (r *slowReader) Balances(ctx context.Context, profileID string) (executor.Balances, error) {
	r.mu.Lock()
	r.now++
	r.all++
	r.most = max(r.most, r.now)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now--
	}()
	timer := time.NewTimer(r.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return executor.Balances{}, ctx.Err()
	}
	var b executor.Balances
	if profileID == "p0" {
		return b, errors.New("no")
	}
	b.Add("usd", decimal.NewFromInt(5), true)
	return b, nil
}

// wall is the time of the bubble.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Boot() executor.Boot { return executor.Boot{} }

func (wall) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestBalancesAreReadWithinBounds(t *testing.T) {
	profiles := make([]string, 50)
	for i := range profiles {
		profiles[i] = fmt.Sprint("p", i)
	}
	limits := map[transfer.Operation]ratelimit.Limit{
		transfer.Internal: {Requests: 100, Window: time.Second}, transfer.Platform: {Requests: 10, Window: time.Second},
	}
	tests := map[string]struct {
		takes, cancel time.Duration // 0 cancels never
		settings      executor.Settings
		most          int
		unread        int
		within        time.Duration
	}{
		"each once":                 {time.Second, 0, executor.Settings{InFlightMax: 8}, 8, 1, 7 * time.Second},
		"no faster than the slower": {time.Millisecond, 0, executor.Settings{InFlightMax: 8, RateLimits: limits}, 8, 1, 5 * time.Second},
		"for a minute at most":      {11 * time.Second, 0, executor.Settings{InFlightMax: 2}, 2, 41, time.Minute},
		"until an interrupt":        {11 * time.Second, 15 * time.Second, executor.Settings{InFlightMax: 2}, 2, 49, 15 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel > 0 {
					defer time.AfterFunc(tt.cancel, cancel).Stop()
				}
				reader := &slowReader{takes: tt.takes}
				began := time.Now()
				reads := executor.ReadBalances(ctx, reader, tt.settings, wall{}, profiles)
				took := time.Since(began)
				unread := 0
				for _, r := range reads {
					amount, err := r.Of("USD")
					if r.Err != nil || err != nil {
						unread++
					} else if amount.String() != "5" {
						t.Errorf("%s", amount)
					}
				}
				if len(reads) != len(profiles) || reader.all > len(profiles) || reader.most > tt.most || unread != tt.unread || took > tt.within {
					t.Errorf("%d answers to %d requests, %d at once, %d unread, within %v", len(reads), reader.all, reader.most, unread, took)
				}
			})
		})
	}
}
