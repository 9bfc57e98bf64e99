package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// suggestionDistanceMax is how many letters may differ between what was written and what
// was probably meant.
const suggestionDistanceMax = 2

// didYouMean returns a sentence, with a space before it, that names the nearest of names, or
// "" where none is near.
func didYouMean(given string, names []string) string {
	nearest, distance := "", suggestionDistanceMax+1
	for _, name := range slices.Sorted(slices.Values(names)) {
		if d := levenshtein.Distance(given, name, nil); d < distance && d < len(given) {
			nearest, distance = name, d
		}
		if strings.EqualFold(given, name) {
			nearest, distance = name, 0
		}
	}
	if nearest == "" || nearest == given {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", nearest)
}
