package functions

import (
	"errors"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// The functions of this file return an argument, or elements of one. Each part of these keeps its own marks, and the whole has only those of
// the values that decide the choice: an occurrence that one of them returns has a date that no holiday moves.

// choice is a parameter whose marks the function sees.
func choice(name string, ty cty.Type) function.Parameter {
	return function.Parameter{Name: name, Type: ty, AllowMarked: true}
}

// plain is a value without the marks of its parts as well.
func plain(value cty.Value) cty.Value {
	bare, _ := value.UnmarkDeep()
	return bare
}

// withMarksIn is a value with all marks in others.
func withMarksIn(value cty.Value, others ...cty.Value) cty.Value {
	for _, other := range others {
		_, marks := other.UnmarkDeep()
		value = value.WithMarks(marks)
	}
	return value
}

func coalesceFunction() function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{
			Name: "values", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
		},
		Type: func(args []cty.Value) (cty.Type, error) {
			types := make([]cty.Type, len(args))
			for i, arg := range args {
				types[i] = arg.Type()
			}
			if len(types) == 0 {
				return cty.NilType, errors.New("at least one argument is needed")
			}
			ty, _ := convert.UnifyUnsafe(types)
			if ty == cty.NilType {
				return cty.NilType, errors.New("all arguments must have the same type")
			}
			return ty, nil
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			for i, arg := range args {
				value, err := convert.Convert(arg, ty)
				if err != nil {
					return cty.NilVal, function.NewArgError(i, err)
				}
				bare, _ := value.Unmark()
				switch {
				case !bare.IsKnown():
					return withMarksIn(cty.UnknownVal(ty), args[:i+1]...), nil
				case bare.IsNull():
				case bare.Type() == cty.String && bare.AsString() == "":
				default:
					return withMarksIn(value, args[:i]...), nil
				}
			}
			return cty.NilVal, errors.New("every argument is null or an empty string")
		},
	})
}

func coalesceListFunction() function.Function {
	of := stdlib.CoalesceListFunc
	lists := of.VarParam()
	lists.AllowMarked = true
	return function.New(&function.Spec{
		VarParam: lists,
		Type:     of.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			bare := make([]cty.Value, len(args))
			for i, arg := range args {
				bare[i] = plain(arg)
			}
			chosen, err := of.Call(bare)
			if err != nil {
				return cty.NilVal, err
			}
			for i, arg := range args {
				switch list := bare[i]; {
				case !list.IsKnown():
					return withMarksIn(chosen, args...), nil
				case !list.IsNull() && list.LengthInt() > 0:
					return withMarksIn(arg, args[:i]...), nil
				}
			}
			return chosen, nil
		},
	})
}

func compactFunction() function.Function {
	of := stdlib.CompactFunc
	return function.New(&function.Spec{
		Params: []function.Parameter{choice("list", cty.List(cty.String))},
		Type:   of.ReturnTypeForValues,
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			list, marks := args[0].Unmark()
			if !list.ContainsMarked() || !list.IsWhollyKnown() {
				return of.Call(args)
			}
			var kept, left []cty.Value
			for _, element := range list.AsValueSlice() {
				if text := plain(element); text.IsNull() || text.AsString() == "" {
					left = append(left, element)
				} else {
					kept = append(kept, element)
				}
			}
			return withMarksIn(listOf(kept, ty), left...).WithMarks(marks), nil
		},
	})
}

// listOf is a list of a type, which may be empty.
func listOf(elements []cty.Value, ty cty.Type) cty.Value {
	if len(elements) == 0 {
		return cty.ListValEmpty(ty.ElementType())
	}
	return cty.ListVal(elements)
}

// distinctFunction compares elements without their marked parts first: where two differ there, no mark decides that both stay.
func distinctFunction() function.Function {
	of := stdlib.DistinctFunc
	return function.New(&function.Spec{
		Params: []function.Parameter{choice("list", cty.List(cty.DynamicPseudoType))},
		Type:   of.ReturnTypeForValues,
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			list, marks := args[0].Unmark()
			if !list.ContainsMarked() || !list.IsWhollyKnown() {
				return of.Call(args)
			}
			elements := list.AsValueSlice()
			var kept, compared []cty.Value
			for _, element := range elements {
				open, isNew := withoutMarked(element), true
				for i, other := range compared {
					if !open.RawEquals(other) {
						continue
					}
					if element.ContainsMarked() || kept[i].ContainsMarked() {
						return of.Call(args)
					}
					isNew = false
				}
				if isNew {
					kept, compared = append(kept, element), append(compared, open)
				}
			}
			return listOf(kept, ty).WithMarks(marks), nil
		},
	})
}

// withoutMarked is a value in which null stands for each marked part.
func withoutMarked(value cty.Value) cty.Value {
	without, err := cty.Transform(value, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if part.IsMarked() {
			return cty.NullVal(part.Type()), nil
		}
		return part, nil
	})
	if err != nil {
		return plain(value)
	}
	return without
}

func lookupFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{choice("map", cty.DynamicPseudoType), choice("key", cty.String)},
		VarParam: &function.Parameter{
			Name: "default", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
		},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty, key := args[0].Type(), plain(args[1])
			switch {
			case len(args) > 3:
				return cty.NilType, errors.New("a map, a key and at most one default are needed")
			case ty.IsMapType():
				return ty.ElementType(), nil
			case !ty.IsObjectType():
				return cty.NilType, function.NewArgErrorf(0, "a map is needed, not %s", ty.FriendlyName())
			case !key.IsKnown():
				return cty.DynamicPseudoType, nil
			case ty.HasAttribute(key.AsString()):
				return ty.AttributeType(key.AsString()), nil
			case len(args) == 3:
				return args[2].Type(), nil
			default:
				return cty.NilType, missingKey(key.AsString())
			}
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			all, ofMap := args[0].Unmark()
			key, ofKey := args[1].Unmark()
			if all.Type().IsObjectType() && all.Type().HasAttribute(key.AsString()) {
				return all.GetAttr(key.AsString()).WithMarks(ofMap, ofKey), nil
			}
			if all.Type().IsMapType() && all.HasIndex(key).True() {
				return all.Index(key).WithMarks(ofMap, ofKey), nil
			}
			if len(args) < 3 {
				return cty.NilVal, missingKey(key.AsString())
			}
			value, err := convert.Convert(args[2], ty)
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(2, "the default must have the type of the map's elements: %w", err)
			}
			return value.WithMarks(ofMap, ofKey), nil
		},
	})
}

func missingKey(key string) error {
	return function.NewArgErrorf(1, "the map has no key %q, and there is no default", key)
}

func matchKeysFunction() function.Function {
	list := cty.List(cty.DynamicPseudoType)
	return function.New(&function.Spec{
		Params: []function.Parameter{choice("values", list), choice("keys", list), choice("searchset", list)},
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()}); ty == cty.NilType {
				return cty.NilType, errors.New("keys and searchset must have elements of the same type")
			}
			return args[0].Type(), nil
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			all, marks := args[0].Unmark()
			keyList, searched := plain(args[1]), plain(args[2])
			if !all.IsWhollyKnown() || !keyList.IsWhollyKnown() || !searched.IsWhollyKnown() {
				return withMarksIn(cty.UnknownVal(ty), args...), nil
			}
			values, keys := all.AsValueSlice(), keyList.AsValueSlice()
			if len(values) != len(keys) {
				return cty.NilVal, function.NewArgErrorf(1, "there are %d values and %d keys; one key for each value is needed", len(values), len(keys))
			}
			var found []cty.Value
			for i, key := range keys {
				isKey := func(other cty.Value) bool {
					equal, err := stdlib.Equal(key, other)
					return err == nil && equal.True()
				}
				if containsFunc(searched, isKey) {
					found = append(found, values[i])
				}
			}
			return withMarksIn(listOf(found, ty), args[1:]...).WithMarks(marks), nil
		},
	})
}

func containsFunc(list cty.Value, holds func(cty.Value) bool) bool {
	for _, element := range list.Elements() {
		if holds(element) {
			return true
		}
	}
	return false
}

func oneFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{choice("list", cty.DynamicPseudoType)},
		Type: func(args []cty.Value) (cty.Type, error) {
			ty := args[0].Type()
			switch {
			case ty.IsListType() || ty.IsSetType():
				return ty.ElementType(), nil
			case !ty.IsTupleType():
				return cty.NilType, function.NewArgErrorf(0, "a list, set or tuple is needed, not %s", ty.FriendlyName())
			case ty.Length() == 1:
				return ty.TupleElementType(0), nil
			default:
				return cty.DynamicPseudoType, nil
			}
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			list, marks := args[0].Unmark()
			if !list.Length().IsKnown() {
				return cty.UnknownVal(ty).WithMarks(marks), nil
			}
			switch n := list.LengthInt(); n {
			case 0:
				return cty.NullVal(ty).WithMarks(marks), nil
			case 1:
				return list.AsValueSlice()[0].WithMarks(marks), nil
			default:
				return cty.NilVal, function.NewArgErrorf(0, "at most one element is allowed, and there are %d", n)
			}
		},
	})
}
