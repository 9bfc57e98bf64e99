package transfer_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"remit/internal/transfer"
)

func TestRefIDs(t *testing.T) {
	for sentence, test := range map[string]struct {
		text, part string
	}{
		"a label":                            {"rent-2026-11", ""},
		"one character":                      {"a", ""},
		"words with a space":                 {"rent november", ""},
		"letters of other scripts":           {"Miete-März-日本", ""},
		"100 characters of several bytes":    {strings.Repeat("é", 100), ""},
		"an emoji":                           {"🙂", ""},
		"nothing":                            {"", "is empty"},
		"101 characters":                     {strings.Repeat("a", 101), "has 101 characters, more than 100"},
		"a space before":                     {" a", "space"},
		"a space after":                      {"a ", "space"},
		"only a space":                       {" ", "space"},
		"a line end after":                   {"a\n", "space"},
		"a tab within":                       {"a\tb", "U+0009"},
		"a NUL":                              {"a\x00b", "U+0000"},
		"a DEL":                              {"a\x7fb", "U+007F"},
		"a control of Latin-1":               {"a\u0085b", "U+0085"},
		"a space that does not break":        {"a\u00a0b", "U+00A0"},
		"a wide space":                       {"a\u3000b", "U+3000"},
		"a soft hyphen":                      {"a\u00adb", "U+00AD"},
		"a zero-width space":                 {"a\u200bb", "U+200B"},
		"a zero-width joiner":                {"a\u200db", "U+200D"},
		"a byte-order mark":                  {"a\ufeffb", "U+FEFF"},
		"an override of the direction":       {"a\u202eb", "U+202E"},
		"an isolate":                         {"a\u2066b", "U+2066"},
		"a mark of the direction":            {"a\u200fb", "U+200F"},
		"a line separator":                   {"a\u2028b", "U+2028"},
		"a paragraph separator":              {"a\u2029b", "U+2029"},
		"a Hangul filler":                    {"a\u3164b", "U+3164"},
		"a half-width Hangul filler":         {"a\uffa0b", "U+FFA0"},
		"a joiner of graphemes":              {"a\u034fb", "U+034F"},
		"a variation selector":               {"a\ufe0fb", "U+FE0F"},
		"a supplementary variation":          {"a\U000e0100b", "U+E0100"},
		"a Mongolian variation":              {"a\u180bb", "U+180B"},
		"a tag":                              {"a\U000e0041b", "U+E0041"},
		"an invisible plus":                  {"a\u2064b", "U+2064"},
		"private use":                        {"a\ue000b", "U+E000"},
		"a noncharacter":                     {"a\uffffb", "U+FFFF"},
		"a Braille blank":                    {"a\u2800b", "U+2800"},
		"an interlinear mark":                {"a\ufff9b", "U+FFF9"},
		"an unassigned code point":           {"a\u0378b", "U+0378"},
		"a byte that is not UTF-8":           {"a\xffb", "UTF-8"},
		"a surrogate in UTF-8":               {"a\xed\xa0\x80b", "UTF-8"},
		"an overlong zero":                   {"a\xc0\x80b", "UTF-8"},
		"the replacement character, as such": {"a\ufffdb", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := transfer.CheckRefID(test.text)
			switch {
			case test.part == "" && err != nil:
				t.Error(err)
			case test.part != "" && err == nil:
				t.Error("no error")
			case test.part != "" && !strings.Contains(err.Error(), test.part):
				t.Errorf("error %q does not say %q", err, test.part)
			}
		})
	}
}

func TestTextMayHaveSpacesThatShow(t *testing.T) {
	for _, text := range []string{"", " ", "a\u00a0b", "Zoë Müller", "a\u3000b", strings.Repeat("a", 1000)} {
		if err := transfer.CheckText(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTextThatPassesHasNothingHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		hidden := strings.ContainsFunc(text, func(r rune) bool {
			return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || transfer.Hidden(r)
		})
		if err := transfer.CheckText(text); err == nil && hidden || err != nil && !hidden {
			t.Fatalf("%q: hidden %v, error %v", text, hidden, err)
		}
	})
}

func TestEveryPrintableASCIICharacterShows(t *testing.T) {
	for r := rune(0); r < 128; r++ {
		if want := r < ' ' || r == 127; transfer.Hidden(r) != want {
			t.Errorf("Hidden(%U) = %v", r, !want)
		}
	}
}

// TestPlainTextIsPrintableASCII puts every byte at every place of plain text.
func TestPlainTextIsPrintableASCII(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := []byte(strings.Repeat("~ ", 10)[:length])
				text[at] = byte(c)
				if got, want := transfer.Plain(string(text)), ' ' <= c && c <= '~'; got != want {
					t.Fatalf("%q is plain: %v", text, got)
				}
			}
		}
	}
}
