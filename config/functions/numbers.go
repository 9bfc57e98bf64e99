package functions

import (
	"errors"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func numberFunctions() map[string]entry {
	return map[string]entry{
		"abs":      {stdlib.AbsoluteFunc, "The number without its sign."},
		"ceil":     {stdlib.CeilFunc, "The smallest whole number that is not less than the argument."},
		"floor":    {stdlib.FloorFunc, "The largest whole number that is not greater than the argument."},
		"log":      {stdlib.LogFunc, "The logarithm of a number in a base. Not exact: not for amounts."},
		"max":      {stdlib.MaxFunc, "The greatest of the numbers."},
		"min":      {stdlib.MinFunc, "The smallest of the numbers."},
		"parseint": {stdlib.ParseIntFunc, "The whole number that a string writes in a base from 2 to 62."},
		"pow":      {stdlib.PowFunc, "A number raised to a power. Not exact: not for amounts."},
		"signum":   {stdlib.SignumFunc, "-1, 0 or 1: the sign of a number."},
		"sum":      {sumFunction(), "The sum of a list or set of numbers. For amounts use decimal_sum."},
	}
}

func sumFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{parameter("list", cty.DynamicPseudoType)},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			list := args[0]
			if !isSequence(list.Type()) {
				return cty.NilVal, function.NewArgErrorf(0, "a list, set or tuple of numbers is needed, not %s", list.Type().FriendlyName())
			}
			if !list.IsWhollyKnown() {
				return cty.UnknownVal(cty.Number), nil
			}
			if list.LengthInt() == 0 {
				return cty.NilVal, function.NewArgErrorf(0, "an empty list has no sum")
			}
			sum := cty.Zero
			for _, element := range list.Elements() {
				number, err := convert.Convert(element, cty.Number)
				if err != nil || number.IsNull() {
					return cty.NilVal, function.NewArgError(0, errors.New("every element must be a number"))
				}
				sum = sum.Add(number)
			}
			return sum, nil
		},
	})
}

// isSequence reports whether values of ty are elements without names.
func isSequence(ty cty.Type) bool { return ty.IsListType() || ty.IsSetType() || ty.IsTupleType() }
