package transfer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/transfer"
)

func TestShown(t *testing.T) {
	declared := transfer.Scales{"USDC": 6, "POINTS": 0, "HUGE": 1 << 40, "BHD": 1}
	for name, test := range map[string]struct{ number, asset, want string }{
		"a decimal that is missing":                    {"1997.2", "EUR", "1,997.20"},
		"all decimals that are missing":                {"412850", "USD", "412,850.00"},
		"every decimal there":                          {"412850.22", "USD", "412,850.22"},
		"three digits have no group":                   {"250", "USD", "250.00"},
		"a currency without a minor unit":              {"1200000", "JPY", "1,200,000"},
		"more decimals than the asset has":             {"1200.123456", "USD", "1,200.123456"},
		"decimals of a currency that has none":         {"1200.5", "JPY", "1,200.5"},
		"small letters":                                {"5", "usd", "5.00"},
		"an asset block":                               {"1000.5", "usdc", "1,000.500000"},
		"an asset block that names a currency":         {"1000", "BHD", "1,000.0"},
		"an asset of which nothing is known":           {"1234567.5", "BTC", "1,234,567.5"},
		"an asset without decimals":                    {"1000", "POINTS", "1,000"},
		"a scale that nothing has":                     {"1", "HUGE", "1." + strings.Repeat("0", 38)},
		"less than nothing":                            {"-1234567.5", "USD", "-1,234,567.50"},
		"less than nothing, and no group":              {"-123", "USD", "-123.00"},
		"zeros before the digits are as they came":     {"0001234", "USD", "0,001,234.00"},
		"no number stays as it came":                   {"1e9", "USD", "1e9"},
		"nothing":                                      {"", "USD", ""},
		"a sign alone":                                 {"-", "USD", "-"},
		"a point without digits before it":             {".5", "USD", ".5"},
		"text that is not ASCII":                       {"١٢٣٤", "USD", "١٢٣٤"},
		"what is grouped already is not touched twice": {"1,000", "USD", "1,000"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := declared.Shown(test.number, test.asset); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestShownKeepsTheNumber is the law of what a person reads and types: it is the number.
func TestShownKeepsTheNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`[1-9][0-9]{0,20}(\.[0-9]{1,12})?`).Draw(t, "number")
		asset := rapid.SampledFrom([]string{"USD", "JPY", "BHD", "USDC", "BTC"}).Draw(t, "asset")
		shown := transfer.Scales{"USDC": 6}.Shown(number, asset)
		typed, err := transfer.ParseAmount(transfer.Ungrouped(shown))
		if err != nil || !typed.Equal(transfer.MustAmount(number)) {
			t.Fatalf("%s is shown as %s: %v", number, shown, err)
		}
	})
}

func TestUngrouped(t *testing.T) {
	for name, test := range map[string]struct{ typed, want string }{
		"grouped":                    {"412,850.22", "412850.22"},
		"plain":                      {"412850.22", "412850.22"},
		"groups of two":              {"4,12,850.22", "4,12,850.22"},
		"one comma of two":           {"1412,850.22", "1412,850.22"},
		"a decimal comma":            {"412850,22", "412850,22"},
		"groups of another country":  {"412.850,22", "412.850,22"},
		"a comma among the decimals": {"1.000,5", "1.000,5"},
		"a comma at the end":         {"412,", "412,"},
		"a comma at the beginning":   {",412", ",412"},
		"commas alone":               {",,", ",,"},
		"no number with a comma":     {"USD,EUR", "USD,EUR"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := transfer.Ungrouped(test.typed); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestPlainOfOtherSigns(t *testing.T) {
	for name, test := range map[string]struct{ typed, plain, sign string }{
		"a decimal comma":                {"11580,78", "11580.78", "a decimal comma"},
		"groups by points":               {"1.211.580,78", "1211580.78", "a decimal comma"},
		"groups by space":                {"11 580,78", "11580.78", "a decimal comma"},
		"groups by apostrophes":          {"11'580,7", "11580.7", "a decimal comma"},
		"three decimals of four digits":  {"1158,780", "1158.780", "a decimal comma"},
		"grouped by a comma":             {"11,580", "", ""},
		"grouped, with a decimal point":  {"11,580.78", "", ""},
		"plain":                          {"11580.78", "", ""},
		"two commas that are no groups":  {"11,580,78", "", ""},
		"a group of two":                 {"11.58,78", "", ""},
		"a point behind a comma":         {"1158,780.5", "", ""},
		"no digits before the comma":     {",78", "", ""},
		"no digits behind the comma":     {"11580,", "", ""},
		"a minus sign":                   {"-11580,78", "", ""},
		"no number":                      {"USD,EUR", "", ""},
		"groups by points and by spaces": {"1.211 580,78", "", ""},
		"apostrophes and a point":        {"1'211'580.78", "1211580.78", "an apostrophe between digits"},
		"apostrophes alone":              {"11’580", "11580", "an apostrophe between digits"},
		"space and a point":              {"11 580.78", "11580.78", "a space between digits"},
		"space that breaks no line":      {"11\u202f580", "11580", "a space between digits"},
		"an apostrophe after two digits": {"1'15.80", "", ""},
		"points alone":                   {"1.211.580", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if plain, sign := transfer.PlainOfOtherSigns(test.typed); plain != test.plain || sign != test.sign {
				t.Errorf("%q, %q", plain, sign)
			}
		})
	}
}

// A plan carries scales; a field of a plan is written in small letters, and a code is not.
func TestScalesAreSavedAsAList(t *testing.T) {
	text, err := json.Marshal(transfer.Scales{"USDC": 6, "BTC": 8})
	if err != nil || string(text) != `[{"asset":"BTC","scale":8},{"asset":"USDC","scale":6}]` {
		t.Fatalf("%s: %v", text, err)
	}
	var back transfer.Scales
	if err := json.Unmarshal(text, &back); err != nil || len(back) != 2 || back["BTC"] != 8 || back["USDC"] != 6 {
		t.Errorf("%v: %v", back, err)
	}
}
