package functions

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// productMax bounds the combinations of setproduct.
const productMax = 100_000

func setFunctions() map[string]entry {
	return map[string]entry{
		"setintersection": {stdlib.SetIntersectionFunc, "The elements that are in every one of the sets."},
		"setproduct":      {setProductFunction(), "Every combination of one element of each set or list, at most 100000."},
		"setsubtract":     {stdlib.SetSubtractFunc, "The elements of the first set that are not in the second."},
		"setunion":        {stdlib.SetUnionFunc, "The elements that are in at least one of the sets."},
	}
}

func setProductFunction() function.Function {
	product := stdlib.SetProductFunc
	return function.New(&function.Spec{
		Params:   product.Params(),
		VarParam: product.VarParam(),
		Type:     product.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if err := checkProduct(args); err != nil {
				return cty.NilVal, err
			}
			return product.Call(args)
		},
	})
}

func checkProduct(args []cty.Value) error {
	combinations := 1
	for _, arg := range args {
		arg, _ = arg.Unmark()
		if !arg.CanIterateElements() {
			return nil // unknown, or an error that the library names
		}
		n := arg.LengthInt()
		if n == 0 {
			return nil
		}
		combinations *= n
		if combinations > productMax || n > productMax {
			return function.NewArgErrorf(0, "more than %d combinations", productMax)
		}
	}
	return nil
}
