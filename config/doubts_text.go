package config

import (
	"fmt"
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

var iban = lazyregexp.New(`^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]){11,30}$`)
