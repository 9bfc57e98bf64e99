package planner_test

import (
	"bytes"
	"testing"
	"time"

	"remit/config"
	"remit/internal/transfer"
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

// TestWhatAResumedPlanMayHaveMadeDoesNotStopIt has an earlier run of a plan that left its first line in doubt, and applies it again: as
// a file, and as one that nobody saved, after a failover.
func TestWhatAResumedPlanMayHaveMadeDoesNotStopIt(t *testing.T) {
	rent := declare("rent")
	for name, test := range map[string]struct {
		controls planner.Controls
		lines    []config.Transfer
		later    time.Duration
		want     string
	}{
		"it gives back all that may go back":  {lines: []config.Transfer{reversal("a", rent, "80.00")}, want: "[+ a]"},
		"it gives back a part, and b another": {lines: []config.Transfer{reversal("a", rent, "30.00"), reversal("b", rent, "50.00")}, want: "[+ a + b]"},
		"b depends on it":                     {lines: []config.Transfer{declare("a"), declare("b", after("a"))}, want: "[+ a + b]"},
		"b is its accepted look-alike": {
			controls: planner.Controls{AcceptDuplicate: []string{"a", "b"}},
			lines:    []config.Transfer{declare("a", twin), declare("b", twin)}, want: "[+ a + b]",
		},
		"a limit of the day allows just the two beside rent": {
			controls: limits(limit("l", config.PerDay, amountMax("240"))),
			lines:    []config.Transfer{declare("a"), declare("b")}, want: "[+ a + b]",
		},
		"a limit of the day allows one to each": {
			controls: limits(limit("l", config.PerDestinationDay, countMax(1))),
			lines:    []config.Transfer{declare("a"), declare("b")}, want: "[+ a + b]",
		},
		"a limit of a plan allows just the two": {
			controls: limits(limit("l", config.PerPlan, amountMax("160"))),
			lines:    []config.Transfer{declare("a"), declare("b")}, want: "[+ a + b]",
		},
		"its window has closed": {
			lines: []config.Transfer{declare("a", opens("afternoon", 14*60, 16*60)), declare("b")},
			later: 2 * time.Hour, want: "[+ a + b]",
		},
		"the window of the rest has closed": {
			lines: []config.Transfer{declare("a"), declare("b", opens("afternoon", 14*60, 16*60))},
			later: 2 * time.Hour, want: "obstacle window [b]",
		},
		"it would expire by now":        {lines: []config.Transfer{declare("a", expires(now.Add(time.Minute))), declare("b")}, later: 2 * time.Hour, want: "[+ a + b]"},
		"it would come late by now":     {lines: []config.Transfer{declare("a", occurs(now.Add(-time.Hour), 2*time.Hour)), declare("b")}, later: 2 * time.Hour, want: "[+ a + b]"},
		"the rest would come late, too": {lines: []config.Transfer{declare("a"), declare("b", occurs(now.Add(-time.Hour), 2*time.Hour))}, later: 2 * time.Hour, want: "obstacle late [b]"},
	} {
		for kind, isSaved := range map[string]bool{"saved": true, "after a failover": false} {
			t.Run(name+", "+kind, func(t *testing.T) {
				p, m := resumed(t, test.controls, record(rent, state.Recorded), test.lines...)
				if !isSaved {
					p.SHA256 = ""
				}
				m.happen(begun("run-1", "plan-1"))
				m.put("run-1", record(test.lines[0], state.InDoubt, open, reversing(test.lines[0].Reverses)))
				left, err := p.Recheck(t.Context(), m.carriedOut(p), planner.Controls{Declared: test.controls.Declared}, now.Add(test.later))
				if got := outcomeOf(left, err); got != test.want {
					t.Errorf("%s, want %s: %v", got, test.want, err)
				}
			})
		}
	}
}

// resumed is a plan as it is read from its file, beside a transfer that was recorded before, and the state that it was made from.
func resumed(t *testing.T, controls planner.Controls, before state.Detail, lines ...config.Transfer) (*planner.Plan, *memory) {
	t.Helper()
	m := newMemory(before)
	controls.AllowEmpty = true
	p := plan(t, m, controls, append(lines[:len(lines):len(lines)], declare(before.RefID))...)
	if !p.Applicable() {
		t.Fatal(p.Obstacles)
	}
	p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
	opened, err := planner.Open(bytes.NewReader(save(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	return opened, m
}

// TestWhatAResumedPlanMadeOtherwiseCounts gives 30.00 and then 50.00 of 80.00 USD back.
func TestWhatAResumedPlanMadeOtherwiseCounts(t *testing.T) {
	rent := declare("rent")
	a, b := reversal("a", rent, "30.00"), reversal("b", rent, "50.00")
	more := func(d *state.Detail) {
		d.Outcome.Differences = []transfer.Difference{{Field: "amount", Asked: "30.00", Answered: "40.00"}}
	}
	for name, test := range map[string]struct {
		since func(*memory)
		want  string
	}{
		"as it was asked for":             {func(m *memory) { m.put("run-1", record(a, state.Recorded, reversing("rent"))) }, "[+ b]"},
		"of more, which a person accepts": {func(m *memory) { m.put("run-1", record(a, state.Recorded, reversing("rent"), more)) }, "obstacle reversal [b]"},
		"in conflict":                     {func(m *memory) { m.put("run-1", record(a, state.Conflict, reversing("rent"), more)) }, "obstacle conflict [a]"},
		"refused, and given back by another": {func(m *memory) {
			m.put("run-1", record(a, state.Refused, reversing("rent")))
			m.happen(begun("run-2", "plan-2"))
			m.put("run-2", record(reversal("other", rent, "29.00"), state.Recorded, reversing("rent")))
		}, "[+ b]"},
		"in doubt, and given back by another": {func(m *memory) {
			m.put("run-1", record(a, state.InDoubt, open, reversing("rent")))
			m.happen(begun("run-2", "plan-2"))
			m.put("run-2", record(reversal("other", rent, "0.01"), state.Recorded, reversing("rent")))
		}, "obstacle reversal [a b]"},
	} {
		t.Run(name, func(t *testing.T) {
			p, m := resumed(t, planner.Controls{}, record(rent, state.Recorded), a, b)
			m.happen(begun("run-1", "plan-1"))
			test.since(m)
			left, err := p.Recheck(t.Context(), m.carriedOut(p), planner.Controls{}, now)
			if got := outcomeOf(left, err); got != test.want {
				t.Errorf("%s, want %s: %v", got, test.want, err)
			}
		})
	}
}
