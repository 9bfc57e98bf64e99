package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
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
func evaluateSandbox(c *checker, sandbox *eval.Block, assets scales, files map[string]*hcl.File) []OpeningBalance {
	if sandbox == nil {
		return nil
	}
	var balances []OpeningBalance
	c.resolveBlock(sandbox, eval.WideReach())
	for _, b := range sandbox.NestedOf("opening_balance") {
		if b.Incomplete {
			continue
		}
		r := eval.Reader{Scope: c.scope, Block: b}
		var balance OpeningBalance
		balance.ProfileID, _ = r.Required("profile_id")
		balance.Asset, _ = r.Required("asset")
		balance.Amount = openingAmount(&r, balance.Asset, assets, files)
		c.report(r.Diags...)
		if !r.Diags.HasErrors() {
			balances = append(balances, balance)
		}
	}
	return append(balances, evaluateOpeningRows(c, sandbox, assets)...)
}

// evaluateOpeningRows reads the opening balances that are a map of objects, as the rows of a data
// block are.
func evaluateOpeningRows(c *checker, sandbox *eval.Block, assets scales) []OpeningBalance {
	r := eval.Reader{Scope: c.scope, Block: sandbox}
	value, a, found := r.Value("opening_balances")
	c.report(r.Diags...)
	if found != eval.Present {
		return nil
	}
	if !value.CanIterateElements() || !value.Type().IsObjectType() && !value.Type().IsMapType() {
		c.report(mistake.New(a.Expr.Range(), "Not a map of balances",
			"opening_balances is a map of objects with profile_id, asset and amount, such as data.csv.balances.rows, not %s.", mistake.Kind(value.Type())))
		return nil
	}
	if value.LengthInt() == 0 {
		c.report(mistake.New(a.Expr.Range(), "No opening balance",
			"opening_balances has no rows. Leave the argument out where every profile has enough."))
	}
	var balances []OpeningBalance
	for key, element := range value.Elements() {
		balance, why := openingRow(element, assets)
		if why != "" {
			c.report(mistake.New(a.Expr.Range(), "Invalid opening balance", "The opening balance of %q %s", key.AsString(), why))
			continue
		}
		balances = append(balances, balance)
	}
	return balances
}

// openingRow reads one element, or describes its mistake.
func openingRow(element cty.Value, assets scales) (OpeningBalance, string) {
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
		if why := assets.check(amount, balance.Asset); why != "" {
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

// openingAmount reads the amount of an opening balance; nothing is the zero Amount.
func openingAmount(r *eval.Reader, asset string, assets scales, files map[string]*hcl.File) transfer.Amount {
	value, a, found := r.Value("amount")
	if a == nil || found == eval.Wrong {
		return transfer.Amount{}
	}
	if found == eval.Absent {
		r.Refuse(a.Expr.Range(), "Required argument is null", "amount may not be null.")
		return transfer.Amount{}
	}
	if ctx, ok, _ := r.Scope.Context(a.Refs); ok {
		r.Diags = append(r.Diags, checkDecimal(r.Scope, a.Expr, ctx)...)
	}
	if syntax.IsText(value) && isNothing(value.AsString()) {
		return transfer.Amount{}
	}
	amount, summary, detail := readAmount(a.Name, value, a.Expr, files)
	if summary == "" {
		if detail = assets.check(amount, asset); detail != "" {
			summary = "Too many decimals"
		}
	}
	if summary != "" {
		r.Refuse(a.Expr.Range(), summary, "%s", detail)
	}
	return amount
}
