package transfer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/internal/transfer"
)

func TestAmountsAreReadAndKeepTheAuthorsDigits(t *testing.T) {
	for text, want := range map[string]struct {
		normal         string
		scale, written int
	}{
		"1":                     {"1", 0, 0},
		"10":                    {"10", 0, 0},
		"10.00":                 {"10", 0, 2},
		"1200.5":                {"1200.5", 1, 1},
		"1200.50":               {"1200.5", 1, 2},
		"0.01":                  {"0.01", 2, 2},
		"0.10":                  {"0.1", 1, 2},
		"1.250":                 {"1.25", 2, 3},
		"100":                   {"100", 0, 0},
		"0.000000000000000001":  {"0.000000000000000001", 18, 18},
		strings.Repeat("9", 64): {strings.Repeat("9", 64), 0, 0},
	} {
		t.Run(text, func(t *testing.T) {
			a, err := transfer.ParseAmount(text)
			if err != nil {
				t.Fatal(err)
			}
			if a.String() != text || a.Normal() != want.normal {
				t.Errorf("prints as %s, normally %s, want %s and %s", a, a.Normal(), text, want.normal)
			}
			if a.Scale() != want.scale || a.ScaleWritten() != want.written {
				t.Errorf("has %d decimals, %d written, want %d and %d", a.Scale(), a.ScaleWritten(), want.scale, want.written)
			}
			if a.IsZero() {
				t.Error("is the zero value")
			}
		})
	}
}

func TestAmountsThatAreRefusedSayWhatToWrite(t *testing.T) {
	for text, part := range map[string]string{
		"":                      "is empty",
		"-5":                    "a sign is not allowed",
		"+5":                    "a sign is not allowed",
		"−5":                    "not a decimal",
		"1e3":                   "an exponent is not allowed",
		"1E3":                   "an exponent is not allowed",
		"1,000.00":              "grouping is not allowed",
		"1_000":                 "grouping is not allowed",
		"1'000":                 "grouping is not allowed",
		"1 000":                 "space is not allowed",
		" 1":                    "space is not allowed",
		"1\t":                   "space is not allowed",
		"1\n":                   "line break is not allowed",
		"1\u00a0000":            "space of another kind",
		"１２":                    "digits of another script",
		"٣":                     "digits of another script",
		"0":                     "greater than zero",
		"0.00":                  "greater than zero",
		".5":                    "both sides",
		"5.":                    "both sides",
		".":                     "both sides",
		"1.2.3":                 "not a decimal",
		"05":                    `write "5"`,
		"00":                    `write "0"`,
		"00.5":                  `write "0.5"`,
		"0x10":                  "not a decimal",
		"NaN":                   "not a decimal",
		"Inf":                   "not a decimal",
		"$5":                    "not a decimal",
		"5\x00":                 "not a decimal",
		strings.Repeat("9", 65): "has 65 characters, more than 64",
		strings.Repeat("９", 30): "digits of another script",
	} {
		t.Run(text, func(t *testing.T) {
			a, err := transfer.ParseAmount(text)
			if err == nil {
				t.Fatalf("is read as %s", a)
			}
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q does not say %q", err, part)
			}
			if !a.IsZero() {
				t.Errorf("an error comes with amount %s", a)
			}
		})
	}
}

func TestMustAmountPanicsOnWhatIsNoAmount(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	transfer.MustAmount("-1")
}

func TestTheZeroAmountIsNoAmount(t *testing.T) {
	var a transfer.Amount
	if !a.IsZero() || a.String() != "" || !a.Decimal().IsZero() {
		t.Errorf("the zero value is %q, %s", a, a.Decimal())
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "0.00": "0.00", "-0.25": "-0.25", "0010.50": "10.50", "12345678901234567890123456.00000001": "12345678901234567890123456.00000001",
		"1e999999999": "", "1E5": "", "--1": "", "-": "", "": "", "+1": "", ".5": "0.5", "-.5": "-0.5", ".": "", "-.": "", "..5": "", "1.": "", "1,200.00": "", "NaN": "", "Inf": "", "0x10": "", " 1": "",
		"0." + strings.Repeat("0", 63): "",
	} {
		got, ok := transfer.ParseNumber(text)
		if ok != (want != "") || ok && transfer.Digits(got) != want {
			t.Errorf("ParseNumber(%q) = %v, %v; want %q", text, got, ok, want)
		}
	}
}

func TestSameNumber(t *testing.T) {
	type pair struct{ a, b string }
	for sentence, test := range map[string]struct {
		pair
		want bool
	}{
		"written alike":                   {pair{"10", "10"}, true},
		"with zeros that say nothing":     {pair{"10", "10.00000000"}, true},
		"with leading zeros":              {pair{"10", "0010.0"}, true},
		"zeros":                           {pair{"0", "0.00"}, true},
		"smaller than one":                {pair{"0.5", "0.50"}, true},
		"ten times as much":               {pair{"10", "100"}, false},
		"a tenth":                         {pair{"10", "1.0"}, false},
		"a unit of the last decimal more": {pair{"10.00", "10.01"}, false},
		"with a sign":                     {pair{"10", "-10"}, false},
		"with a plus":                     {pair{"10", "+10"}, false},
		"with an exponent":                {pair{"10", "1e1"}, false},
		"with grouping":                   {pair{"1000", "1,000"}, false},
		"nothing at all":                  {pair{"", ""}, false},
		"words that are alike":            {pair{"ten", "ten"}, false},
		"without digits before the point": {pair{"0.5", ".5"}, true},
		"longer than any amount":          {pair{"1", "1." + strings.Repeat("0", 63)}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := transfer.SameNumber(test.a, test.b); got != test.want {
				t.Errorf("SameNumber(%q, %q) = %v", test.a, test.b, got)
			}
			if got := transfer.SameNumber(test.b, test.a); got != test.want {
				t.Errorf("SameNumber(%q, %q) = %v", test.b, test.a, got)
			}
		})
	}
}

// amounts draws amounts, many of them close to each other.
func amounts() *rapid.Generator[transfer.Amount] {
	return rapid.Custom(func(t *rapid.T) transfer.Amount {
		text := rapid.StringMatching(`(0|[1-9][0-9]{0,3})(\.[0-9]{1,4})?`).Filter(func(s string) bool {
			return strings.Trim(s, "0.") != ""
		}).Draw(t, "amount")
		return transfer.MustAmount(text)
	})
}

func TestAmountsCompareAsTheDecimalsThatTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := amounts().Draw(t, "a"), amounts().Draw(t, "b")
		if rapid.Bool().Draw(t, "the same with more zeros") && a.ScaleWritten() > 0 {
			b = transfer.MustAmount(a.String() + "00")
		}
		want := decimal.RequireFromString(a.String()).Cmp(decimal.RequireFromString(b.String()))
		if got := a.Cmp(b); got != want {
			t.Fatalf("%s.Cmp(%s) = %d, want %d", a, b, got, want)
		}
		if got := a.Equal(b); got != (want == 0) {
			t.Fatalf("%s.Equal(%s) = %v", a, b, got)
		}
		if got := transfer.SameNumber(a.String(), b.String()); got != (want == 0) {
			t.Fatalf("SameNumber(%s, %s) = %v", a, b, got)
		}
		if n := transfer.MustAmount(a.Normal()); !n.Equal(a) || n.Normal() != n.String() {
			t.Fatalf("the normal form of %s is %s", a, n)
		}
	})
}

func FuzzAmount(f *testing.F) {
	for _, seed := range []string{"1", "0.10", "1e3", "-1", "01", ".", "１", "1\u00a0", strings.Repeat("1", 65)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := transfer.ParseAmount(text)
		if err != nil {
			return
		}
		if a.String() != text {
			t.Errorf("%q prints as %q", text, a)
		}
		if strings.Trim(text, "0123456789.") != "" || len(text) > 64 {
			t.Errorf("%q is no plain notation", text)
		}
		if d, err := decimal.NewFromString(text); err != nil || d.Sign() <= 0 || !d.Equal(a.Decimal()) {
			t.Errorf("%q is %s as an amount, %s as a decimal (%v)", text, a.Decimal(), d, err)
		}
		var again transfer.Amount
		raw, err := a.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalText(raw); err != nil || again != a {
			t.Errorf("%q comes back as %q (%v)", a, again, err)
		}
	})
}

func TestTotalsAreExactWhateverTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, first, second transfer.Totals
		want := map[string]decimal.Decimal{}
		list := rapid.SliceOf(amounts()).Draw(t, "amounts")
		for _, a := range list {
			asset := rapid.SampledFrom([]string{"USD", "EUR", "BTC"}).Draw(t, "asset")
			want[asset] = want[asset].Add(decimal.RequireFromString(a.String()))
			whole.Add(asset, a)
			if rapid.Bool().Draw(t, "in the first part") {
				first.Add(asset, a)
			} else {
				second.Add(asset, a)
			}
		}
		second.Merge(first)
		for _, totals := range []transfer.Totals{whole, second} {
			count, before := 0, ""
			for total := range totals.All() {
				if total.Asset <= before {
					t.Fatalf("%s comes after %s", total.Asset, before)
				}
				before, count = total.Asset, count+total.Count
				if !total.Sum.Equal(want[total.Asset]) || !totals.Sum(total.Asset).Equal(total.Sum) {
					t.Fatalf("%s sums to %s, want %s", total.Asset, total.Sum, want[total.Asset])
				}
			}
			if count != len(list) || totals.Count() != len(list) {
				t.Fatalf("count %d, of the assets %d, want %d", totals.Count(), count, len(list))
			}
		}
	})
}

// TestTotalsAreThoseOfDecimals adds and takes back amounts of any size and compares each sum,
// its exponent too, with one of decimals alone.
func TestTotalsAreThoseOfDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var totals, copied transfer.Totals
		want, count := decimal.Decimal{}, 0
		digits := rapid.SampledFrom([]string{
			`[1-9][0-9]{0,3}(\.[0-9]{1,4})?`, `[1-9][0-9]{14,20}(\.[0-9]{1,2})?`, `9{16,18}\.9`, `9{18}`, `0\.[0-9]{16,17}1`, `[1-9][0-9]{30}\.[0-9]{1,30}`,
		})
		var left []transfer.Amount
		for range rapid.IntRange(1, 40).Draw(t, "amounts") {
			a := transfer.MustAmount(rapid.StringMatching(digits.Draw(t, "digits")).Draw(t, "amount"))
			if exact := decimal.RequireFromString(a.String()); !a.Decimal().Equal(exact) || a.Decimal().Exponent() != exact.Exponent() {
				t.Fatalf("%s is %s", a, a.Decimal())
			}
			if len(left) > 1 && rapid.IntRange(0, 2).Draw(t, "take one back") == 0 {
				totals.Remove("USD", left[0])
				want, count = want.Sub(decimal.RequireFromString(left[0].String())), count-1
				left = left[1:]
			}
			totals.Add("USD", a)
			left = append(left, a)
			want, count = want.Add(decimal.RequireFromString(a.String())), count+1
			if got := totals.Sum("USD"); !got.Equal(want) || got.Exponent() != want.Exponent() || totals.Count() != count {
				t.Fatalf("%d sum to %s, want %d and %s", totals.Count(), got, count, want)
			}
		}
		for total := range totals.All() {
			copied.AddTotal(total)
		}
		if !copied.Sum("USD").Equal(want) || copied.Count() != count {
			t.Fatalf("restored are %d of %s, want %d of %s", copied.Count(), copied.Sum("USD"), count, want)
		}
	})
}

func TestWhatIsRemovedFromTotalsLeavesNothing(t *testing.T) {
	var totals transfer.Totals
	totals.Add("USD", transfer.MustAmount("80.10"))
	totals.Add("USD", transfer.MustAmount("0.20"))
	totals.Add("EUR", transfer.MustAmount("7"))
	totals.Remove("USD", transfer.MustAmount("80.10"))
	totals.Remove("EUR", transfer.MustAmount("7.00"))
	if got := slices.Collect(totals.All()); totals.Count() != 1 || len(got) != 1 || got[0].Asset != "USD" || got[0].Sum.String() != "0.2" {
		t.Errorf("%d transfers, %+v", totals.Count(), got)
	}
}

func TestTheZeroTotalsCountNothing(t *testing.T) {
	var totals transfer.Totals
	totals.Merge(transfer.Totals{})
	for total := range totals.All() {
		t.Errorf("there is a total of %s", total.Asset)
	}
	if totals.Count() != 0 || !totals.Sum("USD").IsZero() {
		t.Errorf("count %d, sum %s", totals.Count(), totals.Sum("USD"))
	}
}

func TestTenTimesATenthIsOne(t *testing.T) {
	var totals transfer.Totals
	for range 10 {
		totals.Add("USD", transfer.MustAmount("0.1"))
	}
	if got := totals.Sum("USD").String(); got != "1" {
		t.Errorf("the sum is %s", got)
	}
}

func TestParseRecorded(t *testing.T) {
	for text, want := range map[string]string{
		".50": "0.50", ".5": "0.5", "010.00": "10.00", "000": "", "0.5": "0.5", "8200.00": "8200.00", ".0": "", ".": "", "-.5": "", "1e3": "", "": "",
	} {
		if got, err := transfer.ParseRecorded(text); got.String() != want || (err == nil) != (want != "") {
			t.Errorf("ParseRecorded(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}
