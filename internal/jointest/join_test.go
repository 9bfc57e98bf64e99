package jointest_test

import (
	"testing"
	"time"
)

// TestThreeRunnersCarryOutOneRun has two runners join a third.
func TestThreeRunnersCarryOutOneRun(t *testing.T) {
	program := build(t)
	w := newWorld(t, program, options{rows: 400, inFlight: 4, latency: 20 * time.Millisecond})
	leader := w.start("apply", "--auto-approve")
	w.await(1)
	second, third := w.start("apply", "--join"), w.start("apply", "--join")
	for _, r := range []*runner{leader, second, third} {
		if code := r.end(); code != 0 {
			t.Errorf("exit code %d\n%s\n%s", code, &r.stdout, &r.stderr)
		}
	}
	t.Logf("%s\n%s", &second.stdout, &second.stderr)
	w.check(400)
	if n := w.count(); n != 400 {
		t.Errorf("%d requests were sent for 400 transfers", n)
	}
}
