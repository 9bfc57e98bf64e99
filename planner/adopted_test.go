package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"remit/config"
	"remit/planner"
	"remit/state"
)

// made gives a detail the service's records of both sides, created at the given times; "" leaves a time out.
func made(times ...string) func(*state.Detail) {
	return func(d *state.Detail) {
		for i, at := range times {
			side, text := []string{"DEBIT", "CREDIT"}[i], `"id":"%d","customer_id":"me","profile_id":"p","amount":"80.00","asset":"USD","direction":%q,"type":"INTERNAL_TRANSFER_%[2]s","status":"COMPLETED"`
			if at != "" {
				text += `,"created_at":"` + at + `"`
			}
			d.Outcome.Records = append(d.Outcome.Records, json.RawMessage("{"+fmt.Sprintf(text, i, side)+"}"))
		}
	}
}

// foundFirst says that the transfer was recorded when it was found, before anything was sent.
func foundFirst(d *state.Detail) { d.Intent.Found = true }

// TestAdoptedIsAsOldAsItsRecord holds that what this state never sent is as old as its records say, for the limit of a day and
// for look-alikes alike, and that nothing else is.
func TestAdoptedIsAsOldAsItsRecord(t *testing.T) {
	long, today := now.Add(-60*day).Format(time.RFC3339), now.Add(-2*time.Hour).Format(time.RFC3339)
	tests := map[string]struct {
		status state.Status
		edits  []func(*state.Detail)
		isOld  bool
		said   string
	}{
		"adopted, both sides": {state.Adopted, []func(*state.Detail){foundFirst, made(long, long)}, true, ""},
		"unverified":          {state.Unverified, []func(*state.Detail){foundFirst, made(long)}, true, ""},
		"made today by others": {
			state.Adopted, []func(*state.Detail){foundFirst, made(today, today)}, false, "adopted, made at " + today,
		},
		"the later side counts": {
			state.Adopted, []func(*state.Detail){foundFirst, made(long, today)}, false, "adopted, made at " + today,
		},
		"a record without a time": {
			state.Adopted, []func(*state.Detail){foundFirst, made(long, "")}, false, "adopted, intended at 2026-11-27T14:00:00Z",
		},
		"a record of the year 1970": {
			state.Adopted, []func(*state.Detail){foundFirst, made("1970-01-01T00:00:00Z")}, false, "adopted, intended at 2026-11-27T14:00:00Z",
		},
		"a list alone": {state.Unverified, []func(*state.Detail){foundFirst}, false, "unverified, intended at 2026-11-27T14:00:00Z"},
		"a record of the future": {
			state.Adopted, []func(*state.Detail){foundFirst, made("2027-01-01T00:00:00Z")}, false, "adopted, made at 2026-11-27T14:00:00Z",
		},
		"recorded: remit sent it": {
			state.Recorded, []func(*state.Detail){made(long, long)}, false, "recorded, intended at 2026-11-27T14:00:00Z",
		},
		"adopted, but remit sent it": {
			state.Adopted, []func(*state.Detail){made(long, long)}, false, "adopted, intended at 2026-11-27T14:00:00Z",
		},
		"found, and then sent by another run": {
			state.Adopted,
			[]func(*state.Detail){foundFirst, made(long, long), func(d *state.Detail) { d.RunID = "run-1" }},
			false, "adopted, intended at 2026-11-27T14:00:00Z",
		},
		"found, and then sent by the same run": {
			state.Adopted,
			[]func(*state.Detail){foundFirst, made(long, long), func(d *state.Detail) { d.AttemptedAt = d.AttemptedAt.Add(time.Minute) }},
			false, "adopted, intended at 2026-11-27T14:00:00Z",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMemory(record(declare("old", twin), test.status, test.edits...))
			p := plan(t, m, limits(limit("l", config.PerDay, countMax(1))), declare("b"), declare("old", twin))
			if p.Applicable() != test.isOld {
				t.Errorf("limit of a day: obstacles %v", p.Obstacles)
			}
			p = plan(t, m, planner.Controls{}, declare("b", twin), declare("old", twin))
			if p.Applicable() != test.isOld {
				t.Errorf("look-alikes: obstacles %v", p.Obstacles)
			}
			said := ""
			for _, s := range find(t, p, "b").Signals {
				if s.Kind == planner.LookAlike {
					said = s.Detail
				}
			}
			if said != test.said {
				t.Errorf("said %q, want %q", said, test.said)
			}
			if _, err := p.Alone(t.Context(), planner.Controls{}); err != nil {
				t.Errorf("the plan alone: %v", err)
			}
		})
	}
}

// TestNoPlaceLeavesNoHole holds that what nobody declared when it was recorded is named without a place.
func TestNoPlaceLeavesNoHole(t *testing.T) {
	unplaced := func(d *state.Detail) { d.Intent.Place, d.Intent.Address = "", "" }
	tests := map[string]*planner.Plan{
		"a look-alike": plan(t, newMemory(record(declare("old", twin), state.Adopted, unplaced)), planner.Controls{}, declare("b", twin)),
		"look-alikes": plan(t, newMemory(record(declare("old", twin), state.Adopted, unplaced)), planner.Controls{},
			declare("b", twin, inBatch("pay")), declare("c", twin, inBatch("pay"))),
		"a correction": plan(t, newMemory(record(ofAmount("v-10.00", "10.00"), state.Adopted, unplaced)), planner.Controls{}, ofAmount("v-9.00", "9.00")),
	}
	for name, p := range tests {
		if len(p.Obstacles) == 0 {
			t.Errorf("%s: no obstacle", name)
		}
		for _, o := range p.Obstacles {
			for _, hole := range []string{" at :", " at  ", " from  ", "  ", " from with"} {
				if strings.Contains(o.Detail, hole) {
					t.Errorf("%s: %q in %q", name, hole, o.Detail)
				}
			}
		}
	}
}
