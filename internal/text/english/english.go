// Package english counts things in front of people.
//
// Its one invariant: one thing is never in the plural.
package english

import "strconv"

// Plural counts things by a noun whose plural ends in s: "1 transfer", "2 transfers", "0 transfers".
func Plural(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(count) + " " + noun + "s"
}
