package functions

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// digitsMax and scaleMax bound every decimal that goes in or comes out.
const (
	digitsMax = 100
	scaleMax  = 36
)

func decimalFunctions() map[string]entry {
	two := []string{"a", "b"}
	return map[string]entry{
		"allocate":    {allocateFunction(), "A quoted total split by weights into parts that sum to it exactly: a list for a list of weights, a map for a map."},
		"decimal_add": {arithmetic(decimal.Decimal.Add), "The exact sum of two quoted decimals, with the decimals of the longer one."},
		"decimal_cmp": {decimalFunction(cty.Number, two, func(d []decimal.Decimal) (cty.Value, error) {
			return cty.NumberIntVal(int64(d[0].Cmp(d[1]))), nil
		}), "-1, 0 or 1: whether quoted decimal a is less than, equal to or greater than b."},
		"decimal_div":   {roundedFunction("a", "b"), "Quoted decimal a divided by b, to scale decimals, rounded as named: " + roundingNames() + "."},
		"decimal_mul":   {arithmetic(decimal.Decimal.Mul), "The exact product of two quoted decimals, with the decimals of both."},
		"decimal_round": {roundedFunction("a"), "Quoted decimal a with scale decimals, rounded as named: " + roundingNames() + "."},
		"decimal_sub":   {arithmetic(decimal.Decimal.Sub), "Quoted decimal a less b, exact, with the decimals of the longer one."},
		"decimal_sum":   {decimalSumFunction(), "The exact sum of a list of quoted decimals, with the decimals of the longest one; \"0\" for an empty list."},
	}
}

func arithmetic(operation func(a, b decimal.Decimal) decimal.Decimal) function.Function {
	return decimalFunction(cty.String, []string{"a", "b"}, func(d []decimal.Decimal) (cty.Value, error) {
		return decimalValue(operation(d[0], d[1]))
	})
}

// decimalFunction is a function of quoted decimals alone.
func decimalFunction(result cty.Type, names []string, implementation func([]decimal.Decimal) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params: decimalParameters(names),
		Type: func(args []cty.Value) (cty.Type, error) {
			for i, arg := range args {
				if err := checkQuoted(arg); err != nil {
					return cty.NilType, function.NewArgError(i, err)
				}
			}
			return result, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			decimals, err := parseAll(args)
			if err != nil {
				return cty.NilVal, err
			}
			return implementation(decimals)
		},
	})
}

// decimalParameters take any type, so that the language does not turn a number into a
// string before it can be refused.
func decimalParameters(names []string) []function.Parameter {
	params := make([]function.Parameter, len(names))
	for i, name := range names {
		params[i] = parameter(name, cty.DynamicPseudoType)
	}
	return params
}

// checkQuoted says why a value is no quoted decimal, as far as its type goes.
func checkQuoted(value cty.Value) error {
	switch ty := value.Type(); {
	case ty == cty.String || ty == cty.DynamicPseudoType:
		return nil
	case ty != cty.Number:
		return fmt.Errorf("a decimal in quotes is needed, such as \"10.50\", not %s", ty.FriendlyName())
	case value.IsNull() || !value.IsKnown() || checkWritable(value) != nil:
		return errors.New("this is a number without quotes, which is not exact; a decimal is written in quotes, such as \"10.50\"")
	default:
		text := value.AsBigFloat().Text('f', -1)
		return fmt.Errorf("%s is a number without quotes, which is not exact; write \"%s\"", text, text)
	}
}

func parseAll(args []cty.Value) ([]decimal.Decimal, error) {
	decimals := make([]decimal.Decimal, len(args))
	for i, arg := range args {
		parsed, err := parseDecimal(arg.AsString())
		if err != nil {
			return nil, function.NewArgError(i, err)
		}
		decimals[i] = parsed
	}
	return decimals, nil
}

// parseDecimal reads plain notation: digits, with a fraction or without, and with '-' or
// without. The exponent of the result is minus the decimals that were written.
func parseDecimal(text string) (decimal.Decimal, error) {
	unsigned := strings.TrimPrefix(text, "-")
	integer, fraction, point := strings.Cut(unsigned, ".")
	switch all := integer + fraction; {
	case digits(all) != len(all) || integer == "" || point && fraction == "":
		return decimal.Decimal{}, fmt.Errorf("%s is not a decimal; write digits such as \"1200.50\", without exponent, grouping and space", clip(text))
	case len(integer) > 1 && integer[0] == '0':
		return decimal.Decimal{}, fmt.Errorf("%s has leading zeros, which are not allowed", clip(text))
	case len(all) > digitsMax:
		return decimal.Decimal{}, fmt.Errorf("%s has %d digits, more than %d", clip(text), len(all), digitsMax)
	case len(fraction) > scaleMax:
		return decimal.Decimal{}, fmt.Errorf("%s has %d decimals, more than %d", clip(text), len(fraction), scaleMax)
	default:
		coefficient, ok := new(big.Int).SetString(all, 10)
		if !ok {
			panic(fmt.Sprintf("%d digits are no integer", len(all)))
		}
		if unsigned != text {
			coefficient.Neg(coefficient)
		}
		return decimal.NewFromBigInt(coefficient, -int32(len(fraction))), nil
	}
}

// clip quotes text for an error, short enough to read.
func clip(text string) string {
	const clipped = 40
	if runes := []rune(text); len(runes) > clipped {
		text = string(runes[:clipped]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// decimalValue writes a decimal out with all the decimals that it has, zeros included.
func decimalValue(d decimal.Decimal) (cty.Value, error) {
	scale := max(0, -d.Exponent())
	text := d.StringFixed(scale)
	if n := len(strings.Trim(strings.Replace(text, ".", "", 1), "-")); n > digitsMax || scale > scaleMax {
		return cty.NilVal, fmt.Errorf("the result has %d digits, %d of them decimals; at most %d and %d are allowed, so round its parts first", n, scale, digitsMax, scaleMax)
	}
	return cty.StringVal(text), nil
}

func decimalSumFunction() function.Function {
	return function.New(&function.Spec{
		Params: decimalParameters([]string{"list"}),
		Type: func(args []cty.Value) (cty.Type, error) {
			return cty.String, checkQuotedList(args[0])
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(cty.String), nil
			}
			sum := decimal.Zero
			for i, element := range args[0].AsValueSlice() {
				d, err := parseElement(element)
				if err != nil {
					return cty.NilVal, function.NewArgErrorf(0, "element %d: %w", i, err)
				}
				sum = sum.Add(d)
			}
			return decimalValue(sum)
		},
	})
}

func parseElement(element cty.Value) (decimal.Decimal, error) {
	if err := checkQuoted(element); err != nil {
		return decimal.Decimal{}, err
	}
	if element.IsNull() {
		return decimal.Decimal{}, errors.New("is null")
	}
	return parseDecimal(element.AsString())
}

// checkQuotedList says why a value is no list of quoted decimals. Sets are refused, because equal
// amounts would be counted once.
func checkQuotedList(list cty.Value) error {
	switch ty := list.Type(); {
	case ty.IsSetType():
		return function.NewArgErrorf(0, "a set has equal amounts only once, so its sum would be wrong; a list is needed")
	case ty.IsListType() || ty.IsTupleType():
		return nil
	case ty.IsMapType() || ty.IsObjectType():
		return function.NewArgErrorf(0, "a list is needed, not a map; values(…) makes one of it")
	default:
		return function.NewArgErrorf(0, "a list of decimals in quotes is needed, not %s", ty.FriendlyName())
	}
}
