package executor_test

import (
	"context"
	"fmt"
	"sync"
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
			w.settings.InFlightMax = most
			var now, peak, open atomic.Int64
			w.service.before = func(ctx context.Context, _ string, _ int) *executor.Answer {
				peak.Store(max(peak.Load(), now.Add(1)))
				defer now.Add(-1)
				_ = (clock{}).Sleep(ctx, time.Second/2)
				open.Store(max(open.Load(), int64(w.journal.openIntents())))
				_ = (clock{}).Sleep(ctx, time.Second/2)
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

// TestIntentsWrittenAheadAreBounded has a slow disk, and requests that are slower: no more intents
// wait for their requests than may be in flight, and they go to the disk in lots. A lot is begun where a quarter of
// them has room, so that of eight the last one may have none, as the goroutines are scheduled.
func TestIntentsWrittenAheadAreBounded(t *testing.T) {
	const transfers = 60
	for inFlight, least := range map[int]int{4: 4, 8: 7} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.settings.InFlightMax = inFlight
			lots := 0
			var mu sync.Mutex
			peak := 0 // guarded by mu
			w.journal.before = func(effect string) error {
				if effect == "append "+string(state.KindIntent) {
					lots++ // one at a time
					time.Sleep(time.Second)
				}
				return nil
			}
			w.service.before = func(context.Context, string, int) *executor.Answer {
				time.Sleep(10*time.Second + 500*time.Millisecond) // between two lots, which come on whole seconds
				mu.Lock()
				peak = max(peak, w.journal.count(state.KindIntent)-w.service.begun())
				mu.Unlock()
				time.Sleep(10*time.Second - 500*time.Millisecond)
				return nil
			}
			w.applyPlan(w.plan(numbered(transfers)...))
			if peak > inFlight || peak < least {
				t.Errorf("%d intents waited for their requests, want %d to %d", peak, least, inFlight)
			}
			if most := transfers / (inFlight / 4); lots > most {
				t.Errorf("%d intents went to the disk in %d lots, want at most %d", transfers, lots, most)
			}
		})
	}
}

// TestTheFirstRequestsDoNotWaitForAllIntents allows more in flight than there are transfers: their
// intents are not written at once.
func TestTheFirstRequestsDoNotWaitForAllIntents(t *testing.T) {
	const transfers = 1100
	w := newWorld(t)
	w.settings.InFlightMax = 2 * transfers
	lots := 0
	w.journal.before = func(effect string) error {
		if effect == "append "+string(state.KindIntent) {
			lots++ // one at a time
		}
		return nil
	}
	w.applyPlan(w.plan(numbered(transfers)...))
	if lots != 2 {
		t.Errorf("%d intents were written in %d lots, want 2", transfers, lots)
	}
}

// TestARefusedIntentKeepsNoneBack has the state refuse one intent of a lot: the others are sent.
func TestARefusedIntentKeepsNoneBack(t *testing.T) {
	w := newWorld(t)
	w.settings.InFlightMax = 8
	plan := w.plan(numbered(8)...)
	w.journal.before = func(effect string) error {
		if effect != "append "+string(state.KindBegun) {
			return nil
		}
		w.journal.before = func(string) error { return nil }
		// Somebody settles one after the plan was made, and after the run looked at the state.
		w.journal.refuse = map[string]error{"t-003": fmt.Errorf("intent: %w", state.ErrTombstone)}
		return nil
	}
	w.applyPlan(plan)
	for _, r := range numbered(8) {
		want, requests := executor.ResultRecorded, 1
		if r.RefID == "t-003" {
			want, requests = executor.ResultNotAttempted, 0
		}
		if got := w.results()[r.RefID]; got != want || w.service.requests(r.RefID) != requests {
			t.Errorf("%q is %s (%s) after %d requests, want %s after %d", r.RefID, got, w.reason(r.RefID), w.service.requests(r.RefID), want, requests)
		}
	}
}
