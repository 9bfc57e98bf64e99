package planner_test

import (
	"testing"
	"time"

	"remit/planner"
	"remit/state"
)

// A plan without changes says since when: files of a new month whose ref_ids lack it look paid.
func TestNewestIsThatOfTheDeclaredTransfersThatAreRecorded(t *testing.T) {
	old, newer, undeclared := declare("a"), declare("b"), declare("c")
	m := newMemory(
		record(old, state.Recorded, intended(60*24*time.Hour)),
		record(newer, state.Recorded, intended(30*24*time.Hour)),
		record(undeclared, state.Recorded, intended(time.Hour)),
	)
	if p := plan(t, m, planner.Controls{}, old, newer); !p.Newest.Equal(now.Add(-30 * 24 * time.Hour)) {
		t.Errorf("the newest is of %s", p.Newest)
	}
	if p := plan(t, m, planner.Controls{}, declare("d")); !p.Newest.IsZero() {
		t.Errorf("nothing that is declared is recorded, and the newest is of %s", p.Newest)
	}
}
