package executor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/planner"
)

// TestADoubtIsNotSentAgainOutsideOfItsWindow closes the window while doubts wait for others that are sent again.
func TestADoubtIsNotSentAgainOutsideOfItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 1
		w.settings.RequestTimeout = time.Hour
		w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
		w.apply(request("first"), request("second"), request("third"))
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(40 * time.Second)
			return nil
		}
		plan := w.plan(request("first"), request("second"), request("third"))
		closes := time.Now().Add(time.Minute)
		plan.Header.Windows = []planner.WindowHours{{Name: "hours", Until: closes.Add(time.Hour), Open: []planner.Interval{{Opens: closes.Add(-time.Hour), Closes: closes}}}}
		for i := range 3 {
			plan.Changes.Update(i, func(c *planner.Change) { c.Windows = []string{"hours"} })
		}
		w.applyPlan(plan)
		if n := w.service.requests("third"); n != 1 || !strings.Contains(w.reason("third"), "window hours is closed") {
			t.Errorf("third was sent %d times: %s, %s", n, w.results()["third"], w.reason("third"))
		}
	})
}
