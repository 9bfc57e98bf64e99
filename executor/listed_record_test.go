package executor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestWhatAListAloneHasIsHeldAgainstItsRecord has a list of a transfer that nothing declares, and the service another amount or asset of it.
func TestWhatAListAloneHasIsHeldAgainstItsRecord(t *testing.T) {
	for name, test := range map[string]struct {
		amount, asset string
		want          state.Status
	}{
		"as the list has it": {"80.00", "USD", state.Adopted},
		"another amount":     {"90.00", "USD", state.Conflict},
		"another asset":      {"80.00", "EUR", state.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				others := listedOf(executor.ListedTransfer{RefID: "rent", GroupID: "group-of-rent", Amount: "80.00", Asset: "USD"})
				others.Unknown = func(yield func(string) bool) { yield("rent") }
				none := exported(w.run(w.plan()), nil)
				none.Finder = export{nothing{}, nil}
				if _, err := executor.Adopt(t.Context(), none, others); err != nil {
					t.Fatal(err)
				}
				if row := w.journal.row("rent"); row.Status != state.Unverified {
					t.Fatalf("the list made it %v", row.Status)
				}
				made := request("rent")
				made.Amount, made.Asset = transfer.MustAmount(test.amount), test.asset
				w.service.made["rent"] = sides(made, time.Now().Add(-time.Hour), transfer.Completed)
				w.lookup = true
				refresh := w.run(w.plan())
				refresh.Begun = state.Begun{} // it is no run
				if _, err := executor.Refresh(t.Context(), refresh, 0, nil); err != nil {
					t.Fatal(err)
				}
				if row := w.journal.row("rent"); row.Status != test.want {
					t.Errorf("it is %v, want %v", row.Status, test.want)
				}
			})
		})
	}
}
