package reconcile_test

import (
	"testing"

	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
	"remit/state"
)

// TestAnAcceptedAmountExcusesNoOtherChange has a person accept a debit of 9 and a credit of 8, of 10 that were asked for; later the credit is 9.
func TestAnAcceptedAmountExcusesNoOtherChange(t *testing.T) {
	r := request(3)
	both := sides(r, 3)
	debit, credit := both[0].with("amount", "9", "total", "9"), both[1].with("amount", "8", "total", "8")
	w := newWorld(t, 0)
	w.append(t, func(add func(...state.Entry)) {
		var differences []transfer.Difference
		for _, side := range []row{debit, credit} {
			record, err := transfer.ParseRecord([]byte(side.json()))
			if err != nil {
				t.Fatal(err)
			}
			differences = append(differences, transfer.Compare(r, record, transfer.DefaultOperator)...)
		}
		add(intent(r), recorded(r.RefID, state.Conflict, state.SourceAnswer, debit, credit),
			told("resolve", recorded(r.RefID, state.Recorded, "", debit, credit), differences...))
	})
	judge := func(credit row) *reconcile.Summary {
		return w.reconciled(t, reconcile.Options{ListMax: -1}, format(0, []row{debit, credit}))
	}
	if s := judge(credit); !s.Agrees() {
		t.Errorf("as it was accepted: %v", s.Breaks)
	}
	if s := judge(credit.with("amount", "9", "total", "9")); s.Breaks[reconcile.Amount] != 1 {
		t.Errorf("another amount than was accepted: agrees %t, %v", s.Agrees(), s.Breaks)
	}
}
