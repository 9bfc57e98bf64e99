package functions

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func collectionFunctions() map[string]entry {
	return map[string]entry{
		"alltrue":      {booleans(true), "Whether every element of a list is true; true for an empty list."},
		"anytrue":      {booleans(false), "Whether an element of a list is true; false for an empty list."},
		"chunklist":    {stdlib.ChunklistFunc, "The elements of a list in lists of so many each."},
		"coalesce":     {coalesceFunction(), "The first argument that is neither null nor an empty string."},
		"coalescelist": {coalesceListFunction(), "The first argument that is a list with elements."},
		"compact":      {compactFunction(), "A list of strings without those that are null or empty."},
		"concat":       {stdlib.ConcatFunc, "The elements of two or more lists in one."},
		"contains":     {stdlib.ContainsFunc, "Whether a value is an element of a list."},
		"distinct":     {distinctFunction(), "A list without the elements that came before in it."},
		"element":      {stdlib.ElementFunc, "The element at an index that begins again after the last; negative from the end."},
		"flatten":      {stdlib.FlattenFunc, "The elements of lists within a list, in one."},
		"index":        {indexFunction(), "The index of a value in a list. An error where it is not in it."},
		"keys":         {stdlib.KeysFunc, "The keys of a map in their order."},
		"length":       {lengthFunction(), "How many elements a collection has, or characters a string."},
		"lookup":       {lookupFunction(), "The value of a key in a map, or the default where it is not there."},
		"matchkeys":    {matchKeysFunction(), "The elements of a list whose keys, at the same index of a second list, are in a third."},
		"merge":        {stdlib.MergeFunc, "One map with the keys of all; the last that has a key decides. Two payments with one key are an error."},
		"one":          {oneFunction(), "The only element of a list, or null where it is empty. An error where there are more."},
		"range":        {stdlib.RangeFunc, "A list of numbers from a start up to a limit, at most 1024."},
		"reverse":      {stdlib.ReverseListFunc, "A list in reverse order."},
		"slice":        {stdlib.SliceFunc, "The elements of a list from an index up to, and without, another."},
		"sort":         {stdlib.SortFunc, "A list of strings in the order of their characters."},
		"transpose":    {transposeFunction(), "A map of lists of strings with keys and elements exchanged."},
		"values":       {stdlib.ValuesFunc, "The values of a map in the order of their keys."},
		"zipmap":       {zipmapFunction(), "A map made from a list of keys and a list of values. A key that stands twice is an error."},
	}
}

// zipmapFunction refuses a repeated key, of which one value would be lost.
func zipmapFunction() function.Function {
	refuse := func(args []cty.Value) error {
		keys, _ := args[0].Unmark()
		if !keys.IsWhollyKnown() || keys.IsNull() {
			return nil
		}
		first := map[string]bool{}
		for _, key := range keys.Elements() {
			key, _ := key.Unmark()
			if key.IsNull() || key.Type() != cty.String {
				return nil // zipmap itself says so
			}
			if first[key.AsString()] {
				return function.NewArgErrorf(0, "the key %s stands twice", clip(key.AsString()))
			}
			first[key.AsString()] = true
		}
		return nil
	}
	return function.New(&function.Spec{
		Params: stdlib.ZipmapFunc.Params(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := refuse(args); err != nil {
				return cty.NilType, err
			}
			return stdlib.ZipmapFunc.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return stdlib.ZipmapFunc.Call(args) },
	})
}

// booleans is alltrue, or anytrue where all is false.
func booleans(all bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{parameter("list", cty.List(cty.Bool))},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := false
			for _, element := range args[0].Elements() {
				switch {
				case !element.IsKnown():
					unknown = true
				case (!element.IsNull() && element.True()) != all:
					return cty.BoolVal(!all), nil
				}
			}
			if unknown {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(all), nil
		},
	})
}

func indexFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{parameter("list", cty.DynamicPseudoType), parameter("value", cty.DynamicPseudoType)},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			list := args[0]
			if !list.Type().IsListType() && !list.Type().IsTupleType() {
				return cty.NilVal, function.NewArgErrorf(0, "a list is needed, not %s", list.Type().FriendlyName())
			}
			if !list.IsWhollyKnown() || !args[1].IsWhollyKnown() {
				return cty.UnknownVal(cty.Number), nil
			}
			for i, element := range list.Elements() {
				if equal, err := stdlib.Equal(element, args[1]); err == nil && equal.True() {
					return i, nil
				}
			}
			return cty.NilVal, function.NewArgErrorf(1, "the value is not in the list")
		},
	})
}

func lengthFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowMarked: true}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			value, marks := args[0].Unmark()
			number, err := lengthOfValue(value)
			return number.WithMarks(marks), err
		},
	})
}

// lengthOfValue does not look at the elements: a mark on one of them is none on their number.
func lengthOfValue(value cty.Value) (cty.Value, error) {
	switch ty := value.Type(); {
	case ty.IsTupleType():
		return cty.NumberIntVal(int64(len(ty.TupleElementTypes()))), nil
	case ty.IsObjectType():
		return cty.NumberIntVal(int64(len(ty.AttributeTypes()))), nil
	case !value.IsKnown():
		return cty.UnknownVal(cty.Number), nil
	case ty == cty.String:
		return stdlib.Strlen(value)
	case ty.IsCollectionType():
		return value.Length(), nil
	default:
		return cty.NilVal, function.NewArgErrorf(0, "a collection or a string has a length, %s has none", ty.FriendlyName())
	}
}

func transposeFunction() function.Function {
	ty := cty.Map(cty.List(cty.String))
	return function.New(&function.Spec{
		Params: []function.Parameter{parameter("values", ty)},
		Type:   function.StaticReturnType(ty),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(ty), nil
			}
			exchanged := make(map[string][]cty.Value)
			for key, list := range args[0].Elements() {
				if list.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "the list of %q is null", key.AsString())
				}
				for _, element := range list.Elements() {
					if element.IsNull() {
						return cty.NilVal, function.NewArgErrorf(0, "the list of %q has an element that is null", key.AsString())
					}
					exchanged[element.AsString()] = append(exchanged[element.AsString()], key)
				}
			}
			if len(exchanged) == 0 {
				return cty.MapValEmpty(cty.List(cty.String)), nil
			}
			lists := make(map[string]cty.Value, len(exchanged))
			for key, list := range exchanged {
				lists[key] = cty.ListVal(list)
			}
			return cty.MapVal(lists), nil
		},
	})
}
