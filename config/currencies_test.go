package config_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"remit/config"
	"remit/internal/transfer"
)

func TestCurrenciesInText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "net": "", "units": "", "all in": "", "€/m2": "EUR", "EUR": "EUR", "eur": "EUR", "(GBP)": "GBP", "US$": "USD", "USD $": "USD", "840": "USD",
		"KWD": "KWD", "try": "", "TRY": "TRY", "EUR USD": "", "zł": "PLN", "Kč": "CZK", "12.– CHF": "CHF", "SFr.": "CHF", "HK$": "HKD", "¥": "JPY CNY", "kr.": "SEK NOK DKK ISK",
	} {
		if got := strings.Join(config.CurrenciesIn(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := config.CurrenciesIn("$"); len(got) < 20 || got[0] != "USD" {
		t.Errorf("the dollar sign is that of %q", got)
	}
}

// TestSignsAreThoseOfCLDR compares the signs of currencies with those that CLDR gives them. Signs of one letter could be words, and T$
// says thousands of dollars too.
func TestSignsAreThoseOfCLDR(t *testing.T) {
	printer := message.NewPrinter(language.Und)
	for _, code := range transfer.Currencies() {
		unit, err := currency.ParseISO(code)
		if err != nil {
			continue
		}
		sign := printer.Sprint(currency.NarrowSymbol(unit))
		letters := strings.TrimSuffix(sign, ".")
		if sign == code || sign == "T$" || utf8.RuneCountInString(letters) == 1 && unicode.IsLetter([]rune(letters)[0]) {
			continue
		}
		if got := config.CurrenciesIn(sign); !slices.Contains(got, code) {
			t.Errorf("%q is the sign of %q, want %s", sign, got, code)
		}
	}
}
