package planner_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// planOf is a plan of some lines, as an opened one has them.
func planOf(changes ...planner.Change) *planner.Plan {
	return &planner.Plan{Changes: planner.ListChanges(changes...)}
}

// TestAgainstComparesEachField edits each field of a line by itself: a reviewer is told of it, or it is one that says
// nothing about the requests.
func TestAgainstComparesEachField(t *testing.T) {
	untold := map[string]string{
		"Place":       "a row that moved is the same payment",
		"FromPlace":   "so is that of a profile: which one it is, the request says",
		"ToPlace":     "the same",
		"FromLabel":   "how a ref_id is made matters to renames, which have a signal",
		"Naming":      "the same",
		"Reason":      "words that follow from the rest and from the time",
		"Next":        "the same",
		"Differences": "they follow from the request and from what is recorded",
		"RefID":       "it makes another line",
		"Now":         "what runs of a plan did is no part of it, and the head of each face says it",
	}
	edits := map[string]struct {
		edit  func(*planner.Change)
		field string
	}{
		"Action":          {func(c *planner.Change) { c.Action = planner.Wait }, "action"},
		"Address":         {func(c *planner.Change) { c.Address = "transfer.internal.other" }, "address"},
		"Batch":           {func(c *planner.Change) { c.Batch = "other" }, "batch"},
		"Request":         {func(c *planner.Change) { c.Request.ToProfileID = "other" }, "to_profile_id"},
		"DisplayName":     {func(c *planner.Change) { c.DisplayName = "other" }, "display_name"},
		"Reverses":        {func(c *planner.Change) { c.Reverses = "other" }, "reverses"},
		"DuplicateWithin": {func(c *planner.Change) { c.DuplicateWithin = 1 }, "duplicate_within"},
		"AcceptOf":        {func(c *planner.Change) { c.AcceptOf = []string{"x"} }, "accept_duplicate_of"},
		"Again":           {func(c *planner.Change) { c.Again = true }, "refused before"},
		"After":           {func(c *planner.Change) { c.After = []string{"x"} }, "after"},
		"Until":           {func(c *planner.Change) { c.Until = now }, "until"},
		"Never":           {func(c *planner.Change) { c.Never = true }, "never due"},
		"Expires":         {func(c *planner.Change) { c.Expires = now }, "expires"},
		"Due":             {func(c *planner.Change) { c.Due = now }, "due"},
		"CatchUp":         {func(c *planner.Change) { c.CatchUp = time.Hour }, "catch_up"},
		"Occurrence":      {func(c *planner.Change) { c.Occurrence = "month_end 2026-11-30" }, "occurrence"},
		"Windows":         {func(c *planner.Change) { c.Windows = []string{"office"} }, "window"},
		"Recorded":        {func(c *planner.Change) { c.Recorded = &planner.Recorded{Status: state.Refused} }, "recorded"},
		"Signals":         {func(c *planner.Change) { c.Signals = []planner.Signal{{Kind: planner.FirstDestination}} }, ""},
	}
	line := func() planner.Change {
		return planner.Change{Action: planner.Submit, RefID: "rent", Address: "transfer.internal.rent", Request: request("rent")}
	}
	for field := range reflect.TypeFor[planner.Change]().Fields() {
		if untold[field.Name] != "" {
			continue
		}
		by, isKnown := edits[field.Name]
		if !isKnown {
			t.Errorf("nothing says whether a reviewer is told of an edited %s", field.Name)
			continue
		}
		before, now := line(), line()
		by.edit(&now)
		d := planOf(now).Against(planOf(before), nil)
		var fields []string
		var signals int
		for l := range d.Lines(planner.DeltaChanged) {
			for _, f := range l.Fields {
				fields = append(fields, f.Field)
			}
			signals = len(l.New)
		}
		switch {
		case by.field == "" && signals != 1:
			t.Errorf("a new signal is not told")
		case by.field != "" && !slices.Equal(fields, []string{by.field}):
			t.Errorf("an edited %s is told as %q", field.Name, fields)
		}
	}
}

// TestAgainstIsWhatTwoMapsSay holds the comparison to a plain one, whatever the lines are and in whatever order.
func TestAgainstIsWhatTwoMapsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) map[string]string {
			return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}), rapid.SampledFrom([]string{"1", "2"}), 0, 6).Draw(t, label)
		}
		lines := func(label string, amounts map[string]string) *planner.Plan {
			var list []planner.Change
			for _, refID := range rapid.Permutation(slices.Sorted(maps.Keys(amounts))).Draw(t, label) {
				list = append(list, planner.Change{Action: planner.Submit, RefID: refID, Request: request(refID, amount(amounts[refID]))})
			}
			return planOf(list...)
		}
		was, now := draw("was"), draw("now")
		d := lines("order now", now).Against(lines("order then", was), nil)
		want, got := map[string]string{}, map[string]string{}
		for refID, amount := range now {
			switch before, isOld := was[refID]; {
			case !isOld:
				want[refID] = "added"
			case before != amount:
				want[refID] = "changed"
			}
		}
		for refID := range was {
			if _, isThere := now[refID]; !isThere {
				want[refID] = "removed"
			}
		}
		count := 0
		for _, kind := range planner.DeltaKinds() {
			for l := range d.Lines(kind) {
				got[l.RefID] = string(l.Kind)
				count++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || count != len(want) || d.IsEmpty() != (len(want) == 0) {
			t.Fatalf("(-want +got):\n%s, %d lines", diff, count)
		}
	})
}

// TestAgainstTellsOfThePlansThemselves is about what no line has.
func TestAgainstTellsOfThePlansThemselves(t *testing.T) {
	before, now := planOf(), planOf()
	before.Header.Environment, now.Header.Environment = "production", "test"
	before.Header.Accepted = []string{"override-limit=desk"}
	before.Obstacles = []planner.Obstacle{{Kind: planner.ObstacleLimit, Address: "limit.desk", Count: 1}}
	now.Obstacles = []planner.Obstacle{{Kind: planner.ObstacleLimit, Address: "limit.day", Count: 1}}
	d := now.Against(before, nil)
	want := []transfer.Difference{{Field: "environment", Asked: "production", Answered: "test"}, {Field: "accepted", Asked: "override-limit=desk"}}
	if diff := cmp.Diff(want, d.Header); diff != "" {
		t.Errorf("the plans differ in other facts (-want +got):\n%s", diff)
	}
	if len(d.New) != 1 || d.New[0].Address != "limit.day" || len(d.Gone) != 1 || d.Gone[0].Address != "limit.desk" {
		t.Errorf("new %v, gone %v", d.New, d.Gone)
	}
}
