package config_test

import (
	"strings"
	"testing"

	"remit/config"
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
