package approval_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"remit/internal/approval"
	"remit/internal/transfer"
)

// TestOneTierOfDeviceBoundPasskeysIsEnough has a rule of every plan that wants passkeys which are not backed up, beside one above it that says nothing of that.
func TestOneTierOfDeviceBoundPasskeysIsEnough(t *testing.T) {
	all := approval.Rule{Place: "all", Approvers: 1, DeviceBound: true}
	large := approval.Rule{Place: "large", Above: map[string]decimal.Decimal{"USD": decimal.NewFromInt(100)}, Approvers: 2}
	for _, rules := range [][]approval.Rule{{all, large}, {large, all}} {
		for amount, want := range map[string]string{"1.00": "all", "101.00": "large"} {
			var totals transfer.Totals
			totals.Add("USD", transfer.MustAmount(amount))
			need, ok := approval.Needed(rules, totals)
			if !ok || need.Rule.Place != want || need.DeviceBound != "all" {
				t.Errorf("%s of %s first: rule %s, device-bound by %q", amount, rules[0].Place, need.Rule.Place, need.DeviceBound)
			}
		}
	}
	var totals transfer.Totals
	totals.Add("USD", transfer.MustAmount("1.00"))
	large.DeviceBound, all.DeviceBound = true, false
	if need, _ := approval.Needed([]approval.Rule{large, all}, totals); need.DeviceBound != "" {
		t.Errorf("a rule that does not apply binds passkeys: %q", need.DeviceBound)
	}
}
