package executor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestTheSidesInAnExportAreHeldAgainstOneAnother has files say of a PENDING transfer how its sides ended.
func TestTheSidesInAnExportAreHeldAgainstOneAnother(t *testing.T) {
	for name, test := range map[string]struct {
		debit, credit transfer.RecordStatus
		want          state.Status
	}{
		"both are COMPLETED":     {"COMPLETED", "COMPLETED", state.Recorded},
		"both FAILED":            {"FAILED", "FAILED", state.Recorded},
		"the debit FAILED alone": {"FAILED", "COMPLETED", state.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := pendingWorld(t, request("a"))
				snapshot, err := w.journal.Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				details, err := snapshot.Details(t.Context(), "a")
				if err != nil || len(details) != 1 {
					t.Fatal(details, err)
				}
				outcome, differences, isNew := executor.News(details[0], ended("a", test.debit, test.credit), w.settings)
				if !isNew || outcome.Status != test.want || len(differences) > 0 {
					t.Errorf("news %t: %v, want %v; differences %v", isNew, outcome.Status, test.want, differences)
				}
			})
		})
	}
}

// TestANewerCopyTakesBackWhatAnOlderOneDoesNot has a transfer that FAILED be PENDING again: by a newer copy of its records that is a conflict, and
// a list that lags says nothing.
func TestANewerCopyTakesBackWhatAnOlderOneDoesNot(t *testing.T) {
	for name, test := range map[string]struct {
		updated time.Duration // beside the FAILED copy
		want    state.Status
	}{
		"newer": {time.Minute, state.Conflict},
		"older": {-time.Minute, state.Recorded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := pendingWorld(t, request("a"))
				time.Sleep(time.Hour)
				failed := ended("a", transfer.Failed, transfer.Failed)
				w.service.remade("a", failed...)
				w.refresh()
				if row := w.journal.row("a"); row.Status != state.Recorded || row.RecordStatus != transfer.Failed {
					t.Fatalf("it is %v, %s", row.Status, row.RecordStatus)
				}
				var again []transfer.Record
				for _, r := range failed {
					again = append(again, copyOf(r, transfer.Pending, test.updated))
				}
				w.service.remade("a", again...)
				w.refresh()
				if row := w.journal.row("a"); row.Status != test.want {
					t.Errorf("it is %v, want %v", row.Status, test.want)
				}
			})
		})
	}
}
