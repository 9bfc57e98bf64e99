package transfer_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/transfer"
)

func TestTwinsFoldIntoOne(t *testing.T) {
	for sentence, texts := range map[string][]string{
		"capitals":                     {"rent-2026-10", "RENT-2026-10", "Rent-2026-10"},
		"spaces around it":             {"bonus-ana", "bonus-ana ", " BONUS-ANA\t", "bonus-ana\u00a0"},
		"what cannot be seen":          {"bonus-ana", "bonus\u200b-ana", "\ufeffbonus-ana"},
		"Unicode's normal form":        {"café", "cafe\u0301", "CAFÉ"},
		"a letter with three cases":    {"kelvin", "\u212aelvin", "KELVIN"},
		"the two small letters of sss": {"gas", "ga\u017f", "GAS"},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, text := range texts {
				if got, want := transfer.FoldRefID(text), transfer.FoldRefID(texts[0]); got != want {
					t.Errorf("%q folds into %q, and %q into %q", text, got, texts[0], want)
				}
			}
		})
	}
	for _, two := range [][2]string{{"rent-1", "rent-2"}, {"rent 1", "rent1"}, {"inv-O", "inv-0"}} {
		if transfer.FoldRefID(two[0]) == transfer.FoldRefID(two[1]) {
			t.Errorf("%q and %q fold into one", two[0], two[1])
		}
	}
}

// TestPlainTextFoldsLikeAnyOther holds the fast way for plain text against the general one.
func TestPlainTextFoldsLikeAnyOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "text")
		if got, want := transfer.FoldRefID(text), transfer.FoldRefID(text+"\u200b"); got != want {
			t.Errorf("%q folds into %q, and with what cannot be seen into %q", text, got, want)
		}
		if got, want := transfer.FoldRefID(text), transfer.FoldRefID(strings.ToLower(text)); got != want {
			t.Errorf("%q folds into %q, and in small letters into %q", text, got, want)
		}
	})
}
