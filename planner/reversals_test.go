package planner_test

import (
	"bytes"
	"strings"
	"testing"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestWhatMayGoBack reverses rent of 80.00 USD, of which a reversal may have given some back.
func TestWhatMayGoBack(t *testing.T) {
	rent := declare("rent")
	given := func(asked, answered string, status state.Status) state.Detail {
		return record(reversal("old", rent, asked), status, reversing("rent"), func(d *state.Detail) {
			if answered != "" {
				d.Outcome.Differences = []transfer.Difference{{Field: "amount", Asked: asked, Answered: answered}}
			}
		})
	}
	accepted := func(differences ...transfer.Difference) *state.Detail {
		return ptr(record(rent, state.Recorded, func(d *state.Detail) { d.Outcome.Differences = differences }))
	}
	failed := transfer.Difference{Field: "status", Asked: "FAILED", Answered: "COMPLETED"}
	inAsset := func(t config.Transfer, asset string) config.Transfer { t.Request.Asset = asset; return t }
	for name, c := range map[string]struct {
		before *state.Detail
		back   config.Transfer
		want   string // "" where it may
	}{
		"all of it":                             {nil, reversal("back", rent, "80.00"), ""},
		"a cent more":                           {nil, reversal("back", rent, "80.01"), "80.00 may still go back"},
		"in another asset":                      {nil, inAsset(reversal("back", rent, "80.00"), "EUR"), "does not give the same asset back"},
		"in an asset of other letters":          {nil, inAsset(reversal("back", rent, "80.00"), "usd"), "does not give the same asset back"},
		"the rest":                              {ptr(given("30.00", "", state.Recorded)), reversal("back", rent, "50.00"), ""},
		"more than the rest":                    {ptr(given("30.00", "", state.Recorded)), reversal("back", rent, "50.01"), "50.00 may still go back"},
		"where one of more than was asked went": {ptr(given("30.00", "40.00", state.Recorded)), reversal("back", rent, "50.00"), "40.00 may still go back"},
		"where one of less than was asked went": {ptr(given("30.00", "20.00", state.Recorded)), reversal("back", rent, "60.00"), "50.00 may still go back"},
		"where one of more is in conflict":      {ptr(given("30.00", "40.00", state.Conflict)), reversal("back", rent, "50.00"), "40.00 may still go back"},
		"where it is PENDING itself":            {ptr(record(rent, state.Recorded, recordStatus("PENDING"))), reversal("back", rent, "80.00"), "which the service says is PENDING"},
		"where it was said to have FAILED":      {accepted(failed), reversal("back", rent, "80.00"), ""},
		"where it is of less as well":           {accepted(failed, transfer.Difference{Field: "amount", Asked: "80.00", Answered: "70.00"}), reversal("back", rent, "70.00"), `has otherwise than it was asked for: amount "70.00"`},
		"where its credit side FAILED":          {accepted(transfer.UnpaidCredit(&transfer.Record{Status: "COMPLETED"}, &transfer.Record{Status: "FAILED"})...), reversal("back", rent, "80.00"), "has otherwise than it was asked for"},
		"where one was refused":                 {ptr(given("30.00", "", state.Refused)), reversal("back", rent, "80.00"), ""},
		"where one is in doubt":                 {ptr(given("30.00", "", state.InDoubt)), reversal("back", rent, "80.00"), "50.00 may still go back"},
	} {
		t.Run(name, func(t *testing.T) {
			all := []state.Detail{record(rent, state.Recorded)}
			if c.before != nil {
				all = append(all, *c.before)
			}
			p := plan(t, newMemory(all...), planner.Controls{AllowEmpty: true}, rent, c.back)
			got := ""
			for _, o := range p.Obstacles {
				if o.Kind == planner.ObstacleReversal {
					got += o.Detail
				}
			}
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func ptr(d state.Detail) *state.Detail { return &d }

// TestASavedPlanReversesNothingThatWentSince has another run give rent back after the plan was made.
func TestASavedPlanReversesNothingThatWentSince(t *testing.T) {
	rent := declare("rent")
	m := newMemory(record(rent, state.Recorded))
	p := plan(t, m, planner.Controls{}, rent, reversal("back", rent, "80.00"))
	p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
	opened, err := planner.Open(bytes.NewReader(save(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	if left, err := opened.Recheck(t.Context(), m.carriedOut(opened), planner.Controls{}, now); outcomeOf(left, err) != "[+ back]" {
		t.Fatal(outcomeOf(left, err))
	}
	m.happen(begun("run-1", "plan-2"))
	m.put("run-1", record(reversal("other", rent, "1.00"), state.Recorded, reversing("rent")))
	left, err := opened.Recheck(t.Context(), m, planner.Controls{}, now)
	if got := outcomeOf(left, err); got != "obstacle reversal [back]" {
		t.Error(got)
	}
}
