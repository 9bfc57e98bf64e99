package transfer_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/currency"

	"remit/internal/transfer"
)

// TestScalesAreThoseOfISO4217 compares the currencies, one by one, with list one as SIX
// published it on 2024-06-25: testdata/iso4217.csv has the elements Ccy and CcyMnrUnts of
// iso-4217-list-one.xml in the npm package currency-codes 2.2.0.
func TestScalesAreThoseOfISO4217(t *testing.T) {
	content, err := os.ReadFile("testdata/iso4217.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"XCG": "2", "XAD": "2"} // amendments since
	for line := range strings.Lines(string(content)) {
		code, unit, _ := strings.Cut(strings.TrimSpace(line), ",")
		want[code] = unit
	}
	delete(want, "code")
	if len(want) < 170 {
		t.Fatalf("the list has %d codes", len(want))
	}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			for c := 'A'; c <= 'Z'; c++ {
				code := string([]rune{a, b, c})
				unit, listed := want[code]
				if unit == "N.A." {
					listed = false
				}
				scale, ok := transfer.CurrencyScale(code)
				if ok != listed || listed && strconv.Itoa(scale) != unit {
					t.Errorf("%s has %d decimals (listed: %t), ISO 4217 says %q", code, scale, ok, unit)
				}
			}
		}
	}
}

// TestScaleOfCurrencies compares the list of ISO 4217 with CLDR's: where they differ, ISO's
// minor unit is known to be another than the decimals that people write.
func TestScaleOfCurrencies(t *testing.T) {
	differ := strings.Fields("AFN ALL AMD COP GYD IDR IQD IRR KPW LAK LBP MGA MMK MNT MUR PKR RSD SOS SYP TZS UZS YER")
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			for c := 'A'; c <= 'Z'; c++ {
				code := string([]rune{a, b, c})
				scale, listed := transfer.CurrencyScale(code)
				unit, err := currency.ParseISO(code)
				if !listed || err != nil {
					continue
				}
				if theirs, _ := currency.Standard.Rounding(unit); (scale != theirs) != slices.Contains(differ, code) {
					t.Errorf("%s has %d decimals, CLDR says %d", code, scale, theirs)
				}
			}
		}
	}
	for code, want := range map[string]int{"USD": 2, "EUR": 2, "JPY": 0, "KWD": 3, "BHD": 3, "IQD": 3, "CLF": 4, "UYW": 4, "ISK": 0, "RSD": 2} {
		if got, ok := transfer.CurrencyScale(code); !ok || got != want {
			t.Errorf("%s has %d decimals, want %d", code, got, want)
		}
	}
	for _, code := range []string{"XAU", "BTC", "usd", "US", "USDC", "", "D E"} {
		if _, ok := transfer.CurrencyScale(code); ok {
			t.Errorf("%q is listed", code)
		}
	}
}
