package config

import (
	"fmt"
	"strings"

	"remit/internal/text/lazyregexp"
)

var (
	rounded     = lazyregexp.New(`^[0-9]([.,][0-9]+)?[eE]\+[0-9]{2,3}$`)
	roundedPart = lazyregexp.New(`(^|[^0-9A-Za-z.,])[0-9]([.,][0-9]+)?[eE]\+[0-9]{2,3}($|[^0-9A-Za-z])`)
)

// isRounded reports whether a text is a number as a spreadsheet writes one that is too long for its cell, such as
// 3.78672E+12: the digits behind are lost. The sign is asked for, as an ID may be "4E10".
func isRounded(text string) bool { return strings.Contains(text, "+") && rounded.MatchString(text) }

// hasRounded reports whether a part of a text is such a number.
func hasRounded(text string) bool {
	return strings.Contains(text, "+") && roundedPart.MatchString(text)
}

const (
	roundedWhy    = "a number that a spreadsheet has shortened: its other digits are lost"
	roundedRemedy = "Format the column as text, take the whole IDs from their source again, and export the file anew."
)

// roundedAmount says how an amount of a column keeps its digits; "" for any other amount.
func roundedAmount(text string) string {
	if !isRounded(text) {
		return ""
	}
	return fmt.Sprintf("amount %q is %s. Format the column as a number with all decimals, take the amounts from their source again, and export the file anew.", text, roundedWhy)
}
