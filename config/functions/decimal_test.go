package functions_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"remit/config/functions"
)

func TestDecimals(t *testing.T) {
	results{
		`decimal_add("10.00", "0.50")`:                                `"10.50"`,
		`decimal_add("1", "0.125")`:                                   `"1.125"`,
		`decimal_add("-0.10", "0.1")`:                                 `"0.00"`,
		`decimal_add("-0", "0")`:                                      `"0"`,
		`decimal_sub("1.00", "2")`:                                    `"-1.00"`,
		`decimal_mul("1.50", "0.2")`:                                  `"0.300"`,
		`decimal_mul("-3", "0.00")`:                                   `"0.00"`,
		`decimal_div("10", "4", 2, "half_up")`:                        `"2.50"`,
		`decimal_div("1", "3", 4, "down")`:                            `"0.3333"`,
		`decimal_div("2", "3", 0, "half_even")`:                       `"1"`,
		`decimal_div("0", "3", 2, "up")`:                              `"0.00"`,
		`decimal_div("1", "300", 2, "half_up")`:                       `"0.00"`,
		`decimal_div("-1", "300", 2, "up")`:                           `"-0.01"`,
		`decimal_div("1", "0.003", 1, "floor")`:                       `"333.3"`,
		`decimal_round("1.005", 2, "half_up")`:                        `"1.01"`,
		`decimal_round("1.5", 4, "down")`:                             `"1.5000"`,
		`decimal_round("7", 2, "down")`:                               `"7.00"`,
		`decimal_sum([])`:                                             `"0"`,
		`decimal_sum(["1.5", "2.25", "-3"])`:                          `"0.75"`,
		`decimal_sum(tolist(["0.1", "0.2"]))`:                         `"0.3"`,
		`decimal_sum([for i in range(10) : "0.1"])`:                   `"1.0"`,
		`decimal_cmp(decimal_sum([for i in range(10) : "0.1"]), "1")`: `0`,
		`decimal_cmp("10", "10.00000000")`:                            `0`,
		`decimal_cmp("-1", "0.5")`:                                    `-1`,
		`decimal_cmp("2", "10")`:                                      `-1`,
		`decimal_cmp("0.2", "0.10")`:                                  `1`,
		`decimal_cmp("-0", "0")`:                                      `0`,
	}.run(t, nil)
}

func TestRoundings(t *testing.T) {
	// The columns are the table of rounding modes that java.math.RoundingMode documents.
	inputs := []string{"5.5", "2.5", "1.6", "1.1", "1.0", "-1.0", "-1.1", "-1.6", "-2.5", "-5.5"}
	for mode, want := range map[string]string{
		"up":        "6 3 2 2 1 -1 -2 -2 -3 -6",
		"down":      "5 2 1 1 1 -1 -1 -1 -2 -5",
		"ceiling":   "6 3 2 2 1 -1 -1 -1 -2 -5",
		"floor":     "5 2 1 1 1 -1 -2 -2 -3 -6",
		"half_up":   "6 3 2 1 1 -1 -1 -2 -3 -6",
		"half_down": "5 2 2 1 1 -1 -1 -2 -2 -5",
		"half_even": "6 2 2 1 1 -1 -1 -2 -2 -6",
	} {
		t.Run(mode, func(t *testing.T) {
			for i, w := range strings.Fields(want) {
				got, err := evaluate(t, nil, fmt.Sprintf(`decimal_round(%q, 0, %q)`, inputs[i], mode))
				if err != nil {
					t.Fatal(err)
				}
				if got.AsString() != w {
					t.Errorf("%s becomes %s, want %s", inputs[i], got.AsString(), w)
				}
			}
		})
	}
}

func TestDecimalMistakes(t *testing.T) {
	nines := strings.Repeat("9", 100)
	failures{
		`decimal_add(0.1, "1")`:                                   `write "0.1"`,
		`decimal_add("1", 1200.50)`:                               `write "1200.5"`,
		`decimal_add(1e999, "1")`:                                 `without quotes`,
		`decimal_add(true, "1")`:                                  `not bool`,
		`decimal_add([], "1")`:                                    `not tuple`,
		`decimal_add(null, "1")`:                                  `null`,
		`decimal_add(nothing, "1")`:                               `null`,
		`decimal_add("", "1")`:                                    `not a decimal`,
		`decimal_add("-", "1")`:                                   `not a decimal`,
		`decimal_add("--1", "1")`:                                 `not a decimal`,
		`decimal_add("+1", "1")`:                                  `not a decimal`,
		`decimal_add("1e3", "1")`:                                 `not a decimal`,
		`decimal_add("1,000", "1")`:                               `not a decimal`,
		`decimal_add(".5", "1")`:                                  `not a decimal`,
		`decimal_add("5.", "1")`:                                  `not a decimal`,
		`decimal_add("1.2.3", "1")`:                               `not a decimal`,
		`decimal_add(" 1", "1")`:                                  `not a decimal`,
		`decimal_add("1\u00a0", "1")`:                             `not a decimal`,
		`decimal_add("１", "1")`:                                   `not a decimal`,
		`decimal_add("Infinity", "1")`:                            `not a decimal`,
		`decimal_add("0x10", "1")`:                                `not a decimal`,
		`decimal_add("05", "1")`:                                  `leading zeros`,
		`decimal_add("-00", "1")`:                                 `leading zeros`,
		`decimal_add("9` + nines + `", "1")`:                      `more than 100`,
		`decimal_add("` + nines + `", "1")`:                       `101 digits`,
		`decimal_mul("` + nines + `", "10")`:                      `at most 100`,
		`decimal_add("0.` + strings.Repeat("1", 37) + `", "1")`:   `37 decimals`,
		`decimal_mul("0.` + strings.Repeat("1", 36) + `", "0.1")`: `at most 100 and 36`,
		`decimal_div("1", "0.00", 2, "up")`:                       `division by zero`,
		`decimal_div("1", "3", 37, "up")`:                         `0 to 36`,
		`decimal_div("1", "3", -1, "up")`:                         `0 to 36`,
		`decimal_div("1", "3", 1.5, "up")`:                        `0 to 36`,
		`decimal_div("1", "3", 1, "bankers")`:                     `half_up, half_even, half_down, up, down, ceiling, floor`,
		`decimal_round("1", 1, "HALF_UP")`:                        `one of these is needed`,
		`decimal_round(1.5, 1, "up")`:                             `write "1.5"`,
		`decimal_sum(["1", 2.5])`:                                 `element 1: 2.5 is a number without quotes`,
		`decimal_sum(["1", null])`:                                `element 1: is null`,
		`decimal_sum(["1", nothing])`:                             `element 1: is null`,
		`decimal_sum(["x"])`:                                      `element 0`,
		`decimal_sum(toset(["1", "1"]))`:                          `only once`,
		`decimal_sum({a = "1"})`:                                  `values(`,
		`decimal_sum("1")`:                                        `a list of decimals`,
		`decimal_cmp("1", 1)`:                                     `write "1"`,
	}.run(t, nil)
}

// call is a function's result as text; the arguments must be right.
func call(t interface{ Fatal(...any) }, name string, args ...cty.Value) cty.Value {
	value, err := functions.Table(nil)[name].Call(args)
	if err != nil {
		t.Fatal(name, args, err)
	}
	return value
}

// decimalText draws a decimal with at most 40 digits.
func decimalText() *rapid.Generator[string] {
	return rapid.StringMatching(`-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?`)
}

// rational is the exact value of a decimal, computed by other means.
func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func TestArithmeticIsThatOfRationalNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimalText().Draw(t, "a"), decimalText().Draw(t, "b")
		for name, operation := range map[string]func(z, x, y *big.Rat) *big.Rat{
			"decimal_add": (*big.Rat).Add, "decimal_sub": (*big.Rat).Sub, "decimal_mul": (*big.Rat).Mul,
		} {
			got := call(t, name, cty.StringVal(a), cty.StringVal(b)).AsString()
			if want := operation(new(big.Rat), rational(a), rational(b)); rational(got).Cmp(want) != 0 {
				t.Fatalf("%s(%s, %s) = %s, want %s", name, a, b, got, want)
			}
			if strings.HasPrefix(got, "-") && rational(got).Sign() == 0 {
				t.Fatalf("%s(%s, %s) = %s, a negative zero", name, a, b, got)
			}
		}
		cmp, _ := call(t, "decimal_cmp", cty.StringVal(a), cty.StringVal(b)).AsBigFloat().Int64()
		if want := rational(a).Cmp(rational(b)); int(cmp) != want {
			t.Fatalf("decimal_cmp(%s, %s) = %d, want %d", a, b, cmp, want)
		}
	})
}

func TestADivisionIsOffByLessThanAUnitInTheNamedDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimalText().Draw(t, "a"), decimalText().Draw(t, "b")
		if rational(b).Sign() == 0 {
			t.Skip("division by zero")
		}
		scale := rapid.IntRange(0, 36).Draw(t, "scale")
		mode := rapid.SampledFrom([]string{"half_up", "half_even", "half_down", "up", "down", "ceiling", "floor"}).Draw(t, "mode")
		text := call(t, "decimal_div", cty.StringVal(a), cty.StringVal(b), cty.NumberIntVal(int64(scale)), cty.StringVal(mode)).AsString()
		got, exact := rational(text), new(big.Rat).Quo(rational(a), rational(b))
		off := new(big.Rat).Sub(got, exact)
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		half := new(big.Rat).Mul(unit, big.NewRat(1, 2))
		size := new(big.Rat).Abs(off)
		holds := map[string]bool{
			"half_up":   size.Cmp(half) <= 0,
			"half_even": size.Cmp(half) <= 0,
			"half_down": size.Cmp(half) <= 0,
			"up":        size.Cmp(unit) < 0 && off.Sign()*exact.Sign() >= 0,
			"down":      size.Cmp(unit) < 0 && off.Sign()*exact.Sign() <= 0,
			"ceiling":   size.Cmp(unit) < 0 && off.Sign() >= 0,
			"floor":     size.Cmp(unit) < 0 && off.Sign() <= 0,
		}
		if !holds[mode] {
			t.Fatalf("decimal_div(%s, %s, %d, %s) = %s", a, b, scale, mode, text)
		}
		_, fraction, _ := strings.Cut(text, ".")
		if len(fraction) != scale {
			t.Fatalf("%s has not %d decimals", text, scale)
		}
	})
}

func FuzzDecimals(f *testing.F) {
	for _, seed := range []string{"1.50", "-0", "1e3", "", ".", "-", "0x1", "1_0", "１", strings.Repeat("9", 101)} {
		f.Add(seed)
	}
	table := functions.Table(nil)
	f.Fuzz(func(t *testing.T, text string) {
		value, err := table["decimal_add"].Call([]cty.Value{cty.StringVal(text), cty.StringVal("0")})
		if err != nil {
			return
		}
		if got, want := value.AsString(), rational(text); rational(got).Cmp(want) != 0 {
			t.Errorf("%q is read as %s", text, got)
		}
		if strings.ContainsAny(text, "eE+_xX ") {
			t.Errorf("%q is no plain notation, and was read", text)
		}
	})
}
