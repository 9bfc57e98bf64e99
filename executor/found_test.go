package executor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// TestARecordThatWasFoundIsNeverOurs finds the credit side before the first request, so that
// an intent is written and nothing is sent, and the debit side in the next run.
func TestARecordThatWasFoundIsNeverOurs(t *testing.T) {
	tests := map[string]struct {
		later func([]transfer.Record) []transfer.Record
		want  executor.Result
		row   state.Status
	}{
		"by its debit side alone": {func(both []transfer.Record) []transfer.Record { return both[:1] }, executor.ResultUnverified, state.Unverified},
		"by both sides":           {func(both []transfer.Record) []transfer.Record { return both }, executor.ResultAdopted, state.Adopted},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup, w.policy.LookUpFirst = true, true
				both := sides(request("rent"), time.Now().Add(-time.Minute), transfer.Completed)
				found := both[1:]
				w.service.find = func([]string) (map[string][]transfer.Record, error) {
					return map[string][]transfer.Record{"rent": found}, nil
				}
				w.apply(request("rent"))
				if got := w.journal.row("rent").Status; got != state.InDoubt {
					t.Fatalf("by its credit side alone it is %v", got)
				}
				found = test.later(both)
				w.apply(request("rent"))
				if got := w.results()["rent"]; got != test.want || w.journal.row("rent").Status != test.row {
					t.Errorf("it is %s", got)
				}
				if n := w.service.requests("rent"); n != 0 {
					t.Errorf("%d requests were sent", n)
				}
			})
		})
	}
}
