package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/text/encoding/charmap"

	"remit/config/mistake"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// readAsWindows is the text that was saved as UTF-8 and read as Windows-1252 on its way, as Jäger becomes JÃ¤ger; "" for any other one.
func readAsWindows(text string) string {
	if transfer.Plain(text) {
		return ""
	}
	meant, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil || !utf8.ValidString(meant) {
		return ""
	}
	return meant
}

// ibanLengths are the lengths of the IBANs of some countries.
var ibanLengths = map[string]int{
	"AT": 20, "BE": 16, "CH": 21, "CZ": 24, "DE": 22, "DK": 18, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HU": 28, "IE": 22,
	"IT": 27, "LI": 21, "LU": 20, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SE": 24, "SK": 24,
}

// wrongIBAN names the fault of a text that has the form of an IBAN; "" for a right one, and for any other text.
func wrongIBAN(text string) string {
	whole := strings.ReplaceAll(text, " ", "")
	if len(whole) < 2 || !iban.MatchString(text) || ibanLengths[whole[:2]] != len(whole) {
		return ""
	}
	rest := 0
	for _, c := range whole[4:] + whole[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	switch {
	case rest != 1:
		return "has the form of an IBAN, and its check digits do not fit: a digit is wrong, or two changed places. Correct it."
	case whole != text:
		return fmt.Sprintf("is an IBAN with spaces, and is sent with them. Without them it is:\n\n  %q", whole)
	}
	return ""
}

// doubtOfAccounts warns of accounts that are no right IBANs.
func doubtOfAccounts(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	diags := doubtOfAccount(block, in, t, "from", t.Request.FromAccountID)
	return append(diags, doubtOfAccount(block, in, t, "to", t.Request.ToAccountID)...)
}

// doubtOfAccount warns of the account on a side.
func doubtOfAccount(block *transferBlock, in instance, t *Transfer, side, id string) hcl.Diagnostics {
	what := wrongIBAN(id)
	if what == "" {
		return nil
	}
	d := mistake.Warning(placeOfDoubt(block, in, side+"_account_id", side), "Account looks wrong", "The account_id %q %s", id, what)
	d.Extra = &mistake.Origin{Block: t.Block, Column: side + "_account_id", Reason: strings.Split(what, ".")[0]}
	return hcl.Diagnostics{d}
}

// assetWords are words for currencies, with their codes.
var assetWords = map[string]string{
	"DOLLAR": "USD", "DOLLARS": "USD", "$": "USD", "US$": "USD", "BUCKS": "USD", "EURO": "EUR", "EUROS": "EUR", "€": "EUR", "POUND": "GBP", "POUNDS": "GBP", "£": "GBP",
	"YEN": "JPY", "¥": "JPY", "FRANC": "CHF", "FRANCS": "CHF", "FRANKEN": "CHF", "SFR": "CHF", "840": "USD", "978": "EUR", "826": "GBP", "392": "JPY", "756": "CHF",
}

var (
	iban          = lazyregexp.New(`^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]){11,30}$`)
	bracketedCode = lazyregexp.New(`[(\[]\s*([A-Z]{3}|€|£)\s*[)\]]`)
	lastCode      = lazyregexp.New(`[ _-]([A-Za-z]{3})$`)
)

// usualCodes are codes of currencies that are no words.
var usualCodes = []string{"USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "CZK", "CNY", "INR", "BRL", "MXN", "ZAR", "SGD", "HKD"}

// currencyOf is the currency that the name of a column says, as Net (EUR) and net_eur do; "" for none.
func currencyOf(header string) string {
	if found := bracketedCode.FindStringSubmatch(header); found != nil {
		if code := assetWords[found[1]]; code != "" {
			return code
		}
		if slices.Contains(usualCodes, found[1]) {
			return found[1]
		}
	}
	if found := lastCode.FindStringSubmatch(header); found != nil && slices.Contains(usualCodes, strings.ToUpper(found[1])) {
		return strings.ToUpper(found[1])
	}
	return ""
}

// doubtOfHeader warns where the column of the amounts says another currency than the block. It is asked for the first row of a block.
func doubtOfHeader(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	amount, asset := block.fields["amount"], block.fields["asset"]
	if in.row == nil || in.row.source == nil || amount == nil || amount.column == "" || asset == nil || !asset.constant {
		return nil
	}
	header := in.row.source.file.HeaderOf(amount.column)
	code := currencyOf(header)
	if code == "" || code == transfer.AssetSpelled(t.Request.Asset) {
		return nil
	}
	d := mistake.Warning(asset.Expr.Range(), "Currency of a column is another one",
		"The amounts come from the column %q, and the asset is %q. Write the one that is meant, or call the column by another name:\n\n  asset = %q", header, t.Request.Asset, code)
	d.Extra = &mistake.Origin{Block: t.Block, Column: "asset", Reason: d.Summary}
	return hcl.Diagnostics{d}
}
