package config

func sandboxKind() blockKind {
	return blockKind{
		name: "sandbox", single: true,
		nested: []blockKind{{name: "opening_balance", required: []string{"profile_id", "asset", "amount"}}},
		read:   func(l *loader, b *block) { l.sandbox = b },
	}
}

// evaluateSandbox reads the opening balances of the embedded service.
func (l *loader) evaluateSandbox() {
	if l.sandbox == nil {
		return
	}
	l.resolveBlock(l.sandbox, wideReach())
	for _, b := range l.sandbox.nestedOf("opening_balance") {
		if b.incomplete {
			continue
		}
		r := reader{scope: l.config.scope, block: b}
		var balance OpeningBalance
		balance.ProfileID, _ = r.required("profile_id")
		balance.Asset, _ = r.required("asset")
		balance.Amount = l.openingAmount(&r, balance.Asset)
		l.report(r.diags...)
		if !r.diags.HasErrors() {
			l.config.Sandbox.OpeningBalances = append(l.config.Sandbox.OpeningBalances, balance)
		}
	}
}
