package state_test

import (
	"testing"

	"remit/state"
)

// TestEveryStatusIsReadFromItsNumber holds that a store reads each status from the number that it wrote, and no other one.
func TestEveryStatusIsReadFromItsNumber(t *testing.T) {
	for _, want := range state.Statuses() {
		if got, isStatus := state.StatusOf(int64(want)); got != want || !isStatus {
			t.Errorf("the number of %q, %d, is read as %q: statuses in state/status.go has another order than the numbers", want, uint8(want), got)
		}
	}
	for _, number := range []int64{-1, 0, int64(len(state.Statuses())) + 1, 256 + int64(state.Recorded)} {
		if got, isStatus := state.StatusOf(number); got != 0 || isStatus {
			t.Errorf("%d is read as the status %q", number, got)
		}
	}
}
