package executor_test

import (
	"strings"
	"testing"
	"time"

	"remit/executor"
)

// TestPastStartsAreNotComparedByTheWallClock: a clock that is set back during a run would make the starts of earlier
// runs lie ahead, and hold requests for as long as it was set back.
func TestPastStartsAreNotComparedByTheWallClock(t *testing.T) {
	now := time.Now()
	for _, ago := range []time.Duration{0, time.Second, time.Hour} {
		at := now.Round(0).Add(-ago) // as the journal has it: no monotonic reading
		got := executor.DateStart(now, at)
		if !strings.Contains(got.String(), " m=") {
			t.Errorf("%v has no monotonic reading", got)
		}
		if !got.Equal(at) {
			t.Errorf("got %v, want %v", got, at)
		}
	}
	if got := executor.DateStart(now, now.Add(time.Hour)); !got.Equal(now) {
		t.Errorf("a start ahead of the clock is dated %v, want %v", got, now)
	}
}
