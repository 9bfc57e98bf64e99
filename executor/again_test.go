package executor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

const day = 24 * time.Hour

// TestTheWeekOfALookAgainBeginsWithTheOutcome has a service return a transfer ten days after it was sent, and a person settle a doubt as
// late. A refresh finds for a week from then on that it was made after all.
func TestTheWeekOfALookAgainBeginsWithTheOutcome(t *testing.T) {
	tests := map[string]struct {
		settle   func(t *testing.T) *world
		conflict int
	}{
		"it FAILED": {func(t *testing.T) *world {
			w := pendingWorld(t, request("a"))
			time.Sleep(10 * day)
			w.service.remade("a", ended("a", "FAILED", "FAILED")...)
			w.refresh()
			return w
		}, 1},
		"a person settled it as not made": {func(t *testing.T) *world {
			w := newWorld(t)
			w.lookup = true
			w.service.after = func(_ string, _ int, _ executor.Answer) executor.Answer { return *timeout() }
			w.service.find = func([]string) (map[string][]transfer.Record, error) { return nil, nil }
			w.apply(request("a"))
			time.Sleep(10 * day)
			if _, err := executor.ResolveNotMade(t.Context(), w.resolution("a")); err != nil {
				t.Fatal(err)
			}
			w.service.find = nil
			return w
		}, 0},
	}
	for name, test := range tests {
		for age, again := range map[time.Duration]int{6 * day: 1, 8 * day: 0} {
			t.Run(name+", after "+age.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := test.settle(t)
					time.Sleep(age)
					w.service.remade("a", ended("a", transfer.Completed, transfer.Completed)...)
					found := w.refresh()
					if found.Again.Count() != again || found.Conflicts.Count() != again*test.conflict || found.AgainCounted != again {
						t.Errorf("found %+v", found)
					}
					if row := w.journal.row("a"); again*test.conflict == 1 && row.Status != state.Conflict {
						t.Errorf("it is %v, %s", row.Status, row.RecordStatus)
					}
				})
			})
		}
	}
}
