package state_test

import (
	"encoding/json"
	"strings"
	"testing"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/statetest"
)

func TestNewDraftRefusesWhatNoJournalMayHold(t *testing.T) {
	changedIntent := func(change func(*state.Intent)) state.Intent {
		i := intent()
		change(&i)
		return i
	}
	changedOutcome := func(says state.Status, change func(*state.Outcome)) state.Outcome {
		o := outcome(state.SourceAnswer, says)
		change(&o)
		return o
	}
	changedListed := func(change func(*state.Outcome)) state.Outcome {
		o := listed(state.SourceImport, state.Unverified)
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		entry state.Entry
		want  string // part of the error
	}{
		"an intent without a run":              {changedIntent(func(i *state.Intent) { i.RunID = "" }), "run_id is missing"},
		"an intent without a ref_id":           {changedIntent(func(i *state.Intent) { i.RefID = "" }), "is empty"},
		"an intent of an unknown operation":    {changedIntent(func(i *state.Intent) { i.Operation = "external" }), "unknown operation"},
		"an intent to nowhere":                 {changedIntent(func(i *state.Intent) { i.Path = "v2" }), "slash"},
		"an intent with a body of no request":  {changedIntent(func(i *state.Intent) { i.Body = "{" }), "read the request's body"},
		"an intent with another's body":        {changedIntent(func(i *state.Intent) { i.RefID = "b" }), `its body has ref_id "a"`},
		"an intent with another's fingerprint": {changedIntent(func(i *state.Intent) { i.Fingerprint = strings.Repeat("0", 64) }), "not that of its body"},
		"an intent with half a fingerprint":    {changedIntent(func(i *state.Intent) { i.Fingerprint = "00" }), "hexadecimal"},
		"an intent in another encoding":        {changedIntent(func(i *state.Intent) { i.Body = strings.Replace(i.Body, "p-to", "p-\xff", 1) }), "UTF-8"},
		"recorded without a record":            {changedOutcome(state.Recorded, func(o *state.Outcome) { o.Records = nil }), "without a record"},
		"recorded with half a record": {changedOutcome(state.Recorded, func(o *state.Outcome) {
			o.Records[0] = json.RawMessage(`{"id":"r"}`)
		}), "required field"},
		"recorded with a record of another ref_id": {changedOutcome(state.Recorded, func(o *state.Outcome) {
			o.Records[0] = statetest.Record("b", "r", statetest.Customer, "10.00", transfer.Completed)
		}), `of ref_id "b"`},
		"recorded by a lookup that shows the record of another ref_id": {changedOutcome(state.Recorded, func(o *state.Outcome) {
			o.Source = state.SourceLookup
			o.Records[0] = statetest.Record("b", "r", statetest.Customer, "10.00", transfer.Completed)
		}), `of ref_id "b"`},
		"adopted by an import of the record of another ref_id": {changedOutcome(state.Adopted, func(o *state.Outcome) {
			o.Source = state.SourceImport
			o.Records[0] = statetest.Record("b", "r", statetest.Customer, "10.00", transfer.Completed)
		}), `of ref_id "b"`},
		"a conflict with a record that is no JSON": {changedOutcome(state.Conflict, func(o *state.Outcome) {
			o.Records = []json.RawMessage{[]byte("{")}
		}), "write outcome"},
		"an outcome of an unknown source": {changedOutcome(state.InDoubt, func(o *state.Outcome) { o.Source = "" }), "unknown source"},
		"an outcome that says nothing":    {changedOutcome(state.InDoubt, func(o *state.Outcome) { o.Status = 0 }), "unknown status 0"},
		"a tombstone by an answer":        {changedOutcome(state.Tombstone, func(*state.Outcome) {}), "only a person"},
		"a person without a reason": {changedOutcome(state.Tombstone, func(o *state.Outcome) {
			o.Source = state.SourcePerson
			o.By = new(state.Holder)
		}), "a name and a reason"},
		"a person without a name": {changedOutcome(state.Tombstone, func(o *state.Outcome) {
			o.Source, o.Reason = state.SourcePerson, "why not"
		}), "a name and a reason"},
		"a list without a group_id":  {changedListed(func(o *state.Outcome) { o.Listed.GroupID = "" }), "no group_id"},
		"a list with half an amount": {changedListed(func(o *state.Outcome) { o.Listed.Asset = "" }), "without the other"},
		"a list with an odd amount":  {changedListed(func(o *state.Outcome) { o.Listed.Amount = "1e3" }), "amount"},
		"a list with a record":       {changedListed(func(o *state.Outcome) { o.Records = outcome(state.SourceImport, state.Adopted).Records }), "in their place"},
		"a list that proves":         {changedListed(func(o *state.Outcome) { o.Status = state.Adopted }), "by a list"},
		"a list that a lookup has":   {changedListed(func(o *state.Outcome) { o.Source = state.SourceLookup }), "by a list"},
		"a list that is recorded":    {listed(state.SourcePerson, state.Recorded), "by a list"},
		"a run without a name":       {state.Begun{}, "run_id is missing"},
		"an end without a name":      {state.Ended{}, "run_id is missing"},
		"a state without a lineage":  {state.Created{Environment: "test"}, "lineage is missing"},
		"a lock taken for nothing":   {state.Unlocked{}, "reason is missing"},
		"a rebound for nothing":      {state.Rebound{After: state.SandboxIdentity()}, "reason is missing"},
		"an import without an amount": {changedOutcome(state.Adopted, func(o *state.Outcome) {
			o.Source = state.SourceImport
			o.Records[0] = statetest.Record("a", "r", statetest.Customer, "-1", transfer.Completed)
		}), "sign"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := state.NewDraft(c.entry)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ...%s...", err, c.want)
			}
		})
	}
}

func TestNewDraftKnowsTheFingerprintThatTravelsInTheMetadata(t *testing.T) {
	r := statetest.Request("a", "10.00")
	r.Metadata = transfer.NewMetadata(map[string]string{"employee": "E-17"})
	r.FingerprintKey = "remit"
	i := intent()
	i.Body, i.Fingerprint = string(r.Body()), r.Fingerprint().String()
	if _, err := state.NewDraft(i); err != nil {
		t.Error(err)
	}
	r.Metadata = transfer.NewMetadata(map[string]string{"employee": "E-18"})
	i.Body = string(r.Body()) // echoes its own fingerprint, which is not the intent's
	if _, err := state.NewDraft(i); err == nil {
		t.Error("a body with another fingerprint was accepted")
	}
}

func TestAPersonMayAcceptARecordThatNamesAnotherRefID(t *testing.T) {
	o := outcome(state.SourcePerson, state.Recorded)
	o.Records[0] = statetest.Record("b", "r", statetest.Customer, "10.00", transfer.Completed)
	if _, err := state.NewDraft(o); err != nil {
		t.Error(err)
	}
}

// TestAnEntryClaimsTheGroupOfWhatMovedMoney asks of which entries the group_id is theirs alone.
func TestAnEntryClaimsTheGroupOfWhatMovedMoney(t *testing.T) {
	with := func(says state.Status, status transfer.RecordStatus, differences ...transfer.Difference) state.Outcome {
		o := outcome(state.SourceLookup, says)
		o.Records, o.Differences = []json.RawMessage{statetest.Record("a", "r", statetest.Customer, "10.00", status)}, differences
		return o
	}
	for name, c := range map[string]struct {
		entry  state.Entry
		claims bool
	}{
		"recorded, and COMPLETED":           {with(state.Recorded, transfer.Completed), true},
		"recorded, and PENDING":             {with(state.Recorded, transfer.Pending), true},
		"adopted, and COMPLETED":            {with(state.Adopted, transfer.Completed), true},
		"recorded, and FAILED":              {with(state.Recorded, transfer.Failed), false},
		"adopted, and FAILED":               {with(state.Adopted, transfer.Failed), false},
		"unverified":                        {with(state.Unverified, transfer.Completed), false},
		"with a group_id that was accepted": {with(state.Recorded, transfer.Completed, transfer.Difference{Field: "group_id"}), false},
		"vouched for by a list":             {listed(state.SourcePerson, state.Adopted), false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := state.NewDraft(c.entry)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if c.claims {
				want = d.GroupID()
			}
			if got := d.ClaimsGroup(); got != want || d.GroupID() == "" {
				t.Errorf("it claims the group_id %q of %q", got, d.GroupID())
			}
		})
	}
}
