package planner_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// imported makes the row of a debit side alone, as remit import leaves it.
func imported(t config.Transfer, status state.Status, edits ...func(*state.Detail)) state.Detail {
	r := t.Request
	raw, err := json.Marshal(map[string]any{
		"id": "id-" + r.RefID, "customer_id": "c", "profile_id": r.FromProfileID, "amount": r.Amount.String(),
		"total": r.Amount.String(), "fee": "0", "asset": r.Asset, "direction": transfer.Debit,
		"type": transfer.DefaultOperator.RecordType(r.Operation, transfer.Debit), "status": transfer.Completed,
		"created_at": now, "updated_at": now, "ref_id": r.RefID, "group_id": "group-" + r.RefID,
	})
	if err != nil {
		panic(err)
	}
	d := state.Detail{
		Transfer: state.Transfer{
			RefID: r.RefID, Status: status, RecordStatus: transfer.Completed, RecordID: "id-" + r.RefID,
			Asset: r.Asset, Amount: r.Amount, RunID: "run-0", SettledAt: now,
		},
		Outcome: &state.Outcome{RefID: r.RefID, Status: status, Source: state.SourceImport, Records: []json.RawMessage{raw}},
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

// TestImportedWithoutItsRequest holds that such a ref_id is never sent, and that it is
// compared with its record as far as that goes.
func TestImportedWithoutItsRequest(t *testing.T) {
	rent := declare("rent")
	other := declare("rent", func(t *config.Transfer) { t.Request.ToProfileID = "elsewhere" })
	more := declare("rent", func(t *config.Transfer) { amount("81.00")(&t.Request) })
	next := declare("next", after("rent"))
	failed := recordStatus(transfer.Failed)
	for name, c := range map[string]struct {
		recorded state.Detail
		declared []config.Transfer
		want     []string
		none     int
	}{
		"it agrees, and a person should look":     {imported(rent, state.Unverified), []config.Transfer{rent}, []string{"  rent"}, 1},
		"the record does not say to whom":         {imported(rent, state.Unverified), []config.Transfer{other}, []string{"  rent"}, 1},
		"it differs":                              {imported(rent, state.Unverified), []config.Transfer{more}, []string{"! rent"}, 0},
		"it differs, and a person accepted it":    {imported(rent, state.Adopted), []config.Transfer{more}, []string{"! rent"}, 0},
		"it agrees, and a person accepted it":     {imported(rent, state.Adopted), []config.Transfer{rent}, []string{}, 1},
		"it failed":                               {imported(rent, state.Unverified, failed), []config.Transfer{rent}, []string{"x rent"}, 0},
		"a person forgot it":                      {imported(rent, state.Tombstone), []config.Transfer{rent}, []string{"! rent"}, 0},
		"it is COMPLETED, and others wait for it": {imported(rent, state.Adopted), []config.Transfer{rent, next}, []string{"+ next"}, 1},
		"it is COMPLETED, and nobody looked yet":  {imported(rent, state.Unverified), []config.Transfer{rent, next}, []string{"  rent", "> next"}, 1},
		"nobody declares it":                      {imported(rent, state.Unverified), []config.Transfer{declare("next")}, []string{"+ next"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			controls := planner.Controls{Operator: transfer.DefaultOperator}
			p := plan(t, newMemory(c.recorded), controls, c.declared...)
			if diff := cmp.Diff(c.want, actions(p)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if got := p.Count(planner.None); got != c.none {
				t.Errorf("%d are as declared, want %d", got, c.none)
			}
			for _, change := range p.Changes.All() {
				if len(change.After) > 0 {
					t.Errorf("%q waits for %q", change.RefID, change.After)
				}
			}
		})
	}
}
