package functions

import (
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Mark is what the functions mark a value with. They take every mark for [Sensitive].
type Mark string

// Sensitive marks a value that no output may show. It has no counterpart that takes the mark off: a
// sensitive value may be used in the state and service blocks only.
const Sensitive Mark = "sensitive"

func typeFunctions() map[string]entry {
	return map[string]entry{
		"can":         {tryfunc.CanFunc, "Whether the expression has a value."},
		"issensitive": {isSensitiveFunction(), "Whether the value is sensitive."},
		"sensitive":   {sensitiveFunction(), "The value, marked so that it is never shown."},
		"tobool":      {stdlib.MakeToFunc(cty.Bool), "The value as a bool."},
		"tolist":      {conversion(cty.List(cty.DynamicPseudoType)), "The value as a list, its elements of one type."},
		"tomap":       {conversion(cty.Map(cty.DynamicPseudoType)), "The value as a map, its elements of one type."},
		"tonumber":    {stdlib.MakeToFunc(cty.Number), "The value as a number. An amount stays a quoted decimal."},
		"toset":       {conversion(cty.Set(cty.DynamicPseudoType)), "The value as a set: elements of one type, each once."},
		"tostring":    {stdlib.MakeToFunc(cty.String), "The value as a string. An amount is written as a quoted decimal."},
		"try":         {tryfunc.TryFunc, "The value of the first expression that has one."},
	}
}

// openValue is a parameter for every value there is.
func openValue() []function.Parameter {
	return []function.Parameter{openParameter(parameter("value", cty.DynamicPseudoType))}
}

func sensitiveFunction() function.Function {
	return function.New(&function.Spec{
		Params: openValue(),
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return args[0].Mark(Sensitive), nil
		},
	})
}

func isSensitiveFunction() function.Function {
	return function.New(&function.Spec{
		Params: openValue(),
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(args[0].IsMarked()), nil
		},
	})
}

// conversion is a function that makes a collection of another one, in which each element keeps its marks. It takes a tuple of elements
// of one type as a list. The result is the same; the library compares the type of each element of a tuple with that of each other one.
func conversion(to cty.Type) function.Function {
	of := stdlib.MakeToFunc(to)
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "v", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true, AllowMarked: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			return of.ReturnTypeForValues([]cty.Value{asList(args[0])})
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			list := asList(args[0])
			if !list.ContainsMarked() {
				return of.Call([]cty.Value{list})
			}
			bare, _ := list.UnmarkDeep()
			if _, err := of.Call([]cty.Value{bare}); err != nil {
				return cty.NilVal, err
			}
			return convert.Convert(list, ty)
		},
	})
}

// asList is a tuple as a list, where all of its elements are of one type.
func asList(v cty.Value) cty.Value {
	plain, marks := v.Unmark()
	if plain.IsNull() || !plain.IsKnown() || !plain.Type().IsTupleType() || plain.LengthInt() == 0 {
		return v
	}
	types := plain.Type().TupleElementTypes()
	for _, ty := range types {
		if !ty.Equals(types[0]) || ty.HasDynamicTypes() {
			return v
		}
	}
	return cty.ListVal(plain.AsValueSlice()).WithMarks(marks)
}
