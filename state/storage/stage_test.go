package storage_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/statetest"
	"remit/state/storage"
)

// empty is a storage without a row.
type empty struct{}

func (empty) Owner(string) (string, error)          { return "", nil }
func (empty) GroupOwners(string) ([2]string, error) { return [2]string{}, nil }
func (empty) Run(string) (state.Run, error)         { return state.Run{}, nil }
func (empty) CountNames() (int, error)              { return 0, nil }

// TestACallThatFailsLeavesNothingBehind has a call store a record and then fail: the next call of the same
// commit may store that record, and the group_id of it, under another ref_id.
func TestACallThatFailsLeavesNothingBehind(t *testing.T) {
	draft := func(e state.Entry) state.Draft {
		d, err := state.NewDraft(e)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	imported := func(refID string) state.Outcome {
		o := statetest.Outcome(refID, "", state.SourceImport, state.Adopted)
		o.Records = []json.RawMessage{statetest.Record(refID, "the-record", statetest.Customer, "10.00", transfer.Completed)}
		return o
	}
	var tip storage.Tip
	stage := storage.NewStage(tip, storage.NewOverlay(nil), empty{}, time.Now)
	answers, err := stage.TakeAll([]*storage.Call{
		storage.NewCall(t.Context(), draft(statetest.Created())),
		storage.NewCall(t.Context(), draft(imported("a")), draft(statetest.Outcome("nobody", "run", state.SourceAnswer, state.Recorded))),
		storage.NewCall(t.Context(), draft(imported("b"))),
		storage.NewCall(t.Context(), draft(imported("c"))),
	})
	if err != nil {
		t.Fatal(err)
	}
	if answers[0] != nil || !errors.Is(answers[1], state.ErrNoAttempt) || answers[2] != nil || answers[3] == nil {
		t.Errorf("answers: %v", answers)
	}
	if _, ok := stage.Rows.Row("a"); ok || len(stage.Events) != 2 {
		t.Errorf("the call that failed left a row (%t) or a line: there are %d", ok, len(stage.Events))
	}
}
