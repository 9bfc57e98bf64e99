package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
	"remit/state"
)

// TestOneSideThatIsAnother has transfers of which the state knows one thing and the service another, each by one field of one side.
func TestOneSideThatIsAnother(t *testing.T) {
	r := request(1) // with metadata, in EUR
	both := sides(r, 1)
	debit, credit := both[0], both[1]
	answer := func(status state.Status, records ...row) state.Outcome {
		return recorded(r.RefID, status, state.SourceAnswer, records...)
	}
	listed := recorded(r.RefID, state.Unverified, state.SourceImport)
	listed.Listed = &state.Listed{GroupID: debit["group_id"], Amount: r.Amount.String(), Asset: r.Asset}
	word := listed
	word.Status = state.Adopted
	word = told("resolve", word)
	conflict := recorded(r.RefID, state.Conflict, state.SourceLookup, debit.with("amount", "7"))
	ofCredit := told("resolve", recorded(r.RefID, state.Adopted, "", credit), transfer.Difference{Field: "direction", Asked: "DEBIT", Answered: "CREDIT"})
	other := []row{debit.with("group_id", "g-9"), credit.with("group_id", "g-9")}
	converted := []row{debit.with("balance_asset", "CHF"), credit}
	for name, test := range map[string]struct {
		after  []state.Outcome
		export []row
		want   string
	}{
		"refused, of which the credit FAILED":           {[]state.Outcome{answer(state.Refused)}, []row{debit, credit.with("status", "FAILED")}, "differs not_made status"},
		"refused, of which the debit FAILED":            {[]state.Outcome{answer(state.Refused)}, []row{debit.with("status", "FAILED"), credit}, "differs not_made status"},
		"recorded, then in conflict, and absent":        {[]state.Outcome{answer(state.Recorded, debit), conflict}, nil, "differs conflict state_only"},
		"recorded, then in conflict, and of another id": {[]state.Outcome{answer(state.Recorded, debit), conflict}, []row{debit.with("id", "other"), credit}, "differs conflict field"},
		"adopted by its credit":                         {[]state.Outcome{ofCredit}, both, "matched"},
		"by a list":                                     {[]state.Outcome{listed, word}, both, "matched"},
		"by a list, and forgotten":                      {[]state.Outcome{listed, word, told("state forget", recorded(r.RefID, state.Tombstone, ""))}, both, "accepted"},
		"by a list, and FAILED":                         {[]state.Outcome{listed, word}, []row{debit.with("status", "FAILED"), credit.with("status", "FAILED")}, "differs status"},
		"by a list, in another group":                   {[]state.Outcome{listed, word}, other, "differs field"},
		"in another group":                              {[]state.Outcome{answer(state.Recorded, debit)}, other, "differs field"},
		"a conversion, as the state has it":             {[]state.Outcome{answer(state.Recorded, converted[0])}, converted, "accepted"},
		"without the metadata that the state has":       {[]state.Outcome{answer(state.Recorded, debit)}, []row{debit.with("metadata.employee", ""), credit}, "matched"},
		"with the metadata that the state has not":      {[]state.Outcome{answer(state.Recorded, debit.with("metadata.employee", ""))}, both, "matched"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) {
				add(intent(r))
				for _, o := range test.after {
					add(o)
				}
			})
			var got string
			w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
				got = strings.TrimSpace(fmt.Sprint(l.Result, " ", strings.Trim(fmt.Sprint(l.Breaks), "[]")))
				return nil
			}}, format(0, test.export))
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestAGroupThatAnotherHasTooIsShared has two transfers, of which the service has the second in the group of the first.
func TestAGroupThatAnotherHasTooIsShared(t *testing.T) {
	w := newWorld(t, 2)
	export := slices.Clone(w.export)
	for i := 2; i < len(export); i++ {
		export[i] = export[i].with("group_id", export[0]["group_id"])
	}
	s := w.reconciled(t, reconcile.Options{}, format(0, export))
	if s.Breaks[reconcile.SharedGroup] != 2 || s.Matched != 0 {
		t.Errorf("%d match, %v", s.Matched, s.Breaks)
	}
}

// TestOfManyThatShareAGroupSomeAreNamed has five transfers in one group: each names three of the others, and counts the rest.
func TestOfManyThatShareAGroupSomeAreNamed(t *testing.T) {
	w := newWorld(t, 5)
	export := slices.Clone(w.export)
	for i := range export {
		export[i] = export[i].with("group_id", "one")
	}
	got := make(map[string]string)
	w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
		got[l.RefID] = l.Reason
		return nil
	}}, format(0, export))
	for refID, others := range map[string]string{
		"pay-0000000": "pay-0000001, pay-0000002, pay-0000003", "pay-0000002": "pay-0000000, pay-0000001, pay-0000003", "pay-0000004": "pay-0000000, pay-0000001, pay-0000002",
	} {
		if want := "Its group_id belongs to other ref_ids as well: " + others + " and 1 more."; got[refID] != want {
			t.Errorf("%s: %q, want %q", refID, got[refID], want)
		}
	}
}

// TestAConflictOverTheCreditAsksForNoOtherDebit has a person adopt the credit, and a conflict with it since: nothing is known of the debit's id.
func TestAConflictOverTheCreditAsksForNoOtherDebit(t *testing.T) {
	r := request(0)
	both := sides(r, 0)
	w := newWorld(t, 0)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(r), told("resolve", recorded(r.RefID, state.Adopted, "", both[1]), transfer.Difference{Field: "direction", Asked: "DEBIT", Answered: "CREDIT"}),
			recorded(r.RefID, state.Conflict, state.SourceLookup, both[1].with("amount", "7")))
	})
	breaks := ""
	w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
		breaks = fmt.Sprint(l.Breaks)
		return nil
	}}, format(0, both))
	if breaks != "[conflict amount]" {
		t.Errorf("%s, want the conflict and the amount alone", breaks)
	}
}

// TestATimeOfARecordKeepsItsNanoseconds has a record that was written with all digits of its time.
func TestATimeOfARecordKeepsItsNanoseconds(t *testing.T) {
	const created = "2026-11-01T00:00:00.123456789Z"
	w := newWorld(t, 1)
	got := ""
	w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
		got = l.Debit.CreatedAt.Format(time.RFC3339Nano)
		return nil
	}}, format(0, []row{w.export[0].with("created_at", created), w.export[1]}))
	if got != created {
		t.Errorf("%s, want %s", got, created)
	}
}

// TestATimeThatMovedOutOfThePeriodIsToldOnce has a record that was made in the period, by the state, and after it, by the service.
func TestATimeThatMovedOutOfThePeriodIsToldOnce(t *testing.T) {
	w := newWorld(t, 1)
	period := reconcile.Options{From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)}
	var fields []string
	period.Each = func(l *reconcile.Item) error {
		for _, d := range l.Differences {
			fields = append(fields, d.Field)
		}
		return nil
	}
	w.reconciled(t, period, format(0, []row{w.export[0].with("created_at", "2026-12-01T00:00:00Z"), w.export[1]}))
	if !slices.Equal(fields, []string{"created_at"}) {
		t.Errorf("%q differ, want created_at once", fields)
	}
}

// TestTheAmountOfAnItemIsThatOfTheBooks has a record of another amount: in a conflict nobody has it as made, and once a person accepted it
// the books have it.
func TestTheAmountOfAnItemIsThatOfTheBooks(t *testing.T) {
	r := request(0)
	both := sides(r, 0)
	seven := both[0].with("amount", "7.0", "total", "7.0", "asset", "CHF")
	conflict := recorded(r.RefID, state.Conflict, state.SourceLookup, seven)
	accept := told("resolve", recorded(r.RefID, state.Recorded, "", seven), transfer.Difference{Field: "amount", Asked: r.Amount.String(), Answered: "7.0"},
		transfer.Difference{Field: "asset", Asked: r.Asset, Answered: "CHF"})
	for want, after := range map[string][]state.Outcome{"1.00 USD": {conflict}, "7.0 CHF": {conflict, accept}} {
		item := itemAfter(t, r, after, []row{seven, both[1].with("amount", "7.0", "total", "7.0", "asset", "CHF")})
		if got := item.Amount + " " + item.Asset; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
