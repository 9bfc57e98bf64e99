package functions

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/shopspring/decimal"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func allocateFunction() function.Function {
	return function.New(&function.Spec{
		Params: append(decimalParameters([]string{"total", "weights"}), parameter("scale", cty.Number)),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := checkQuoted(args[0]); err != nil {
				return cty.NilType, function.NewArgError(0, err)
			}
			switch ty := args[1].Type(); {
			case ty.IsListType() || ty.IsTupleType():
				return cty.List(cty.String), nil
			case ty.IsMapType() || ty.IsObjectType():
				return cty.Map(cty.String), nil
			case ty.IsSetType():
				return cty.NilType, function.NewArgErrorf(1, "a set has equal weights only once; a list or a map is needed")
			default:
				return cty.NilType, function.NewArgErrorf(1, "a list or map of weights in quotes is needed, not %s", ty.FriendlyName())
			}
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			if !args[1].IsWhollyKnown() {
				return cty.UnknownVal(ty), nil
			}
			scale, err := whole(args[2], scaleMax)
			if err != nil {
				return cty.NilVal, function.NewArgError(2, err)
			}
			units, err := parseUnits(args[0].AsString(), int32(scale))
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			keys, weights, err := parseWeights(args[1])
			if err != nil {
				return cty.NilVal, function.NewArgError(1, err)
			}
			return parts(ty, keys, allocate(units, weights), int32(scale))
		},
	})
}

// parseUnits reads a total as a count of units of 10^-scale.
func parseUnits(text string, scale int32) (*big.Int, error) {
	total, err := parseDecimal(text)
	if err != nil {
		return nil, err
	}
	if total.Sign() < 0 {
		return nil, fmt.Errorf("%s is negative; the amounts of transfers are not", clip(text))
	}
	units := total.Shift(scale)
	if !units.IsInteger() {
		return nil, fmt.Errorf("%s has more than the %d decimals that its parts may have", clip(text), scale)
	}
	return units.BigInt(), nil
}

// parseWeights returns the keys of a map in their order, or the indexes of a list, and the
// weights as whole numbers in the same proportion.
func parseWeights(value cty.Value) (keys []cty.Value, weights []*big.Int, err error) {
	var decimals []decimal.Decimal
	scale, positive := int32(0), false
	for key, element := range value.Elements() {
		name := fmt.Sprintf("element %d", len(keys))
		if key.Type() == cty.String {
			name = "weight " + clip(key.AsString())
		}
		d, err := parseWeight(element)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		case d.Sign() < 0:
			return nil, nil, fmt.Errorf("%s is negative", name)
		}
		keys, decimals = append(keys, key), append(decimals, d)
		scale, positive = max(scale, -d.Exponent()), positive || d.Sign() > 0
	}
	if !positive {
		return nil, nil, errors.New("at least one weight must be greater than zero")
	}
	for _, d := range decimals {
		weights = append(weights, d.Shift(scale).BigInt())
	}
	return keys, weights, nil
}

// parseWeight reads a weight: a decimal in quotes, or a whole number, which is exact
// without them.
func parseWeight(value cty.Value) (decimal.Decimal, error) {
	if value.Type() != cty.Number || value.IsNull() || !value.AsBigFloat().IsInt() || checkWritable(value) != nil {
		return parseElement(value)
	}
	return parseDecimal(value.AsBigFloat().Text('f', 0))
}

// allocate splits units by weights, of which at least one is positive and none negative.
// The parts sum to units, and each is its exact share rounded down or up: the units that
// rounding down leaves over go, one each, to the largest remainders, of equal ones to the
// earlier. There are fewer left over than shares with a remainder, so a weight of zero
// gets nothing.
func allocate(units *big.Int, weights []*big.Int) []*big.Int {
	whole := new(big.Int)
	for _, w := range weights {
		whole.Add(whole, w)
	}
	shares := make([]*big.Int, len(weights))
	remainders := make([]*big.Int, len(weights))
	order := make([]int, len(weights))
	left := new(big.Int).Set(units)
	for i, w := range weights {
		shares[i], remainders[i] = new(big.Int).QuoRem(new(big.Int).Mul(units, w), whole, new(big.Int))
		left.Sub(left, shares[i])
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(remainders[j].Cmp(remainders[i]), cmp.Compare(i, j))
	})
	for _, i := range order[:left.Int64()] {
		shares[i].Add(shares[i], big.NewInt(1))
	}
	return shares
}

// parts writes shares out in the shape of their weights.
func parts(ty cty.Type, keys []cty.Value, shares []*big.Int, scale int32) (cty.Value, error) {
	list := make([]cty.Value, len(shares))
	named := make(map[string]cty.Value, len(shares))
	for i, share := range shares {
		part, err := decimalValue(decimal.NewFromBigInt(share, -scale))
		if err != nil {
			return cty.NilVal, err
		}
		list[i] = part
		if ty.IsMapType() {
			named[keys[i].AsString()] = part
		}
	}
	if ty.IsMapType() {
		return cty.MapVal(named), nil
	}
	return cty.ListVal(list), nil
}
