// Package english counts and lists things in front of people.
//
// Its one invariant: one thing is never in the plural.
package english

import (
	"strconv"
	"strings"
)

// Plural counts things by a noun whose plural ends in s: "1 transfer", "2 transfers", "0 transfers".
func Plural(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(count) + " " + noun + "s"
}

// List joins names for a sentence, the last two by "and"; "" for none.
func List(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
