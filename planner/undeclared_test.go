package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestUndeclaredFailedIsCountedApart holds that a plan says how much of what nobody declares any more was not paid, and
// counts nothing there of which the credit side may have arrived.
func TestUndeclaredFailedIsCountedApart(t *testing.T) {
	arrived := func(d *state.Detail) {
		d.Outcome.Differences = []transfer.Difference{{Field: "credit_status", Asked: "FAILED", Answered: "COMPLETED"}}
	}
	p := plan(t, newMemory(
		record(declare("paid"), state.Recorded), record(declare("late"), state.Recorded, recordStatus(transfer.Failed)),
		record(declare("found"), state.Unverified, recordStatus(transfer.Failed)), record(declare("refused"), state.Refused),
		record(declare("waiting"), state.Unsent), record(declare("closed"), state.Tombstone),
		record(declare("disputed"), state.Recorded, recordStatus(transfer.Failed), arrived),
	), planner.Controls{}, declare("b"))
	if got, failed := p.Count(planner.Undeclared), p.UndeclaredFailed.Count(); got != 4 || failed != 2 {
		t.Errorf("%d undeclared, %d of them FAILED", got, failed)
	}
	if diff := cmp.Diff([]string{"refused", "waiting"}, p.Unmade.RefIDs); diff != "" || p.Unmade.Count() != 2 {
		t.Errorf("%d were not made (-want +got):\n%s", p.Unmade.Count(), diff)
	}
}
