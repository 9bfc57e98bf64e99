package planner_test

import (
	"testing"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestNextOfConflict has conflicts by what they kept, and the command that each is closed with.
func TestNextOfConflict(t *testing.T) {
	withdrawal := transfer.Difference{Field: "type", Asked: "INTERNAL_TRANSFER_DEBIT", Answered: "WIRE_WITHDRAWAL"}
	for name, test := range map[string]struct {
		difference transfer.Difference
		recordID   string
		want       string
	}{
		"another amount":                      {transfer.Difference{Field: "amount", Asked: "1", Answered: "2"}, "", `remit resolve rent --accept-record --reason "…"`},
		"the record of another transfer":      {transfer.SharedRecord("id-1", "gas"), "", "remit resolve rent"},
		"a withdrawal":                        {withdrawal, "", "remit plan"},
		"a withdrawal that was once recorded": {withdrawal, "id-1", `remit resolve rent --accept-record --reason "…"`},
	} {
		var d state.Detail
		d.RefID, d.Status, d.RecordID = "rent", state.Conflict, test.recordID
		d.Outcome = &state.Outcome{Differences: []transfer.Difference{test.difference}}
		if got := planner.NextOfConflict(&d, true); got != test.want {
			t.Errorf("%s: the next command is %q, want %q", name, got, test.want)
		}
	}
}
