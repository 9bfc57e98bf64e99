package planner_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/config"
	"remit/planner"
	"remit/state"
)

// TestWhatCameSinceIsJudgedByTheRulesThatMadeThePlan lets others record something after a plan was made, and
// holds what Recheck says against a new plan of the same declarations.
func TestWhatCameSinceIsJudgedByTheRulesThatMadeThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, []state.Status{0, 0, 0, state.Unsent, state.Recorded, state.Refused})
		for refID, d := range w.memory.details {
			w.memory.past[refID] = []pastDetail{{w.memory.meta.Serial, d}}
		}
		made := newPlan(t, w, w.declared)
		if !made.Applicable() {
			t.Skip("it could not be applied when it was made")
		}
		made.Header.PlanID, made.Header.Expires = "plan-1", now.Add(day)
		var raw bytes.Buffer
		if err := made.Save(&raw); err != nil {
			t.Fatal(err)
		}
		w.memory.happen(begun("run-9", "plan-2"))
		for i := range rapid.IntRange(0, 3).Draw(t, "others") {
			d := drawTransfer(t, 20+i)
			d.DependsOn, d.AcceptDuplicateOf = nil, nil
			w.memory.put("run-9", record(d, rapid.SampledFrom([]state.Status{state.Recorded, state.Refused, state.Unsent}).Draw(t, "since")))
		}
		opened, err := planner.Open(&raw)
		if err != nil {
			t.Fatal(err)
		}
		_, err = opened.Recheck(t.Context(), w.memory, planner.Controls{}, now)
		anew := newPlan(t, w, w.declared)
		switch unseen := newTwins(made, anew); {
		case err == nil && unseen != "":
			t.Fatalf("it is applied, and a new plan says that %s: %v", unseen, anew.Obstacles)
		case err != nil && unseen == "" && !made.Empty() && anew.Digest == made.Digest && !isGuessed(err, w):
			t.Fatalf("it is refused, and a new plan is the same: %v", err)
		}
	})
}

// isGuessed reports whether all that stops a plan are renames, and others recorded a transfer since whose words nobody wrote down. A
// plan takes it for that of a line by the words of the declared ones that are recorded, of which a saved plan has none that it does not
// hang on: then a recheck asks for a new plan where that says nothing. It never lets more through.
func isGuessed(err error, w world) bool {
	stopped := new(planner.ObstacleError)
	isRename := func(o planner.Obstacle) bool { return o.Kind == planner.ObstacleRename }
	if !errors.As(err, &stopped) || slices.ContainsFunc(stopped.Obstacles, func(o planner.Obstacle) bool { return !isRename(o) }) {
		return false
	}
	for refID, d := range w.memory.details {
		if strings.HasPrefix(refID, "t2") && d.Status.Made() && !d.FromLabel && d.Intent.Naming == "" {
			return true
		}
	}
	return false
}

// newTwins names a look-alike that stops the second plan and that the first does not show.
func newTwins(made, anew *planner.Plan) string {
	for _, c := range anew.Changes.All() {
		if c.Action != planner.Submit {
			continue
		}
		var shown []planner.Signal
		for _, was := range made.Changes.All() {
			if was.RefID == c.RefID {
				shown = was.Signals
			}
		}
		for _, s := range c.Signals {
			isTwin := s.Kind == planner.LookAlike && c.DuplicateWithin > 0 || s.Kind == planner.Rename
			isShown := slices.ContainsFunc(shown, func(was planner.Signal) bool { return was.RefID == s.RefID })
			if isTwin && !isShown && strings.HasPrefix(s.RefID, "t2") && !strings.Contains(s.Detail, "a mark only") && !slices.Contains(c.AcceptOf, s.RefID) {
				return fmt.Sprintf("%q looks like %q", c.RefID, s.RefID)
			}
		}
	}
	return ""
}

// TestWhatCameSinceOfARenameStops pays the movement of an accepted rename once more after the plan was made.
func TestWhatCameSinceOfARenameStops(t *testing.T) {
	was, is := declare("old", twin, label), declare("new", twin, label)
	is.DuplicateWithin = 0
	w := world{declared: []config.Transfer{is}, memory: newMemory(), controls: planner.Controls{AllowEmpty: true, AcceptDuplicate: []string{"new"}}}
	d := record(was, state.Recorded)
	w.memory.details["old"] = d
	w.memory.past["old"] = []pastDetail{{w.memory.meta.Serial, d}}
	made, err := planner.New(t.Context(), slices.Values(w.declared), w.memory, w.controls, now)
	if err != nil || !made.Applicable() {
		t.Fatalf("the plan can't be applied: %v, %v", err, made.Obstacles)
	}
	made.Header.PlanID, made.Header.Expires = "plan-1", now.Add(day)
	var raw bytes.Buffer
	if err := made.Save(&raw); err != nil {
		t.Fatal(err)
	}
	w.memory.happen(begun("run-9", "plan-2"))
	w.memory.put("run-9", record(declare("other", twin), state.Recorded))
	opened, err := planner.Open(&raw)
	if err != nil {
		t.Fatal(err)
	}
	_, err = opened.Recheck(t.Context(), w.memory, planner.Controls{}, now)
	if obstacle := new(planner.ObstacleError); !errors.As(err, &obstacle) || !strings.Contains(err.Error(), `"other"`) {
		t.Fatalf("the rest is applied beside what came since: %v", err)
	}
}
