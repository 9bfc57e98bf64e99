package executor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestAnExportIsAdopted rebuilds a state of what the plan has, in more than one hundred, and
// of what it does not have.
func TestAnExportIsAdopted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		old := time.Now().Add(-time.Hour)
		declared := numbered(150)
		for _, r := range declared {
			w.service.made[r.RefID] = sides(r, old, transfer.Completed)
		}
		others := map[string][]transfer.Record{"half": sides(request("half"), old, transfer.Completed)[:1]}
		for _, refID := range []string{"gone-1", "gone-2", "gone-3"} {
			others[refID] = sides(request(refID), old, transfer.Completed)
			w.service.made[refID] = others[refID]
		}
		summary, err := executor.Adopt(t.Context(), w.run(w.plan(declared...)), others)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[executor.Result]int{executor.ResultAdopted: 153}, counts(summary)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if !summary.Complete || summary.Requests > 0 || len(w.service.bodies) > 0 {
			t.Errorf("summary: %+v", summary)
		}
		for _, refID := range []string{"t-000", "t-149", "gone-1"} {
			if row := w.journal.row(refID); row.Status != state.Adopted || row.GroupID != "group-of-"+refID {
				t.Errorf("the state says of %q: %+v", refID, row)
			}
		}
		if row := w.journal.row("half"); row.Status != 0 {
			t.Errorf("one side alone was adopted: %+v", row)
		}
	})
}

func TestAnExportThatLacksALineLeavesItUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		summary, err := executor.Adopt(t.Context(), w.run(w.plan(request("rent"))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if summary.Complete || w.journal.row("rent").Status != 0 || w.results()["rent"] != executor.ResultNotAttempted {
			t.Errorf("summary: %+v, results %v", summary, w.results())
		}
	})
}
