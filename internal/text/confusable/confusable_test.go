package confusable_test

import (
	"strings"
	"testing"
	"unicode"

	"remit/internal/text/confusable"
)

func TestMixed(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want bool
	}{
		// The examples of TR39, section 5.1, with what sections 4 and 5.2 make of them.
		"Latin":                                     {"Circle", false},
		"Cyrillic that looks Latin":                 {"\u0421\u0456\u0433\u0441\u04c0\u0435", false}, // г does not
		"Latin and Cyrillic":                        {"\u0421ir\u0441l\u0435", true},
		"a digit in a Latin word":                   {"Circ1e", false},
		"Latin and letters of mathematics":          {"C\U0001d5c2\U0001d5cb\U0001d5bc\U0001d5c5\U0001d5be", true},
		"letters of mathematics alone":              {"\U0001d5a2\U0001d5c2\U0001d5cb\U0001d5bc\U0001d5c5\U0001d5be", true},
		"Han with a closing mark":                   {"〆切", false},
		"Hiragana and Katakana":                     {"ねガ", false},
		"Latin, Han, Hiragana, Katakana":            {"T社のカード", false},
		"Latin, Han, Bopomofo":                      {"T公司ㄅ", false},
		"Latin, Han, Hangul":                        {"LG전자株", false},
		"Hiragana and Hangul":                       {"の전", true},
		"Bopomofo and Katakana":                     {"ㄅカ", true},
		"Latin and Arabic":                          {"abcد", true},
		"Latin and Thai":                            {"abcก", true},
		"Cyrillic and Greek":                        {"Жω", true},
		"Cherokee in a Latin word":                  {"\u13aalice", true},
		"an attacker's Alice":                       {"\u0410lice", true},
		"all of its letters look Latin":             {"\u0430\u0441\u0435", true},
		"and stand beside a Latin word":             {"Alice \u0421\u043e\u0440", true},
		"a Cyrillic name":                           {"Иван Сор, ООО Рост", false},
		"a Cyrillic name with a Latin legal form":   {"Ромашка LLC", false},
		"a ref_id of words in two scripts":          {"зарплата-2026-11-E17", false},
		"a Greek name":                              {"Νίκος Παππάς", false},
		"Latin letters with marks":                  {"Zoe\u0308 Łódź", false},
		"a mark of another script on Latin":         {"a\u0651", false}, // inherited
		"nothing":                                   {"", false},
		"bytes that are not UTF-8 in a Latin word":  {"a\xffb", false},
		"a word that Unicode does not know":         {"\u0378", false},
		"a Latin letter behind a character unknown": {"a\U000323b0", false}, // Han
	} {
		t.Run(name, func(t *testing.T) {
			if got := confusable.Mixed(test.text); got != test.want {
				t.Errorf("%q: %t", test.text, got)
			}
		})
	}
}

func FuzzMixed(f *testing.F) {
	for _, seed := range []string{"", "Alice", "\u0410lice", "\xff", `\u0410`, "ねガ전", "\U0001d5a2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		mixed := confusable.Mixed(text)
		letters := confusable.Letters(text)
		if len(letters) > 0 && !mixed {
			t.Errorf("%q has letters that pose as others, and is not mixed", text)
		}
		for at := range letters {
			if at >= len(text) || text[at] < 0x80 && !unicode.IsLetter(rune(text[at])) {
				t.Errorf("%q has no letter at %d", text, at)
			}
		}
		if strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0 && mixed {
			t.Errorf("%q is ASCII and mixed", text)
		}
	})
}

func BenchmarkMixed(b *testing.B) {
	for name, text := range map[string]string{
		"ASCII": "0acfa5a6-6f2e-41af-a833-48e301197ffd", "Cyrillic": "Иван Сор, ООО Рост",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				confusable.Mixed(text)
			}
		})
	}
}
