package planner_test

import (
	"strings"
	"testing"
	"time"

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
