package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestAClaimedLineWaitsForAnUnverifiedDependency has a funding of a shared run that is COMPLETED by the service's word, and
// of which nothing proves whom it paid. The payout is claimed after it.
func TestAClaimedLineWaitsForAnUnverifiedDependency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 4
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(300 * time.Millisecond)
			return nil
		}
		w.service.made["funding"] = sides(request("funding"), time.Now().Add(-time.Hour), transfer.Completed)[:1]
		plan := w.plan(append(numbered(300), request("funding"), request("payout"))...)
		after(plan, "payout", "funding")
		share := new(offered)
		run := w.run(plan)
		run.Share, run.Saved = share, true
		if _, err := executor.Apply(t.Context(), run); err != nil || share.open == nil {
			t.Fatalf("shared %t, %v", share.open != nil, err)
		}
		if row := w.journal.row("funding"); row.Status != state.Unverified || row.RecordStatus != transfer.Completed {
			t.Fatalf("funding is %v, %s", row.Status, row.RecordStatus)
		}
		if n := w.service.requests("payout"); n != 0 {
			t.Errorf("payout was sent %d times, and is %s: %s", n, w.results()["payout"], w.reason("payout"))
		}
	})
}
