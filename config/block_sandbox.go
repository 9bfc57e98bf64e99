package config

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

func sandboxKind() eval.Kind {
	return eval.Kind{
		Name: "sandbox", Single: true, Optional: []string{"opening_balances"},
		Nested: []eval.Kind{{Name: "opening_balance", Required: []string{"profile_id", "asset", "amount"}}},
	}
}

// evaluateSandbox reads the opening balances of the embedded service.
func (l *loader) evaluateSandbox() {
	if l.sandbox == nil {
		return
	}
	l.resolveBlock(l.sandbox, eval.WideReach())
	for _, b := range l.sandbox.NestedOf("opening_balance") {
		if b.Incomplete {
			continue
		}
		r := eval.Reader{Scope: l.config.scope, Block: b}
		var balance OpeningBalance
		balance.ProfileID, _ = r.Required("profile_id")
		balance.Asset, _ = r.Required("asset")
		balance.Amount = l.openingAmount(&r, balance.Asset)
		l.report(r.Diags...)
		if !r.Diags.HasErrors() {
			l.config.Sandbox.OpeningBalances = append(l.config.Sandbox.OpeningBalances, balance)
		}
	}
	l.evaluateOpeningRows()
}

// evaluateOpeningRows reads the opening balances that are a map of objects, as the rows of a data
// block are.
func (l *loader) evaluateOpeningRows() {
	r := eval.Reader{Scope: l.config.scope, Block: l.sandbox}
	value, a, found := r.Value("opening_balances")
	l.report(r.Diags...)
	if found != eval.Present {
		return
	}
	if !value.CanIterateElements() || !value.Type().IsObjectType() && !value.Type().IsMapType() {
		l.report(mistake.New(a.Expr.Range(), "Not a map of balances",
			"opening_balances is a map of objects with profile_id, asset and amount, such as data.csv.balances.rows, not %s.", value.Type().FriendlyName()))
		return
	}
	if value.LengthInt() == 0 {
		l.report(mistake.New(a.Expr.Range(), "No opening balance",
			"opening_balances has no rows. Leave the argument out where every profile has enough."))
	}
	for key, element := range value.Elements() {
		balance, why := l.openingRow(element)
		if why != "" {
			l.report(mistake.New(a.Expr.Range(), "Invalid opening balance", "The opening balance of %q %s", key.AsString(), why))
			continue
		}
		l.config.Sandbox.OpeningBalances = append(l.config.Sandbox.OpeningBalances, balance)
	}
}

// openingRow reads one element, or says what is wrong with it.
func (l *loader) openingRow(element cty.Value) (OpeningBalance, string) {
	texts := make(map[string]string, 3)
	for _, name := range []string{"profile_id", "asset", "amount"} {
		if element.IsNull() || !element.Type().IsObjectType() || !element.Type().HasAttribute(name) {
			return OpeningBalance{}, fmt.Sprintf("has no %s. It needs profile_id, asset and amount.", name)
		}
		value := element.GetAttr(name)
		switch {
		case !syntax.IsText(value):
			return OpeningBalance{}, fmt.Sprintf("has something else than text in quotation marks as its %s.", name)
		case value.AsString() == "":
			return OpeningBalance{}, fmt.Sprintf("has an empty %s.", name)
		}
		texts[name] = value.AsString()
	}
	balance := OpeningBalance{ProfileID: texts["profile_id"], Asset: texts["asset"]}
	amount, err := transfer.ParseAmount(texts["amount"])
	switch {
	case isNothing(texts["amount"]):
	case strings.HasPrefix(texts["amount"], "-"):
		return balance, fmt.Sprintf("is %s, and a balance is 0 or more.", texts["amount"])
	case err != nil:
		return balance, fmt.Sprintf("has the amount %q: %s", texts["amount"], mistake.Sentence(err))
	default:
		balance.Amount = amount
		if why := l.config.assets.check(amount, balance.Asset); why != "" {
			return balance, "has too many decimals: " + why
		}
	}
	return balance, ""
}

// isNothing reports whether text is 0 in plain notation, which a balance may be.
func isNothing(text string) bool {
	whole, fraction, _ := strings.Cut(text, ".")
	return whole == "0" && strings.Trim(fraction, "0") == "" && text != "0."
}
