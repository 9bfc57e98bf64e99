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
	for example, texts := range map[string][]string{
		"1 234,56 kr": {"5", "5 kr.", "kr 5", "5 KR", "5,5kr5"}, "Rs1,234.56": {"Rs.500", "R500", "500", "500 Rs"}, "1,234.56 Rs": {"50.Rs", "50. Rs"}, "¥1,234": {"¥1.00", "¥1,23", "1,234"},
		"$1,234.56 USD": {"$5", "5 USD", "USD 5 $"},
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

// TestNumbersHaveTheCurrencyOfTheirFormat reads numbers beside words and signs of all kinds.
func TestNumbersHaveTheCurrencyOfTheirFormat(t *testing.T) {
	for example, texts := range map[string]map[string]string{
		"1 234,56 kr": {"1 000,50 kr": "1000.50", "1\u00a0000,50\u202fkr": "1000.50", "5kr": "5", "-5 kr": "-5"}, "1.234,56 kr.": {"1.000,00 kr.": "1000.00", "5 kr.": "5"},
		"1 234,56 zł": {"7,10 zł": "7.10"}, "1 234,56 Kč": {"7,10 Kc\u030c": "7.10"}, "R$ 1.234,56": {"R$ 1.000,00": "1000.00", "R$5": "5", "-R$ 5": "-5", "R$ -5": "-5"},
		"US$1,234.56": {"US$1,000.00": "1000.00"}, "Rs. 12,34,567.89": {"Rs. 1,00,000.00": "100000.00", "Rs.5": "5"}, "Fr. 1'234.56": {"Fr. 1’000.00": "1000.00"},
		"KD 1,234.567": {"KD 1,000.500": "1000.500"}, "¥1,234": {"¥1,000": "1000", "¥5": "5"}, "1,234円": {"1,000円": "1000"}, "1 234 kr": {"1 000 kr": "1000"}, "S/ 1,234.56": {"S/ 5": "5"},
		"US dollars 1,234.56": {"US dollars 5": "5"}, "$1,234.56 USD": {"$1,000.00 USD": "1000.00", "-$5 USD": "-5"}, "L 1,234.56": {"L 5": "5"}, "₹12,34,567": {"₹1,00,000": "100000"},
	} {
		for text, want := range texts {
			if got, err := rows.ReadNumber(example, text); err != nil || got != want {
				t.Errorf("%q as %s is %q, %v; want %s", text, example, got, err, want)
			}
		}
	}
}

// TestMultiplesAreNoCurrencies would pay a thousandth or a hundredfold.
func TestMultiplesAreNoCurrencies(t *testing.T) {
	for _, example := range []string{
		"1.234,56 T€", "TEUR 1.234,56", "kEUR 1.234,56", "$1,234.56m", "$1,234.56 k", "1,234.56 k", "1 234,56 tkr", "1 234,56 t.kr.", "€1,234.56 Mio.", "1.234,56 Mio. EUR", "EURm 1,234.56",
		"1,234.56 Cr", "₹1,234.56 L", "1,234千円", "1,234.56 cents", "¢1,234.56", "1,234.56 GBp", "1,234.56p", "1,234.56 CR",
	} {
		if got, err := rows.ReadNumber(example, example); err == nil || !strings.Contains(err.Error(), "multiple") {
			t.Errorf("%q is a format, and read as %s: %v", example, got, err)
		}
	}
}
