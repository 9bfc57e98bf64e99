package planner_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// ended gives a transfer the records of both sides, without a credit side where that has no status.
func ended(debit, credit transfer.RecordStatus) func(*state.Detail) {
	side := func(d *state.Detail, id, direction string, status transfer.RecordStatus) json.RawMessage {
		return fmt.Appendf(nil, `{"id":%q,"ref_id":%q,"customer_id":"me","profile_id":"p","amount":"80","asset":"USD","direction":%q,"type":"INTERNAL_TRANSFER_%[3]s","status":%[4]q,"created_at":%[5]q}`,
			id, d.RefID, direction, status, now.Add(-time.Hour).Format(time.RFC3339))
	}
	return func(d *state.Detail) {
		d.RecordStatus, d.RecordID = debit, "id-"+d.RefID
		d.Outcome.Records = []json.RawMessage{side(d, d.RecordID, "DEBIT", debit)}
		if credit != "" {
			d.Outcome.Records = append(d.Outcome.Records, side(d, "credit-"+d.RefID, "CREDIT", credit))
		}
	}
}

// accepting has a person accept that the credit side did not fail, of which no record is kept.
func accepting(d *state.Detail) {
	ended(transfer.Failed, "")(d)
	d.Outcome.Source = state.SourcePerson
	d.Outcome.Differences = []transfer.Difference{{Field: "credit_status", Asked: "FAILED", Answered: "COMPLETED"}}
}

// closed has a person close a transfer by a command.
func closed(m *memory, refID, command string) {
	d := m.details[refID]
	d.IntentSeq = m.meta.Serial + 1
	m.happen(state.Intent{RefID: refID, RunID: "run-0", Operation: d.Intent.Operation, Body: d.Intent.Body}, *d.Outcome)
	word := state.Outcome{RefID: refID, Status: state.Tombstone, Source: state.SourcePerson, By: &state.Holder{Command: command}}
	d.Status, d.Outcome = state.Tombstone, &word
	m.details[refID] = d
	m.happen(word)
}

// TestWhatFailedByItsDebitSideAloneMayHaveBeenMade counts it wherever something is paid anew: among look-alikes, for
// the limit of a day, of a new plan and of a saved one, and as money that was given back.
func TestWhatFailedByItsDebitSideAloneMayHaveBeenMade(t *testing.T) {
	const forget, notMade = "remit state forget", "remit resolve"
	imported := func(d *state.Detail) {
		ended(transfer.Failed, transfer.Completed)(d)
		d.AttemptedAt, d.IntendedAt, d.Outcome.Source = time.Time{}, time.Time{}, state.SourceImport
	}
	tests := map[string]struct {
		status state.Status
		how    func(*state.Detail)
		closed string
		counts bool
	}{
		"both sides are kept":                  {state.Recorded, ended(transfer.Failed, transfer.Completed), "", true},
		"its credit side has an unknown end":   {state.Adopted, ended(transfer.Failed, "SETTLED"), "", true},
		"its credit side is PENDING":           {state.Recorded, ended(transfer.Failed, transfer.Pending), "", true},
		"a person accepted it":                 {state.Recorded, accepting, "", true},
		"it is unverified":                     {state.Unverified, ended(transfer.Failed, transfer.Completed), "", true},
		"it was imported":                      {state.Adopted, imported, "", true},
		"both sides FAILED":                    {state.Recorded, ended(transfer.Failed, transfer.Failed), "", false},
		"its debit side is all that is known":  {state.Recorded, ended(transfer.Failed, ""), "", false},
		"both sides were kept, and forgotten":  {state.Recorded, ended(transfer.Failed, transfer.Completed), forget, true},
		"it was accepted, and forgotten":       {state.Recorded, accepting, forget, true},
		"it was imported, and forgotten":       {state.Adopted, imported, forget, true},
		"a conflict over it was forgotten":     {state.Conflict, ended(transfer.Failed, ""), forget, true},
		"both sides FAILED, and are forgotten": {state.Recorded, ended(transfer.Failed, transfer.Failed), forget, false},
		"a person said that it was not made":   {state.Conflict, ended(transfer.Failed, transfer.Completed), notMade, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			happened := func(m *memory) *memory {
				m.happen(state.Intent{RefID: "old", RunID: "run-0"})
				d := record(declare("old", twin), test.status, test.how)
				d.Outcome.Status, m.details["old"] = test.status, d
				if test.closed != "" {
					closed(m, "old", test.closed)
				}
				return m
			}
			if p := plan(t, happened(newMemory()), planner.Controls{}, declare("new", twin)); p.Applicable() == test.counts {
				t.Errorf("among look-alikes: %+v", p.Obstacles)
			}
			day := limits(limit("l", config.PerDay, countMax(1)))
			if p := plan(t, happened(newMemory()), day, declare("a")); p.Applicable() == test.counts {
				t.Errorf("for a limit: %+v", p.Obstacles)
			}
			m := newMemory()
			p := plan(t, m, day, declare("a"))
			want := "[+ a]"
			if test.counts {
				want = "obstacle limit []"
			}
			left, err := p.Recheck(t.Context(), happened(m), day, now)
			if diff := cmp.Diff(want, outcomeOf(left, err)); diff != "" {
				t.Errorf("of a saved plan (-want +got):\n%s", diff)
			}
			back := happened(newMemory(record(declare("rent"), state.Recorded)))
			d := back.details["old"]
			request := reversal("old", declare("rent"), "80.00").Request
			d.Destination, d.Amount, d.Intent.Reverses = request.Destination(), request.Amount, "rent"
			back.details["old"] = d
			if p := plan(t, back, planner.Controls{}, declare("rent"), reversal("again", declare("rent"), "80.00")); p.Applicable() == test.counts {
				t.Errorf("as given back: %+v", p.Obstacles)
			}
		})
	}
}

// TestAPlanOfWhatFailedByItsDebitSideAloneIsShownWithoutItsState has an approver look at a plan with a line that looks like
// such a transfer, which is declared still, or was forgotten and is declared again.
func TestAPlanOfWhatFailedByItsDebitSideAloneIsShownWithoutItsState(t *testing.T) {
	for name, isForgotten := range map[string]bool{"recorded": false, "forgotten": true} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(record(declare("old", twin), state.Recorded, accepting))
			if isForgotten {
				closed(m, "old", "remit state forget")
			}
			p := plan(t, m, planner.Controls{AcceptDuplicate: []string{"new"}}, declare("old", twin), declare("new", twin))
			p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
			if len(find(t, p, "new").Signals) < 2 {
				t.Fatalf("the signals are %+v", find(t, p, "new").Signals)
			}
			if _, err := alone(t, save(t, p), planner.Controls{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWhatIsSaidOfADebitSideThatFailedAlone never tells anybody to pay it anew.
func TestWhatIsSaidOfADebitSideThatFailedAlone(t *testing.T) {
	const ask = "; ask the service whether the money arrived before you pay it under a new ref_id"
	for name, test := range map[string]struct {
		how  func(*state.Detail)
		want string
	}{
		"a person accepted it":           {accepting, "one record of it FAILED, and another did not, which a person accepted" + ask},
		"an earlier version recorded it": {ended(transfer.Failed, transfer.Completed), "one record of it FAILED, and another did not" + ask},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, newMemory(record(declare("old"), state.Recorded, test.how)), planner.Controls{}, declare("old"))
			if diff := cmp.Diff(test.want, find(t, p, "old").Reason); diff != "" {
				t.Error(diff)
			}
		})
	}
}
