package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/state"
)

// TestOutcomesAreWrittenInLots has a slow disk: while one outcome is written the others gather,
// and are written at once. One that the state refuses costs the others nothing.
func TestOutcomesAreWrittenInLots(t *testing.T) {
	for name, stranger := range map[string]bool{"all agree": false, "one has a record of another": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.settings.InFlightMax = 5
				w.apply(request("first"))
				appends := 0
				w.journal.before = func(effect string) error {
					if effect == "append "+string(state.KindOutcome) {
						appends++ // one at a time
						time.Sleep(time.Second)
					}
					return nil
				}
				w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
					if refID != "t-000" {
						time.Sleep(time.Millisecond) // after it
					}
					return nil
				}
				w.service.after = func(refID string, _ int, a executor.Answer) executor.Answer {
					if stranger && refID == "t-002" {
						a.Record = edited(*a.Record, map[string]string{"id": "debit-of-first"})
					}
					return a
				}
				w.applyPlan(w.plan(numbered(5)...))
				want, wantAppends := map[string]executor.Result{}, 2
				for _, r := range numbered(5) {
					want[r.RefID] = executor.ResultRecorded
				}
				if stranger { // the lot, then each by itself, and the conflict
					want["t-002"], wantAppends = executor.ResultConflict, 1+1+4+1
				}
				if diff := cmp.Diff(want, w.results()); diff != "" || appends != wantAppends {
					t.Errorf("%d appends of outcomes, want %d; results (-want +got):\n%s", appends, wantAppends, diff)
				}
				for refID := range want {
					if n := w.outcomes("run-2", refID); n != 1 {
						t.Errorf("%q has %d outcomes", refID, n)
					}
				}
			})
		})
	}
}

// TestDoubtsOfADyingRunAreBounded has outcomes take for ever: a transfer with an intent and no durable
// outcome by then is what a run that dies would leave in doubt.
func TestDoubtsOfADyingRunAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 3
		peak := 0
		w.journal.before = func(effect string) error {
			if effect == "append "+string(state.KindOutcome) {
				time.Sleep(time.Hour) // the service answers meanwhile
				peak = max(peak, w.journal.openIntents())
			}
			return nil
		}
		w.applyPlan(w.plan(numbered(30)...))
		if peak == 0 || peak > 3*3 {
			t.Errorf("%d intents had no outcome, want 9 at most", peak)
		}
	})
}
