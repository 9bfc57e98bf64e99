package executor_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/state"
)

// TestRequestsInFlightAreBounded counts requests and open intents: max_in_flight of the
// former, and of the latter as many again.
func TestRequestsInFlightAreBounded(t *testing.T) {
	for _, most := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.policy.InFlightMax = most
			var now, peak, open atomic.Int64
			w.service.before = func(ctx context.Context, _ string, _ int) *executor.Answer {
				peak.Store(max(peak.Load(), now.Add(1)))
				defer now.Add(-1)
				_ = (clock{}).Sleep(ctx, time.Second)
				open.Store(max(open.Load(), int64(w.journal.openIntents())))
				return nil
			}
			w.applyPlan(w.plan(numbered(30)...))
			if peak.Load() != int64(most) {
				t.Errorf("%d requests were in flight at once, want %d", peak.Load(), most)
			}
			if want := int64(2 * most); open.Load() > want {
				t.Errorf("%d intents were open at once, want at most %d", open.Load(), want)
			}
			if most > 1 && open.Load() == int64(most) {
				t.Error("no intent was written ahead")
			}
		})
	}
}

// TestIntentsWrittenAheadAreBounded has a slow disk: no more intents are on their way there,
// or wait there for their request, than may be in flight.
func TestIntentsWrittenAheadAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.policy.InFlightMax = 3
		var now, peak atomic.Int64
		w.journal.before = func(effect string) error {
			if effect == "append "+string(state.KindIntent) {
				peak.Store(max(peak.Load(), now.Add(1)))
				_ = (clock{}).Sleep(t.Context(), time.Second)
				now.Add(-1)
			}
			return nil
		}
		w.applyPlan(w.plan(numbered(30)...))
		if peak.Load() != 3 {
			t.Errorf("%d intents were written ahead of their requests, want 3", peak.Load())
		}
	})
}
