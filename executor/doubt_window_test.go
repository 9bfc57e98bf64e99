package executor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

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

// TestAWindowThatClosesKeepsBackWhatHasItAlone closes a window of many lines, of which several are in hand: that stops no line that
// has none.
func TestAWindowThatClosesKeepsBackWhatHasItAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 4
		w.settings.RequestTimeout = time.Hour
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(40 * time.Second)
			return nil
		}
		plan := w.plan(numbered(40)...)
		closes := time.Now().Add(time.Minute)
		plan.Header.Windows = []planner.WindowHours{{Name: "hours", Until: closes.Add(time.Hour), Open: []planner.Interval{{Opens: closes.Add(-time.Hour), Closes: closes}}}}
		for i := range 20 {
			plan.Changes.Update(i, func(c *planner.Change) { c.Windows = []string{"hours"} })
		}
		summary := w.applyPlan(plan)
		want := map[executor.Result]int{executor.ResultRecorded: 8 + 20, executor.ResultNotAttempted: 12}
		if diff := cmp.Diff(want, counts(summary)); diff != "" || summary.Stopped != "" {
			t.Errorf("stopped by %q; results (-want +got):\n%s", summary.Stopped, diff)
		}
	})
}
