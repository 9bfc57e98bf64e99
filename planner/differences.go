package planner

import (
	"maps"
	"slices"

	"remit/internal/transfer"
)

// Differences names each field in which two requests ask for something else, in the order in
// which people read them, with the declaration as Asked and the record as Answered.
// Amounts are compared as numbers. There is none if and only if the requests have one
// fingerprint.
func Differences(declared, recorded transfer.Request) []transfer.Difference {
	var all []transfer.Difference
	field := func(name, asked, answered string) {
		if asked != answered {
			all = append(all, transfer.Difference{Field: name, Asked: asked, Answered: answered})
		}
	}
	for _, f := range transfer.ReadingOrder() {
		switch {
		case f.HasPairs():
			pairs(field, f.Name()+".", declared.AskedPairs(f), recorded.AskedPairs(f))
		case !declared.SaysAs(&recorded, f):
			field(f.Name(), declared.Text(f), recorded.Text(f))
		}
	}
	return all
}

// pairs compares metadata. A pair with an empty value differs from none: it is sent.
func pairs(field func(name, asked, answered string), prefix string, declared, recorded transfer.Metadata) {
	keys := make(map[string]bool)
	for _, p := range slices.Concat(declared, recorded) {
		keys[p.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		asked, wanted := declared.Get(key)
		answered, found := recorded.Get(key)
		if asked == answered && wanted != found {
			// Both would show as nothing.
			asked, answered = presence(wanted), presence(found)
		}
		field(prefix+key, asked, answered)
	}
}

func presence(there bool) string {
	if there {
		return `""`
	}
	return ""
}
