package confusable_test

import (
	"testing"

	"remit/internal/text/confusable"
)

// areAlike reports whether a skeleton of the one name is one of the other.
func areAlike(a, b string) bool {
	for _, one := range []confusable.Reading{confusable.ByLetters, confusable.ByShapes} {
		for _, other := range []confusable.Reading{confusable.ByLetters, confusable.ByShapes} {
			if string(confusable.AppendSkeleton(nil, a, one)) == string(confusable.AppendSkeleton(nil, b, other)) {
				return true
			}
		}
	}
	return false
}

func TestSkeletons(t *testing.T) {
	for name, test := range map[string]struct {
		a, b string
		want bool
	}{
		"the same":                           {"landlord", "landlord", true},
		"capitals":                           {"landlord", "LANDLORD", true},
		"capitals with an I":                 {"fire", "FIRE", true},
		"spaces and signs":                   {"fox-estates_ltd", "Fox Estates, Ltd.", true},
		"a capital I for a small L":          {"landlord", "IandIord", true},
		"a bar for a small L":                {"landlord", "|andlord", true},
		"digits for letters":                 {"landlord", "1andl0rd", true},
		"r and n for m":                      {"modem", "modern", true},
		"Cyrillic letters for Latin ones":    {"landlord", "lаndlоrd", true},
		"a Cyrillic capital for a Latin one": {"treasury", "Тreasury", true},
		"Greek letters for Latin ones":       {"van oor", "νan οοr", true},
		"a lunate sigma for a c":             {"vector", "veϲtor", true},
		"letters of twice the width":         {"landlord", "ｌａｎｄｌｏｒｄ", true},
		"letters of mathematics":             {"landlord", "𝗅𝖺𝗇𝖽𝗅𝗈𝗋𝖽", true},
		"an i without its dot":               {"tim", "tım", true},
		"Cyrillic in capitals":               {"арендодатель", "АРЕНДОДАТЕЛЬ", true},
		"an accent, composed and not":        {"Jürgen", "Ju\u0308rgen", true},
		"a Greek name in capitals":           {"παππας", "ΠΑΠΠΑΣ", false}, // a final sigma is another letter
		"an accent":                          {"Muller", "Müller", false},
		"a small i is not a small L":         {"all", "Ali", false},
		"another name":                       {"landlord", "landlady", false},
		"a name with more words":             {"landlord", "landlord London", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := areAlike(test.a, test.b); got != test.want {
				t.Errorf("%q and %q: alike %t, not %t", test.a, test.b, got, test.want)
			}
			for _, text := range []string{test.a, test.b} {
				one, other := confusable.AppendSkeleton(nil, text, confusable.ByLetters), confusable.AppendSkeleton(nil, text, confusable.ByShapes)
				if string(one) != string(other) && !confusable.HasTwoReadings(text) {
					t.Errorf("%q has the skeletons %q and %q", text, one, other)
				}
			}
		})
	}
	if got := confusable.AppendSkeleton(nil, "--- …", confusable.ByShapes); len(got) > 0 {
		t.Errorf("signs alone have the skeleton %q", got)
	}
}
