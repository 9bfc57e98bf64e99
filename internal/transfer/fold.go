package transfer

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// FoldRefID is equal for ref_ids that a service may take for the same, and write one in the place of
// the other: texts that differ in nothing but the case of letters, white space around them, their
// Unicode normal form, or characters that cannot be seen.
func FoldRefID(text string) string {
	if Plain(text) {
		return strings.ToUpper(strings.Trim(text, " "))
	}
	return strings.Map(foldCase, norm.NFKC.String(strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || Hidden(r)
	})))
}

// foldCase maps all letters that Unicode folds into one (as [strings.EqualFold] has it) to the
// least of them, and drops invisible characters.
func foldCase(r rune) rune {
	if Hidden(r) {
		return -1
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// RefIDTwin says, after the words "its ref_id", that a record has another ref_id than was asked for, of
// the same [FoldRefID].
func RefIDTwin(listed, asked string) string {
	return fmt.Sprintf("is %q, which differs from %q %s", listed, asked, twinEnd)
}

// SaysRefIDTwin reports whether a text has the words of [RefIDTwin]: a state keeps the reason of a doubt as text.
func SaysRefIDTwin(reason string) bool { return strings.Contains(reason, twinEnd) }

const twinEnd = "only in capitals, in spaces around it or in how its characters are encoded"
