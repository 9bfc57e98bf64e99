package executor_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/state"
)

// slowlyStopped is a run whose runners hear of a stop after some time.
type slowlyStopped struct {
	offered

	once sync.Once
	told time.Time // when they heard of the first one
}

func (s *slowlyStopped) Stop(ctx context.Context, reason string) error {
	time.Sleep(5 * time.Second)
	s.once.Do(func() { s.told = time.Now() })
	return s.offered.Stop(ctx, reason)
}

// TestOthersHearOfAStopBeforeItsReasonIsWritten has an answer that is in conflict stop a run of several runners: the one that got it
// may die at any moment, and a conflict that is written tells nobody else to stop.
func TestOthersHearOfAStopBeforeItsReasonIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 4
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(300 * time.Millisecond) // somebody asks to take part meanwhile
			return nil
		}
		begun, conflict := time.Now(), ""
		var mu sync.Mutex
		w.service.after = func(refID string, _ int, a executor.Answer) executor.Answer {
			mu.Lock()
			defer mu.Unlock()
			if conflict == "" && time.Since(begun) > 5*time.Second {
				conflict = refID
				a.Record = edited(*a.Record, map[string]string{"amount": "70.00"})
			}
			return a
		}
		share := new(slowlyStopped)
		run := w.run(w.plan(numbered(1000)...))
		run.Share, run.Saved = share, true
		if _, err := executor.Apply(t.Context(), run); err != nil || share.open == nil || share.told.IsZero() {
			t.Fatalf("shared %t, the others heard of a stop at %v, %v", share.open != nil, share.told, err)
		}
		if row := w.journal.row(conflict); row.Status != state.Conflict || row.SettledAt.Before(share.told) {
			t.Errorf("%s is %v since %v, and the others heard of it %v later", conflict, row.Status, row.SettledAt, share.told.Sub(row.SettledAt))
		}
	})
}

// TestWhatAnotherApplyDoesNotGoOnWithIsCountedOfAllRunners has a line that waits for a refused one, in a run of several runners.
func TestWhatAnotherApplyDoesNotGoOnWithIsCountedOfAllRunners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 4
		w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
			time.Sleep(300 * time.Millisecond)
			if refID == "t-000" {
				return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
			}
			return nil
		}
		plan := w.plan(numbered(1000)...)
		after(plan, "t-999", "t-000")
		share := new(offered)
		run := w.run(plan)
		run.Share, run.Saved = share, true
		summary, err := executor.Apply(t.Context(), run)
		if err != nil || share.open == nil {
			t.Fatalf("shared %t, %v", share.open != nil, err)
		}
		if got := counts(summary); got[executor.ResultNotAttempted] != 1 || summary.Idle != 1 {
			t.Errorf("another apply would not go on with %d, want 1: %v", summary.Idle, got)
		}
	})
}
