package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/statetest"
)

// told is the word of a person who typed a command.
func told(command string, o state.Outcome, differences ...transfer.Difference) state.Outcome {
	by := statetest.Holder("remit " + command)
	o.Source, o.By, o.Reason, o.Differences = state.SourcePerson, &by, "moved to the other state", differences
	return o
}

// TestWhatWasForgottenIsComparedAsAnyOther has what a person had the state forget at the service as it was, otherwise, or
// not at all: only the first is known, and all that was made is in the total of the state.
func TestWhatWasForgottenIsComparedAsAnyOther(t *testing.T) {
	r := request(0)
	both := sides(r, 0)
	debit, credit := both[0], both[1]
	again := []row{debit, credit, debit.with("id", "debit-9", "group_id", "g-2"), credit.with("id", "credit-9", "group_id", "g-2")}
	status := func(s string) []row { return []row{debit.with("status", s), credit.with("status", s)} }
	seven := []row{debit.with("amount", "7", "total", "7"), credit.with("amount", "7", "total", "7")}
	answer := func(status state.Status, record row) state.Outcome {
		return recorded(r.RefID, status, state.SourceAnswer, record)
	}
	forget := told("state forget", recorded(r.RefID, state.Tombstone, ""))
	lookedUp := recorded(r.RefID, state.Conflict, state.SourceLookup, seven[0])
	made := []state.Outcome{answer(state.Recorded, debit), forget}
	conflict := []state.Outcome{answer(state.Recorded, debit), lookedUp, forget}
	accepted := []state.Outcome{
		answer(state.Conflict, seven[0]),
		told("resolve", recorded(r.RefID, state.Recorded, "", seven[0]), transfer.Difference{Field: "amount", Asked: r.Amount.String(), Answered: "7"}),
		forget,
	}
	for name, test := range map[string]struct {
		after  []state.Outcome
		export []row
		want   string // result and breaks; "" where nothing is listed
		sum    string // of the state
	}{
		"as it was":                           {made, both, "accepted", "1"},
		"its credit alone has no ref_id":      {made, []row{debit, credit.with("ref_id", "")}, "accepted", "1"},
		"paid twice":                          {made, again, "differs several", "1"},
		"another amount and another asset":    {made, []row{seven[0].with("asset", "EUR"), seven[1].with("asset", "EUR")}, "differs amount asset field", "1"},
		"another destination":                 {made, []row{debit, credit.with("profile_id", "mallory")}, "differs field", "1"},
		"a fee that the state had not":        {made, []row{debit.with("fee", "1", "total", "2.00"), credit}, "differs field", "1"},
		"no credit":                           {made, both[:1], "differs one_side", "1"},
		"no record at all":                    {made, nil, "differs state_only", "1"},
		"since FAILED":                        {made, status("FAILED"), "differs status", "1"},
		"after a conflict, as it was":         {conflict, both, "accepted", "1"},
		"after a conflict, as that was":       {conflict, seven, "differs amount field", "1"},
		"after a conflict, absent":            {conflict, nil, "differs state_only", "1"},
		"after it was accepted, as that was":  {accepted, seven, "accepted", "7"},
		"after it was accepted, as asked for": {accepted, both, "differs amount field", "7"},
		"after it was accepted, absent":       {accepted, nil, "differs state_only", "7"},
		"unverified before":                   {[]state.Outcome{answer(state.Unverified, debit), forget}, both, "accepted", "1"},
		"FAILED before":                       {[]state.Outcome{answer(state.Recorded, debit.with("status", "FAILED")), forget}, status("FAILED"), "accepted", ""},
		"FAILED before, and absent":           {[]state.Outcome{answer(state.Recorded, debit.with("status", "FAILED")), forget}, nil, "", ""},
		"refused before, and made":            {[]state.Outcome{answer(state.Refused, nil), forget}, both, "differs not_made", ""},
		"in doubt before":                     {[]state.Outcome{answer(state.InDoubt, nil), forget}, nil, "", ""},
		"in doubt before, and made":           {[]state.Outcome{answer(state.InDoubt, nil), forget}, both, "differs not_made", ""},
		"in doubt before, and made twice":     {[]state.Outcome{answer(state.InDoubt, nil), forget}, again, "differs several not_made", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) {
				add(intent(r))
				for _, o := range test.after {
					if o.Status == state.Refused || o.Status == state.InDoubt {
						o.Records = nil
					}
					add(o)
				}
			})
			var got string
			s := w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Item) error {
				got = strings.TrimSpace(fmt.Sprint(l.Result, " ", strings.Trim(fmt.Sprint(l.Breaks), "[]")))
				return nil
			}}, format(0, test.export))
			var sum string
			for _, a := range s.Assets {
				if a.State.Count > 0 {
					sum = a.State.Sum.String()
				}
			}
			if got != test.want || sum != test.sum || s.Agrees() == strings.HasPrefix(test.want, "differs") {
				t.Errorf("%q with %q in the state, agrees %t; want %q with %q", got, sum, s.Agrees(), test.want, test.sum)
			}
		})
	}
}

// TestWhatWasForgottenIsNotRefreshed has a transfer that was PENDING when a person had the state forget it, and is COMPLETED since:
// the state has nothing that is PENDING any more.
func TestWhatWasForgottenIsNotRefreshed(t *testing.T) {
	r := request(0)
	both := sides(r, 0)
	for name, test := range map[string]struct {
		after []state.Outcome
		want  string
	}{
		"as the state has it": {nil, "remit refresh"},
		"forgotten":           {[]state.Outcome{told("state forget", recorded(r.RefID, state.Tombstone, ""))}, "remit resolve " + r.RefID + ` --recorded=FILE --reason="…"`},
	} {
		w := newWorld(t, 0)
		w.append(t, func(add func(...state.Entry)) {
			add(intent(r), recorded(r.RefID, state.Recorded, state.SourceAnswer, both[0].with("status", "PENDING")))
			for _, o := range test.after {
				add(o)
			}
		})
		next := ""
		w.reconciled(t, reconcile.Options{CanLookUp: true, Each: func(l *reconcile.Item) error {
			next = l.Next
			return nil
		}}, format(0, both))
		if next != test.want {
			t.Errorf("%s: next %q, want %q", name, next, test.want)
		}
	}
}

// TestAnAcceptedRecordIsWhatTheBooksHave has a record at the service that a person accepted, and then one that is
// another in each field, as it was asked for or not: only the accepted one is a match.
func TestAnAcceptedRecordIsWhatTheBooksHave(t *testing.T) {
	r := request(3) // it has metadata
	both := sides(r, 3)
	for field, value := range map[string]string{
		"amount": "7", "asset": "CHF", "balance_asset": "CHF", "profile_id": "mallory", "identity_id": "i-2", "account_id": "a-2",
		"metadata.employee": "E-9", "type": "INTERNAL_TRANSFER_DEBIT", "ref_id": "other", "total": "99", "fee": "9",
	} {
		t.Run(field, func(t *testing.T) {
			asked := both[0]
			if field == "identity_id" || field == "account_id" { // which the request does not name
				asked = asked.with(field, "one of its own")
			}
			stored := asked.with(field, value)
			w := newWorld(t, 0)
			w.append(t, func(add func(...state.Entry)) {
				record, err := transfer.ParseRecord([]byte(stored.json()))
				if err != nil {
					t.Fatal(err)
				}
				differences := append(transfer.Compare(r, record, transfer.DefaultOperator), transfer.Shortcomings(record)...)
				add(intent(r), recorded(r.RefID, state.Conflict, state.SourceAnswer, stored),
					told("resolve", recorded(r.RefID, state.Recorded, "", stored), differences...))
			})
			judge := func(debit row) *reconcile.Summary {
				credit := both[1]
				switch field {
				case "amount":
					credit = credit.with("amount", debit["amount"], "total", debit["amount"])
				case "asset":
					credit = credit.with("asset", debit["asset"])
				}
				return w.reconciled(t, reconcile.Options{ListMax: -1}, format(0, []row{debit, credit}))
			}
			if s := judge(stored); !s.Agrees() {
				t.Errorf("as it was accepted: %v", s.Breaks)
			}
			if s := judge(asked); s.Agrees() || s.Differ != 1 {
				t.Errorf("as it was asked for, it agrees %t: %v", s.Agrees(), s.Breaks)
			}
		})
	}
}

// TestACreditOfWhichTheStateHasNoCopy has a credit with a fee, or with a total that is not what arrived.
func TestACreditOfWhichTheStateHasNoCopy(t *testing.T) {
	for name, test := range map[string]struct {
		number  int // of the request; 4 has a fee of 0.25
		changes []string
		want    string
	}{
		"none, and the amount":              {0, []string{"fee", "0.000"}, ""},
		"no fee":                            {0, []string{"fee", ""}, ""},
		"neither":                           {0, []string{"fee", "", "total", ""}, ""},
		"no total":                          {0, []string{"total", ""}, ""},
		"the whole amount as a fee":         {0, []string{"fee", "1.00", "total", "0"}, "field"},
		"a fee and what is left":            {0, []string{"fee", "0.25", "total", "0.75"}, "field"},
		"a fee and more than the amount":    {0, []string{"fee", "0.25", "total", "1.25"}, "field"},
		"a fee beside the amount":           {0, []string{"fee", "0.25"}, "field"},
		"a fee alone":                       {0, []string{"fee", "0.25", "total", ""}, "field"},
		"a fee that is no number":           {0, []string{"fee", "none"}, "field"},
		"a fee that was given back":         {0, []string{"fee", "-0.25"}, "field"},
		"a total that is not the amount":    {0, []string{"total", "0.01"}, "field"},
		"a total alone that is not":         {0, []string{"fee", "", "total", "0.01"}, "field"},
		"the fee of the debit once more":    {4, []string{"fee", "0.250"}, ""},
		"the fee of the debit, taken again": {4, []string{"fee", "0.25", "total", "4.79"}, "field"},
		"fee and total of the debit again":  {4, []string{"fee", "0.25", "total", "5.29"}, ""},
		"the total of the debit alone":      {4, []string{"total", "5.29"}, "field"},
		"another fee than the debit has":    {4, []string{"fee", "0.26"}, "field"},
		"FAILED, which moved nothing":       {0, []string{"fee", "9", "total", "9", "status", "FAILED"}, "status"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.number+1)
			export := append([]row(nil), w.export...)
			last := len(export) - 1
			export[last] = export[last].with(test.changes...)
			s := w.reconciled(t, reconcile.Options{ListMax: -1}, format(0, export))
			var breaks []reconcile.Break
			for _, list := range s.Lists {
				breaks = append(breaks, list[0].Breaks...)
			}
			if got := strings.Trim(fmt.Sprint(breaks), "[]"); got != test.want || s.Agrees() != (test.want == "") {
				t.Errorf("%q, agrees %t; want %q", got, s.Agrees(), test.want)
			}
		})
	}
}

// TestADoubtWithAWrongTotalSaysSo has a transfer of which the state has no record at all: a fee of it is news, and a
// total that amount and fee do not make is told.
func TestADoubtWithAWrongTotalSaysSo(t *testing.T) {
	r := request(4) // with a fee of 0.25
	both := sides(r, 4)
	w := newWorld(t, 0)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(r), recorded(r.RefID, state.InDoubt, state.SourceAnswer))
	})
	for want, total := range map[string]string{"": both[0]["total"], "field": "99"} {
		s := w.reconciled(t, reconcile.Options{}, format(0, []row{both[0].with("total", total), both[1]}))
		if (s.Breaks[reconcile.Field] > 0) != (want != "") {
			t.Errorf("total %s: %v", total, s.Breaks)
		}
	}
}

// TestSumsThatDoNotAgreeAreNeverAMatch has no transfer that differs, and debits that are not what the state says.
func TestSumsThatDoNotAgreeAreNeverAMatch(t *testing.T) {
	total := func(sum string) transfer.Total {
		var totals transfer.Totals
		totals.Add("EUR", transfer.MustAmount(sum))
		for each := range totals.All() {
			return each
		}
		return transfer.Total{}
	}
	s := reconcile.Summary{Matched: 1, Assets: []reconcile.AssetTotals{{Asset: "EUR", State: total("7"), Debits: total("7.00")}}}
	if !s.Agrees() || s.Contradicts() {
		t.Error("equal sums do not agree")
	}
	s.Assets = append(s.Assets, reconcile.AssetTotals{Asset: "USD", State: total("7"), Debits: total("7.01")})
	if s.Agrees() || !s.Contradicts() {
		t.Error("another sum of the debits agrees")
	}
	if s.Differ = 1; s.Agrees() || s.Contradicts() {
		t.Error("a sum that a finding explains is called a contradiction")
	}
}
