package transfer_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/transfer"
)

// TestHiddenIsWhatUnicodeSays holds the short ways of Hidden to the tables.
func TestHiddenIsWhatUnicodeSays(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := r == '\u2800' || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
		if transfer.Hidden(r) != want {
			t.Errorf("Hidden(%U) = %v", r, !want)
		}
	}
}

// place is a hidden character of a file.
type place struct {
	At int
	R  rune
}

func TestEveryHiddenCharacterOfAFileIsFound(t *testing.T) {
	pieces := []string{"a", "~", "}", " ", "\n", "\r\n", "\t", "\r", "\v", "\f", "\x00", "\x1b", "\x7f", "\u0085", "\u2028", "\u2029", "\u202e", "\u2066", "\u200b", "\u200d", "\ufe0f", "\U000e0041", "é", "日", "\xff", "\xe2\x80"}
	rapid.Check(t, func(t *rapid.T) {
		var text string
		for range rapid.IntRange(0, 40).Draw(t, "pieces") {
			text += rapid.SampledFrom(pieces).Draw(t, "piece")
		}
		var got, want []place
		for at, r := range transfer.HiddenIn([]byte(text)) {
			got = append(got, place{at, r})
		}
		for at, r := range text {
			isLineEnd := r == '\r' && at+1 < len(text) && text[at+1] == '\n'
			if r != utf8.RuneError && r != '\t' && r != '\n' && !isLineEnd && transfer.Hidden(r) {
				want = append(want, place{at, r})
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}
