package view_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// TestWhyAnswers holds the one sentence about a transfer to where it stands.
func TestWhyAnswers(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	line := func(action planner.Action, edits ...func(*planner.Change)) *planner.Change {
		c := &planner.Change{Action: action, RefID: "rent"}
		for _, edit := range edits {
			edit(c)
		}
		return c
	}
	because := func(reason string) func(*planner.Change) { return func(c *planner.Change) { c.Reason = reason } }
	recorded := func(status state.Status, service transfer.RecordStatus) *state.Detail {
		return &state.Detail{Transfer: state.Transfer{RefID: "rent", Status: status, RecordStatus: service}}
	}
	withRecord := func(d *state.Detail) *state.Detail {
		d.RecordID = "r-1"
		return d
	}
	told := func(d *state.Detail, command, reason string, accepted ...transfer.Difference) *state.Detail {
		d.Outcome = &state.Outcome{Source: state.SourcePerson, By: &state.Holder{User: "ada", Command: command}, Reason: reason, Differences: accepted}
		return d
	}
	tests := map[string]struct {
		why    view.Why
		answer string
	}{
		"it is due": {view.Why{Line: line(planner.Submit)}, "It is due. The next apply sends it."},
		"its plan has an obstacle": {
			view.Why{Line: line(planner.Submit), Plan: &planner.Plan{Obstacles: []planner.Obstacle{{Kind: planner.ObstacleLimit}, {Kind: planner.ObstacleControl}, {Kind: planner.ObstacleLimit}}}},
			"It is due. The plan that would send it cannot be applied: limit, control total.",
		},
		"it depends on one": {
			view.Why{Line: line(planner.Submit, func(c *planner.Change) { c.After = []string{"a"} })},
			"It is due. An apply sends it when the transfer that it depends on is COMPLETED.",
		},
		"it waits for its time": {
			view.Why{Line: line(planner.Wait, func(c *planner.Change) { c.Until = noon })},
			"It waits until 2026-11-27T12:00:00Z.",
		},
		"it waits for a window": {
			view.Why{Line: line(planner.Wait, because("window office is closed"), func(c *planner.Change) { c.Until = noon })},
			"It waits until 2026-11-27T12:00:00Z: window office is closed.",
		},
		"it waits for ever": {
			view.Why{Line: line(planner.Wait, because("no window opens"), func(c *planner.Change) { c.Never = true })},
			"It waits for a time that does not come: no window opens.",
		},
		"it waits for another one": {
			view.Why{Line: line(planner.Wait, because(`waits for "a", which is in doubt`))}, `It waits for "a", which is in doubt.`,
		},
		"it waits for another one, which waits for its time": {
			view.Why{Line: line(planner.Wait, because(`waits for "a", which waits until noon`), func(c *planner.Change) { c.Until = noon })},
			`It waits until 2026-11-27T12:00:00Z: it waits for "a", which waits until noon.`,
		},
		"it waits for one that is never sent": {
			view.Why{Line: line(planner.Wait, because(`waits for "a", which expired`), func(c *planner.Change) { c.Never = true })},
			`It is never sent as things are: it waits for "a", which expired.`,
		},
		"a run has it in flight": {
			view.Why{Group: planner.GroupInFlight, Line: line(planner.Wait, because("in flight in run 1"))}, "It is in flight in run 1.",
		},
		"it is in doubt": {
			view.Why{Line: line(planner.Resolve, because("No answer was read. The next apply looks it up."))},
			"It is in doubt. No answer was read. The next apply looks it up.",
		},
		"it expired": {view.Why{Line: line(planner.Expired, because("expires passed"))}, "It is too late for it: expires passed."},
		"it failed":  {view.Why{Line: line(planner.Failed, because("the service says that it FAILED"))}, "The service says that it FAILED."},
		"it is done": {
			view.Why{Declared: &config.Transfer{}, Recorded: recorded(state.Adopted, transfer.Completed)},
			"It is adopted. Its declaration agrees with the record. Nothing is left to do.",
		},
		"the service has not finished it": {
			view.Why{Declared: &config.Transfer{}, Recorded: recorded(state.Recorded, transfer.Pending), Group: planner.GroupPending},
			"It is recorded. The service has not finished it: its status is PENDING. Its declaration agrees with the record.",
		},
		"the service has a word of its own": {
			view.Why{Recorded: recorded(state.Recorded, "PARKED"), Group: planner.GroupUnknown},
			"It is recorded. The service gives it a status that remit does not know: PARKED. No file declares it any more.",
		},
		"nobody declares what was never sent": {
			view.Why{Recorded: recorded(state.Unsent, "")}, "It was never sent. No file declares it any more.",
		},
		"a person closed it": {
			view.Why{Recorded: recorded(state.Tombstone, "")},
			"It was closed as not made: it is never sent again. No file declares it any more.",
		},
		"a person forgot what was never sent": {
			view.Why{Recorded: told(recorded(state.Tombstone, ""), "remit state forget", "a typo")},
			"It was forgotten: it is never sent again. The reason of ada: a typo. No file declares it any more.",
		},
		"a person forgot what was paid": {
			view.Why{Recorded: told(withRecord(recorded(state.Tombstone, transfer.Completed)), "remit state forget", "another book.")},
			"It was paid, as its record is COMPLETED, and then forgotten: it is never sent again. The reason of ada: another book. No file declares it any more.",
		},
		"a person forgot what the service had not finished": {
			view.Why{Recorded: told(withRecord(recorded(state.Tombstone, transfer.Pending)), "remit state forget", "another book")},
			"It was recorded as PENDING, and then forgotten: it is never sent again. The reason of ada: another book. No file declares it any more.",
		},
		"a person accepted another record": {
			view.Why{Declared: &config.Transfer{}, Recorded: told(withRecord(recorded(state.Recorded, transfer.Completed)), "remit resolve", "by phone",
				transfer.Difference{Field: "amount", Asked: "1.00", Answered: "9.00"}, transfer.Difference{Field: "destination"})},
			"It is recorded. A person accepted a record that differs from the request: amount 9.00 where 1.00 was asked; destination not proven." +
				" The reason of ada: by phone. Its declaration agrees with the request. Nothing is left to do.",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			why := test.why
			if why.RefID = "rent"; why.Plan == nil {
				why.Plan = &planner.Plan{}
			}
			if got := why.Answer(); got != test.answer {
				t.Errorf("got  %s\nwant %s", got, test.answer)
			}
		})
	}
}

// TestWhyShowsNothingHidden gives it texts that would move the cursor or turn the line around.
func TestWhyShowsNothingHidden(t *testing.T) {
	const hostile = "a\x1b[2Jb\u202ec"
	why := &view.Why{
		RefID: hostile, Plan: &planner.Plan{}, Next: "remit plan",
		Declared: &config.Transfer{Request: transfer.Request{RefID: hostile, ToProfileID: hostile, Asset: "USD", Amount: transfer.MustAmount("1")}, DisplayName: hostile, Batch: hostile, Place: config.Place{File: hostile}},
		Line:     &planner.Change{Action: planner.Wait, RefID: hostile, Reason: hostile, After: []string{hostile}, Signals: []planner.Signal{{Kind: planner.LookAlike, RefID: hostile, Detail: hostile}}},
		After:    []view.Stands{{RefID: hostile}},
	}
	var text bytes.Buffer
	if err := view.ShowWhy(&text, why, view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := view.NewJSON(&text, "test").Why(why, view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\u202e") {
		t.Errorf("what is hidden reaches the reader:\n%q", text.String())
	}
}
