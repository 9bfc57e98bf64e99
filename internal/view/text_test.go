package view_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"remit/internal/view"
)

func TestVisible(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"plain text stays":                           {"rent-2026-11", "rent-2026-11"},
		"letters of other scripts stay":              {"日本語 Zoë", "日本語 Zoë"},
		"an escape sequence is shown":                {"a\x1b[2Kb", `a\u001b[2Kb`},
		"a C1 control is shown":                      {"a\u009b31m", `a\u009b31m`},
		"line ends and tabs are shown":               {"a\nb\rc\td", `a\nb\rc\td`},
		"a right-to-left override is shown":          {"\u202etxt", `\u202etxt`},
		"zero-width characters are shown":            {"a\u200bb\u2060c\ufeff", `a\u200bb\u2060c\ufeff`},
		"a space that is not ASCII is shown":         {"a\u00a0b\u3000", `a\u00a0b\u3000`},
		"a tag character is shown":                   {"a\U000e0041", `a\U000e0041`},
		"bytes that are not UTF-8 are shown":         {"a\xff\xc3", `a\xff\xc3`},
		"a replacement character that is one stays":  {"\ufffd", "\ufffd"},
		"a mark without a base is shown":             {"\u0301a", `\u0301a`},
		"marks beyond the fourth are shown":          {"e\u0301\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\u0301" + `\u0301\u0301`},
		"a filler that looks like nothing is shown":  {"\u3164\u2800", `\u3164\u2800`},
		"a line separator is shown":                  {"a\u2028b", `a\u2028b`},
		"delete is shown":                            {"a\x7f", `a\u007f`},
		"an Arabic letter mark among text is shown":  {"1\u061c2", `1\u061c2`},
		"an emoji's variation selector is made seen": {"❤\ufe0f", `❤\ufe0f`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, view.Visible(test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"", "a", "\x1b[31m", "\u202e", "\xff", "é\u0301\u0301\u0301\u0301\u0301", "\u1100\u1161"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := view.Visible(text)
		checkShown(t, shown)
		if !utf8.ValidString(shown) {
			t.Errorf("%q is not UTF-8", shown)
		}
		if again := view.Visible(shown); again != shown {
			t.Errorf("%q becomes %q the second time", shown, again)
		}
	})
}

func TestLettersThatPoseAsOthersAreShown(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a Cyrillic letter in a Latin word":      {"\u0410lice", `\u0410lice`},
		"a Greek letter in a Latin word":         {"Al\u03b9ce", `Al\u03b9ce`},
		"a Latin letter in a Cyrillic word":      {"Ивaн", `\u0418\u0432a\u043d`},
		"a Cyrillic letter that stands alone":    {"\u0415-17", `\u0415-17`},
		"a Cyrillic word that looks Latin":       {"to \u0410\u0421\u0415", `to \u0410\u0421\u0415`},
		"a letter of mathematics":                {"\U0001d400lice", `\U0001d400lice`},
		"a wide letter among others":             {"\uff21lice", `\uff21lice`},
		"an Armenian letter in a Latin word":     {"p\u0585st", `p\u0585st`},
		"a Cyrillic text":                        {"Иван Сор, ООО Рост", "Иван Сор, ООО Рост"},
		"Cyrillic words beside Latin ones":       {"Ромашка LLC", "Ромашка LLC"},
		"wide letters alone":                     {"ＡＴＭ 給与", "ＡＴＭ 給与"},
		"Latin letters with marks":               {"Zoë Łódź naïve", "Zoë Łódź naïve"},
		"Latin letters beside Japanese ones":     {"T社給与", "T社給与"},
		"a Greek text":                           {"Νίκος Παππάς", "Νίκος Παππάς"},
		"a mark makes no text of its script":     {"\u0484 \u0415", `\u0484 \u0415`},
		"no escape, but half of one":             {"\\U\xff\u0410lice", `\U\xff\u0410lice`},
		"an escape that is there":                {`\u0410lice`, `\u0410lice`},
		"a mixed word beside one in look-alikes": {"Ивaн \u0421\u043e", `\u0418\u0432a\u043d \u0421\u043e`},
	} {
		t.Run(name, func(t *testing.T) {
			got := view.Visible(test.text)
			if got != test.want {
				t.Errorf("%q is shown as %q, want %q", test.text, got, test.want)
			}
			if again := view.Visible(got); again != got {
				t.Errorf("%q becomes %q when shown again", got, again)
			}
		})
	}
}

// A letter that is written from right to left would draw the amount behind it to its other
// side, where another number stands.
func TestLettersFromRightToLeftAreEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"rent \u05d0 8.00": `rent \u05d0 8.00`, "\u0627": `\u0627`, "\u0663": `\u0663`, "Größe, 東京, Москва": "Größe, 東京, Москва",
	} {
		if got := view.Visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
