package cli_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsGlossary holds that the glossary explains the statuses, the words of transfers and those that plans
// and runs show, each once and in the order of the alphabet.
func TestDocsGlossary(t *testing.T) {
	var words []string
	for _, m := range regexp.MustCompile(`(?m)^\*\*([^*]+)\*\*: \S`).FindAllStringSubmatch(readDocument(t, "glossary.md").text, -1) {
		words = append(words, strings.ToLower(m[1]))
	}
	if !slices.IsSorted(words) {
		sorted := slices.Sorted(slices.Values(words))
		t.Errorf("the glossary is not in the order of the alphabet: %q, and sorted %q", words, sorted)
	}
	if len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("the glossary explains a word twice: %q", words)
	}
	for _, word := range []string{
		"transfer", "operation", "ref_id", "group_id", "batch", "control totals", "plan", "run", "intent", "unsent", "in doubt",
		"recorded", "adopted", "unverified", "refused", "conflict", "rename", "tombstone", "due", "reversal", "dual control",
		"hash total", "lineage", "journal head", "signal", "digest", "first-time destination", "look-alike", "obstacle",
	} {
		if !slices.Contains(words, word) {
			t.Errorf("the glossary does not explain %q", word)
		}
	}
}
