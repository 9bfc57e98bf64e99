package rows_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/config/rows"
)

// TestNumbersAreReadAsTheyWereWritten writes random decimals in each format, with groups and
// without.
func TestNumbersAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`0|[1-9][0-9]{0,14}`).Draw(t, "digits")
		decimals := rapid.StringMatching(`[0-9]{0,4}`).Draw(t, "decimals")
		sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		want := sign + digits
		if decimals != "" {
			want += "." + decimals
		}
		for example, marks := range map[string][2]string{
			"1,234.56": {",", "."}, "1.234,56": {".", ","}, "1234,56": {"", ","}, "1234.56": {"", "."},
			"1 234,56": {" ", ","}, "1'234.56": {"'", "."}, "12,34,567.89": {",", "."},
		} {
			group := marks[0]
			if rapid.Bool().Draw(t, "ungrouped") {
				group = ""
			}
			if group == " " {
				group = rapid.SampledFrom([]string{" ", "\u00a0", "\u202f"}).Draw(t, "space")
			}
			text := digits
			for i, step := len(text)-3, 3; i > 0; i -= step {
				text = text[:i] + group + text[i:]
				if strings.HasPrefix(example, "12") {
					step = 2
				}
			}
			text = sign + text
			if decimals != "" {
				text += marks[1] + decimals
			}
			if got, err := rows.ReadNumber(example, text); err != nil || got != want {
				t.Errorf("%q as %s is %q, %v; want %q", text, example, got, err, want)
			}
		}
	})
}

func TestNumbersThatDoNotFitAreMistakes(t *testing.T) {
	for example, texts := range map[string][]string{
		"1,234.56":     {"1.234,56", "12,34.00", "1,2345", ",123", "1,234,", "1,234.", ".5", "1,234.5,6", "+1", "1e3", "$1", "(1.00)", "1.00-", "1..2", "01.00", "1 234.56", "- 1", "--1", "١"},
		"1.234,56":     {"1,234.56", "12.34", "1.2345", "1.234.56", "4120.50"},
		"1234,56":      {"1.234,56", "1234.56", "1 234,56"},
		"1 234,56":     {"1\t234", "1  234", "1.234,56"},
		"12,34,567.89": {"1,234,567.89", "123,456"},
	} {
		for _, text := range texts {
			if got, err := rows.ReadNumber(example, text); err == nil {
				t.Errorf("%q as %s is read as %s", text, example, got)
			}
		}
	}
	for _, example := range []string{"", "1234", "1.234.56", "1,234,56", "1_234.56", "9,876.54", "#,##0.00", "12,34.567,89"} {
		if _, err := rows.ReadNumber(example, "1"); err == nil {
			t.Errorf("%q is taken for a format", example)
		}
	}
}
