package functions

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// rounding is where a number goes that lies between two neighbours.
type rounding string

const (
	halfUp   rounding = "half_up"   // the nearer; from the middle away from zero
	halfEven rounding = "half_even" // the nearer; from the middle to the even one
	halfDown rounding = "half_down" // the nearer; from the middle towards zero
	up       rounding = "up"        // away from zero
	down     rounding = "down"      // towards zero
	ceiling  rounding = "ceiling"   // towards the greater
	floor    rounding = "floor"     // towards the smaller
)

func roundings() []rounding {
	return []rounding{halfUp, halfEven, halfDown, up, down, ceiling, floor}
}

func roundingNames() string {
	names := make([]string, 0, len(roundings()))
	for _, mode := range roundings() {
		names = append(names, string(mode))
	}
	return strings.Join(names, ", ")
}

func parseRounding(name string) (rounding, error) {
	for _, mode := range roundings() {
		if name == string(mode) {
			return mode, nil
		}
	}
	return "", fmt.Errorf("%s is no rounding; one of these is needed: %s", clip(name), roundingNames())
}

// roundedFunction takes one or two quoted decimals, a scale and a rounding: the quotient of
// the two, or the one.
func roundedFunction(names ...string) function.Function {
	n := len(names)
	return function.New(&function.Spec{
		Params: append(decimalParameters(names), parameter("scale", cty.Number), parameter("rounding", cty.String)),
		Type: func(args []cty.Value) (cty.Type, error) {
			for i, arg := range args[:n] {
				if err := checkQuoted(arg); err != nil {
					return cty.NilType, function.NewArgError(i, err)
				}
			}
			return cty.String, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			decimals, err := parseAll(args[:n])
			if err != nil {
				return cty.NilVal, err
			}
			scale, err := whole(args[n], scaleMax)
			if err != nil {
				return cty.NilVal, function.NewArgError(n, err)
			}
			mode, err := parseRounding(args[n+1].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(n+1, err)
			}
			divisor := decimal.New(1, 0)
			if n == 2 {
				divisor = decimals[1]
			}
			if divisor.IsZero() {
				return cty.NilVal, function.NewArgErrorf(1, "division by zero")
			}
			return decimalValue(divide(decimals[0], divisor, int32(scale), mode))
		},
	})
}

// divide returns a/b with exactly scale decimals.
func divide(a, b decimal.Decimal, scale int32, mode rounding) decimal.Decimal {
	quotient, remainder := a.QuoRem(b, scale)
	if remainder.IsZero() {
		return quotient
	}
	unit := decimal.New(1, -scale)
	middle := remainder.Abs().Mul(decimal.New(2, 0)).Cmp(b.Abs().Mul(unit))
	negative := a.Sign() != b.Sign()
	if away(mode, middle, negative, quotient.Shift(scale).BigInt().Bit(0) == 1) {
		if negative {
			unit = unit.Neg()
		}
		return quotient.Add(unit)
	}
	return quotient
}

// away reports whether a truncated number that was not exact goes one unit away from zero.
// middle is -1, 0 or 1: the part that was cut off is less than, exactly or more than half a unit.
func away(mode rounding, middle int, negative, odd bool) bool {
	switch mode {
	case halfUp:
		return middle >= 0
	case halfEven:
		return middle > 0 || middle == 0 && odd
	case halfDown:
		return middle > 0
	case up:
		return true
	case down:
		return false
	case ceiling:
		return !negative
	case floor:
		return negative
	default:
		panic(fmt.Sprintf("unknown rounding %q", mode))
	}
}
