package functions_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"remit/config/functions"
	"remit/internal/proof/suite"
)

func TestAllocate(t *testing.T) {
	results{
		`allocate("100.00", ["1", "1", "1"], 2)`:                    `["33.34", "33.33", "33.33"]`,
		`allocate("0.05", ["1", "1", "1"], 2)`:                      `["0.02", "0.02", "0.01"]`,
		`allocate("100", ["70", "20", "10"], 0)`:                    `["70", "20", "10"]`,
		`allocate("10", ["0.5", "0.25", "0.25"], 2)`:                `["5.00", "2.50", "2.50"]`,
		`allocate("0.01", ["1", "2"], 2)`:                           `["0.00", "0.01"]`,
		`allocate("0.01", ["0", "1", "1"], 2)`:                      `["0.00", "0.01", "0.00"]`,
		`allocate("0", ["1", "2"], 2)`:                              `["0.00", "0.00"]`,
		`allocate("10.000", ["1"], 2)`:                              `["10.00"]`,
		`allocate("1.00", {b = "1", a = "1", c = "1"}, 2)`:          `{"a": "0.34", "b": "0.33", "c": "0.33"}`,
		`allocate("1.00", tomap({b = "1", a = "2"}), 2)`:            `{"a": "0.67", "b": "0.33"}`,
		`allocate("1.00", [1, 2], 2)`:                               `["0.33", "0.67"]`,
		`allocate("1.00", tolist([1, 2]), 2)`:                       `["0.33", "0.67"]`,
		`allocate("1.00", {a = 3, b = "1.5"}, 2)`:                   `{"a": "0.67", "b": "0.33"}`,
		`allocate("1.00", [for i in range(3) : i + 1], 2)`:          `["0.17", "0.33", "0.50"]`,
		`allocate("1", tolist(["1"]), 18)`:                          `["1.000000000000000000"]`,
		`decimal_sum(allocate("412850.22", ["33", "33", "34"], 2))`: `"412850.22"`,
	}.run(t, nil)
	failures{
		`allocate("1.005", ["1"], 2)`:       "more than the 2 decimals",
		`allocate("-1", ["1"], 2)`:          "negative",
		`allocate(100, ["1"], 2)`:           `write "100"`,
		`allocate("100", [0.5], 2)`:         `element 0: 0.5 is a number without quotes`,
		`allocate("100", [10 / 3], 2)`:      `is a number without quotes`,
		`allocate("100", [-1, 2], 2)`:       "element 0 is negative",
		`allocate("100", [0, 0], 2)`:        "greater than zero",
		`allocate("100", [1e1000], 2)`:      "1000 digits",
		`allocate("100", [1e4000], 2)`:      "without quotes",
		`allocate("100", {a = 0.5}, 2)`:     `weight "a": 0.5 is a number without quotes`,
		`allocate("100", ["1", "-1"], 2)`:   "element 1 is negative",
		`allocate("100", ["0", "0.0"], 2)`:  "greater than zero",
		`allocate("100", [], 2)`:            "greater than zero",
		`allocate("100", {}, 2)`:            "greater than zero",
		`allocate("100", [null], 2)`:        "is null",
		`allocate("100", {a = nothing}, 2)`: `weight "a": is null`,
		`allocate("100", toset(["1"]), 2)`:  "equal weights only once",
		`allocate("100", "1", 2)`:           "list or map",
		`allocate("100", ["1"], 37)`:        "0 to 36",
		`allocate("100", ["1"], 0.5)`:       "0 to 36",
		`allocate("x", ["1"], 2)`:           "not a decimal",
	}.run(t, nil)
}

// allocation draws arguments that allocate accepts.
func allocation(t *rapid.T) (total string, weights []cty.Value, scale int64) {
	scale = rapid.Int64Range(0, 18).Draw(t, "scale")
	total = rapid.StringMatching(`0|[1-9][0-9]{0,19}`).Draw(t, "total")
	if scale > 0 && rapid.Bool().Draw(t, "fraction") {
		total += "." + rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), 1, int(scale), -1).Draw(t, "decimals")
	}
	// The first weight is positive, so that not all are zero.
	texts := append([]string{rapid.StringMatching(`[1-9][0-9]{0,9}`).Draw(t, "first")},
		rapid.SliceOfN(rapid.StringMatching(`(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?`), 0, 12).Draw(t, "weights")...)
	for _, w := range texts {
		weights = append(weights, cty.StringVal(w))
	}
	return total, weights, scale
}

func TestPartsOfAnAllocationSumToItsTotalAndAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, weights, scale := allocation(t)
		args := []cty.Value{cty.StringVal(total), cty.TupleVal(weights), cty.NumberIntVal(scale)}
		parts := call(t, "allocate", args...)
		if sum := call(t, "decimal_sum", parts).AsString(); rational(sum).Cmp(rational(total)) != 0 {
			t.Fatalf("the parts sum to %s, not to %s", sum, total)
		}
		all := new(big.Rat)
		for _, w := range weights {
			all.Add(all, rational(w.AsString()))
		}
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil))
		for i, part := range parts.AsValueSlice() {
			weight := rational(weights[i].AsString())
			exact := new(big.Rat).Mul(rational(total), new(big.Rat).Quo(weight, all))
			off := new(big.Rat).Sub(rational(part.AsString()), exact)
			if off.Abs(off).Cmp(unit) >= 0 {
				t.Fatalf("part %d is %s, a unit or more from %s", i, part.AsString(), exact.FloatString(20))
			}
			if weight.Sign() == 0 && rational(part.AsString()).Sign() != 0 {
				t.Fatalf("part %d has no weight and gets %s", i, part.AsString())
			}
		}
		if again := call(t, "allocate", args...); !again.RawEquals(parts) {
			t.Fatalf("allocated again: %#v", again)
		}
	})
}

func TestALargerWeightNeverGetsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, weights, scale := allocation(t)
		parts := call(t, "allocate", cty.StringVal(total), cty.TupleVal(weights), cty.NumberIntVal(scale)).AsValueSlice()
		for i := range parts {
			for j := range parts {
				heavier := rational(weights[i].AsString()).Cmp(rational(weights[j].AsString()))
				more := rational(parts[i].AsString()).Cmp(rational(parts[j].AsString()))
				if heavier > 0 && more < 0 || heavier == 0 && i < j && more < 0 {
					t.Fatalf("weight %s gets %s, weight %s gets %s",
						weights[i].AsString(), parts[i].AsString(), weights[j].AsString(), parts[j].AsString())
				}
			}
		}
	})
}

// TestAMillionRandomSplitsSumExactly splits amounts of up to a thousand billion cents among
// one to twelve shares.
func TestAMillionRandomSplitsSumExactly(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	random := rand.New(rand.NewPCG(4217, 12022))
	sum, weights := new(big.Int), make([]*big.Int, 0, 12)
	for range 1_000_000 {
		units, positive := big.NewInt(random.Int64N(1e14)), false
		weights = weights[:0]
		for range 1 + random.IntN(12) {
			weight := random.Int64N(1 << random.IntN(40))
			weights, positive = append(weights, big.NewInt(weight)), positive || weight > 0
		}
		if !positive {
			weights[0] = big.NewInt(1)
		}
		sum.SetInt64(0)
		for i, part := range functions.Allocate(units, weights) {
			if part.Sign() < 0 || part.Sign() > 0 && weights[i].Sign() == 0 {
				t.Fatalf("%s by %s: part %d is %s", units, weights, i, part)
			}
			sum.Add(sum, part)
		}
		if sum.Cmp(units) != 0 {
			t.Fatalf("%s by %s: the parts sum to %s", units, weights, sum)
		}
	}
}

func TestEqualWeightsDifferByAtMostAUnitWithTheLargerPartsFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.Int64Range(0, 1_000_000).Draw(t, "units")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		weights := make([]cty.Value, n)
		for i := range weights {
			weights[i] = cty.StringVal("1")
		}
		parts := call(t, "allocate", cty.StringVal(big.NewInt(units).String()), cty.ListVal(weights), cty.Zero)
		for i, part := range parts.AsValueSlice() {
			want := units / int64(n)
			if int64(i) < units%int64(n) {
				want++
			}
			if part.AsString() != big.NewInt(want).String() {
				t.Fatalf("part %d of %d is %s, want %d", i, n, part.AsString(), want)
			}
		}
	})
}

func TestAMapIsAllocatedLikeTheListOfItsValuesInKeyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, weights, scale := allocation(t)
		named := make(map[string]cty.Value)
		for i, w := range weights {
			named[string(rune('a'+i))] = w
		}
		list := call(t, "allocate", cty.StringVal(total), cty.TupleVal(weights), cty.NumberIntVal(scale))
		object := call(t, "allocate", cty.StringVal(total), cty.ObjectVal(named), cty.NumberIntVal(scale))
		values := call(t, "values", object)
		if !values.RawEquals(list) {
			t.Fatalf("list %#v, map %#v", list, object)
		}
	})
}

func TestAllocateNeverPanicsOnHugeScales(t *testing.T) {
	value, err := functions.Table(nil)["allocate"].Call([]cty.Value{
		cty.StringVal("99999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999"),
		cty.TupleVal([]cty.Value{cty.StringVal("1")}), cty.NumberIntVal(36),
	})
	if err == nil {
		t.Errorf("a part of %d characters was returned", len(value.AsValueSlice()[0].AsString()))
	}
}
