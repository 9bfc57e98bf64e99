package planner_test

import (
	"strings"
	"testing"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestTheRestIsNamedWhereTheAmountAloneDiffers has a record of 70.00 USD. A rest that is named goes to whom the declaration says.
func TestTheRestIsNamedWhereTheAmountAloneDiffers(t *testing.T) {
	const advice = "; where more is to be moved, declare the "
	const whole = "; where that transfer is to be made as well, declare the whole of it under a new ref_id"
	for name, test := range map[string]struct {
		differs func(*transfer.Request) // from what is declared
		want    string
	}{
		"by less":                 {amount("70.00"), advice + "other 10 USD as a transfer of its own"},
		"by more":                 {amount("90.00"), ""},
		"by less, to another one": {func(r *transfer.Request) { amount("70.00")(r); r.ToProfileID = "other" }, whole},
		"to another one":          {func(r *transfer.Request) { r.ToProfileID = "other" }, whole},
		"by another operation":    {func(r *transfer.Request) { r.Operation = transfer.Platform }, whole},
		"in another asset":        {func(r *transfer.Request) { amount("70.00")(r); r.Asset = "EUR" }, whole},
	} {
		recorded := declare("a")
		test.differs(&recorded.Request)
		p := plan(t, newMemory(record(recorded, state.Recorded)), planner.Controls{}, declare("a"))
		if _, got, _ := strings.Cut(find(t, p, "a").Reason, "restore it"); got != test.want {
			t.Errorf("%s: the advice is %q, want %q", name, got, test.want)
		}
	}
}

// TestWhoReadsThatItFailedLearnsThatItWasPaidSince has a transfer that FAILED forty days ago, beside others of the same movement.
func TestWhoReadsThatItFailedLearnsThatItWasPaidSince(t *testing.T) {
	const pay = "pay it under a new ref_id if it is still to be paid"
	made := func(refID string, days time.Duration, edits ...func(*state.Detail)) state.Detail {
		return record(declare(refID, twin), state.Recorded, append(edits, intended(days*day))...)
	}
	doubt := func(d *state.Detail) { d.Status, d.RecordStatus = state.InDoubt, "" }
	for name, test := range map[string]struct {
		others []state.Detail
		want   string
	}{
		"none":                       {nil, pay},
		"one after it":               {[]state.Detail{made("b", 39)}, `; the same movement was made since, as "b" on ` + now.Add(-39*day).Format(time.DateOnly) + ": remove this one if that was in its place, and pay it under a new ref_id only if it was not"},
		"one in doubt after it":      {[]state.Detail{made("b", 39, doubt)}, `; the same movement may have been made since, as "b"`},
		"one before it":              {[]state.Detail{made("b", 41)}, pay},
		"one of its own moment":      {[]state.Detail{made("b", 40)}, pay},
		"one that FAILED as well":    {[]state.Detail{made("b", 39, recordStatus(transfer.Failed))}, pay},
		"one to another destination": {[]state.Detail{record(declare("b", func(t *config.Transfer) { t.Request.ToProfileID = "other" }), state.Recorded, intended(39*day))}, pay},
	} {
		m := newMemory(append(test.others, made("a", 40, recordStatus(transfer.Failed)))...)
		if got := find(t, plan(t, m, planner.Controls{}, declare("a", twin)), "a").Reason; !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestWhoSaysThatItFailedIsNamed has three say so whom no lookup has borne out, and a person who chose between two records: a refresh does not
// ask about that.
func TestWhoSaysThatItFailedIsNamed(t *testing.T) {
	const asks = " says that it FAILED, and no lookup has said so yet; have remit refresh ask again"
	for name, test := range map[string]struct {
		by   state.Outcome
		want string
	}{
		"an answer": {state.Outcome{Source: state.SourceAnswer}, "the service's answer" + asks},
		"a person":  {state.Outcome{Source: state.SourcePerson}, "the record that a person gave" + asks},
		"an import": {state.Outcome{Source: state.SourceImport}, "the record that was imported" + asks},
		"a choice": {
			state.Outcome{Source: state.SourcePerson, Differences: []transfer.Difference{{Field: "status", Asked: "COMPLETED", Answered: "FAILED"}}},
			"the service says that it FAILED; ask its operator",
		},
	} {
		by := func(d *state.Detail) { d.Outcome = &test.by }
		m := newMemory(record(declare("a"), state.Recorded, recordStatus(transfer.Failed), by))
		if got := find(t, plan(t, m, planner.Controls{Lookup: true}, declare("a")), "a").Reason; !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestALookupIsAdvisedAsLongAsARefreshLooks has a FAILED that an answer alone says, however long ago the request was sent.
func TestALookupIsAdvisedAsLongAsARefreshLooks(t *testing.T) {
	const refresh, operator = "have remit refresh ask again", "ask its operator whether no money moved"
	for age, want := range map[time.Duration]string{state.FailedFor - time.Second: refresh, state.FailedFor: operator} {
		settled := func(d *state.Detail) { d.SettledAt = now.Add(-age) }
		m := newMemory(record(declare("a"), state.Recorded, recordStatus(transfer.Failed), attempted(10*24*time.Hour), settled))
		if got := find(t, plan(t, m, planner.Controls{Lookup: true}, declare("a")), "a").Reason; !strings.Contains(got, want) {
			t.Errorf("after %s: %q, want %q", age, got, want)
		}
	}
}
