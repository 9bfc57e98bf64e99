package planner_test

import (
	"slices"
	"testing"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestAgainstTellsOfOtherAcceptancesAndCounts changes what a reviewer judged beside the request.
func TestAgainstTellsOfOtherAcceptancesAndCounts(t *testing.T) {
	signal := planner.Signal{Kind: planner.LookAlike, RefID: "old"}
	line := func(s planner.Signal) planner.Change {
		return planner.Change{Action: planner.Submit, RefID: "rent", Address: "transfer.internal.rent", Request: request("rent"), Signals: []planner.Signal{s}}
	}
	accepted := signal
	accepted.Accepted = "accept-duplicate=rent"
	d := planOf(line(accepted)).Against(planOf(line(signal)), nil)
	if d.Count[planner.DeltaChanged] != 1 {
		t.Error("a look-alike that is accepted since is not told")
	}
	before, now := planOf(), planOf()
	before.Obstacles = []planner.Obstacle{{Kind: planner.ObstacleLimit, Address: "limit.desk", Count: 1}}
	now.Obstacles = []planner.Obstacle{{Kind: planner.ObstacleLimit, Address: "limit.desk", Count: 2}}
	if d = now.Against(before, nil); len(d.New) != 1 || len(d.Gone) != 1 {
		t.Errorf("an obstacle of one transfer more: new %v, gone %v", d.New, d.Gone)
	}
}

// TestAgainstTellsOfAnotherService has each part of the service be another one.
func TestAgainstTellsOfAnotherService(t *testing.T) {
	one := state.Identity{BaseURL: "https://a.test", Operator: "platform", ClientID: "me", TokenURL: "https://login.test"}
	for field, edit := range map[string]func(*planner.Header){
		"service":   func(h *planner.Header) { h.Service.BaseURL = "https://b.test" },
		"tokens":    func(h *planner.Header) { h.Service.TokenURL = "https://other.test" },
		"operator":  func(h *planner.Header) { h.Service.Operator = "other" },
		"client_id": func(h *planner.Header) { h.Service.ClientID = "other" },
		"customer":  func(h *planner.Header) { h.Service.CustomerID = "other" },
		"state":     func(h *planner.Header) { h.Lineage = "other" },
		"targets":   func(h *planner.Header) { h.Targets = []string{"batch.x"} },
		"controls":  func(h *planner.Header) { h.Controls = "other" },
	} {
		before, now := planOf(), planOf()
		before.Header.Service, now.Header.Service = one, one
		edit(&now.Header)
		if d := now.Against(before, nil); len(d.Header) != 1 || d.Header[0].Field != field {
			t.Errorf("another %s is told as %v", field, d.Header)
		}
	}
}

// TestAgainstTellsOfAnotherDeclarationOfADoubt has a doubt whose declaration was edited: its request in force is the recorded one.
func TestAgainstTellsOfAnotherDeclarationOfADoubt(t *testing.T) {
	m := newMemory(record(declare("rent"), state.InDoubt))
	before := plan(t, m, planner.Controls{}, declare("rent"))
	edited := declare("rent")
	edited.Request.Amount = transfer.MustAmount("70.00")
	now := plan(t, m, planner.Controls{}, edited)
	var fields []string
	for l := range now.Against(before, nil).Lines(planner.DeltaChanged) {
		for _, f := range l.Fields {
			fields = append(fields, f.Field)
		}
	}
	if !slices.Contains(fields, "declared amount") {
		t.Errorf("told are %q", fields)
	}
}
