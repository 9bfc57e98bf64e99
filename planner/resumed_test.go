package planner_test

import (
	"testing"
	"time"

	"remit/config"
	"remit/planner"
	"remit/state"
)

// TestWhatAResumedPlanHasMadeDoesNotStopTheRest has an earlier run of a plan that made a of a and b.
func TestWhatAResumedPlanHasMadeDoesNotStopTheRest(t *testing.T) {
	for name, test := range map[string]struct {
		controls planner.Controls
		made     config.Transfer
	}{
		"a limit of the day allows just the two": {limits(limit("l", config.PerDay, amountMax("160"))), declare("a")},
		"a limit of the day allows one to each":  {limits(limit("l", config.PerDestinationDay, countMax(1))), declare("a")},
		"the window of what was made has closed": {planner.Controls{}, declare("a", opens("afternoon", 14*60, 16*60))},
		"what was made would expire by now":      {planner.Controls{}, declare("a", expires(now.Add(time.Minute)))},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			p := plan(t, m, test.controls, test.made, declare("b"))
			p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
			m.happen(begun("run-1", "plan-1"))
			m.put("run-1", record(test.made, state.Recorded))
			left, err := p.Recheck(t.Context(), m.carriedOut(p), test.controls, now.Add(2*time.Hour))
			if got, want := outcomeOf(left, err), "[+ b]"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
