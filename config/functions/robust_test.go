package functions_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"pgregory.net/rapid"

	"remit/config/functions"
)

// values draws any value: of every type, marked, null, unknown, nested.
func values() *rapid.Generator[cty.Value] {
	return rapid.Custom(func(t *rapid.T) cty.Value { return drawValue(t, 2) })
}

func drawValue(t *rapid.T, depth int) cty.Value {
	value := drawPlain(t, depth)
	switch rapid.IntRange(0, 11).Draw(t, "state") {
	case 0:
		value = cty.NullVal(value.Type())
	case 1:
		value = cty.UnknownVal(value.Type())
	case 2:
		value = value.Mark(functions.Sensitive)
	}
	return value
}

func drawPlain(t *rapid.T, depth int) cty.Value {
	kind := 10
	if depth == 0 {
		kind = 3
	}
	switch rapid.IntRange(0, kind).Draw(t, "kind") {
	case 0:
		return cty.StringVal(rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{
				"", "1.50", "-0", "1e5", "2026-11-27T09:00:00Z", "36h", "[1]", "{", "a: 1", "a,b\n1,2", "(", "%d", "%5s",
				"${a}", "dns", "UTF-8", "half_up", "..", "/", "*", "hello.tmpl", "data", "YYYY", "true", "w6k=",
			}),
		).Draw(t, "string"))
	case 1:
		return rapid.SampledFrom([]cty.Value{
			cty.Zero, cty.NumberIntVal(1), cty.NumberIntVal(-3), cty.NumberFloatVal(0.5), cty.NumberIntVal(1 << 62),
			cty.MustParseNumberVal("1e300"), cty.MustParseNumberVal("1e-300"), cty.PositiveInfinity, cty.NegativeInfinity,
		}).Draw(t, "number")
	case 2:
		return cty.BoolVal(rapid.Bool().Draw(t, "bool"))
	case 3:
		return rapid.SampledFrom([]cty.Value{cty.DynamicVal, cty.NullVal(cty.DynamicPseudoType)}).Draw(t, "dynamic")
	case 4:
		return cty.TupleVal(elements(t, depth))
	case 5:
		return cty.ObjectVal(named(elements(t, depth)))
	case 6:
		return cty.ListVal(alike(t, depth))
	case 7:
		return cty.MapVal(named(alike(t, depth)))
	case 8:
		return cty.SetVal(alike(t, depth))
	case 9:
		return rapid.SampledFrom([]cty.Value{
			cty.ListValEmpty(cty.String), cty.MapValEmpty(cty.Number), cty.SetValEmpty(cty.DynamicPseudoType), cty.ListValEmpty(cty.DynamicPseudoType),
			cty.EmptyTupleVal, cty.EmptyObjectVal,
		}).Draw(t, "empty")
	default:
		return drawPlain(t, 0)
	}
}

func elements(t *rapid.T, depth int) []cty.Value {
	drawn := make([]cty.Value, rapid.IntRange(0, 3).Draw(t, "n"))
	for i := range drawn {
		drawn[i] = drawValue(t, depth-1)
	}
	return drawn
}

// alike draws at least one element, all of the type of the first.
func alike(t *rapid.T, depth int) []cty.Value {
	drawn := []cty.Value{drawValue(t, depth-1)}
	for _, more := range elements(t, depth) {
		if more.Type().Equals(drawn[0].Type()) {
			drawn = append(drawn, more)
		}
	}
	return drawn
}

func named(list []cty.Value) map[string]cty.Value {
	m := make(map[string]cty.Value)
	for i, v := range list {
		m[string(rune('a'+i))] = v
	}
	return m
}

// arguments draws as many arguments as f takes, mostly of the types that it asks for.
func arguments(t *rapid.T, f function.Function) []cty.Value {
	params := f.Params()
	if variadic := f.VarParam(); variadic != nil {
		for range rapid.IntRange(0, 3).Draw(t, "variadic") {
			params = append(params, *variadic)
		}
	}
	args := make([]cty.Value, len(params))
	for i, p := range params {
		args[i] = values().Draw(t, p.Name)
		if p.Type != cty.DynamicPseudoType && rapid.IntRange(0, 4).Draw(t, "fit") > 0 {
			for range 20 {
				if args[i].Type().TestConformance(p.Type) == nil {
					break
				}
				args[i] = values().Draw(t, p.Name)
			}
		}
	}
	return args
}

func TestNoFunctionPanicsOrShowsAStackWhateverItIsGiven(t *testing.T) {
	table := functions.Table(directory(t))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		f := table[name]
		if takesExpressions(f) {
			continue // try and can take expressions, not values
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				args := arguments(t, f)
				value, err := f.Call(args)
				if err == nil && value == cty.NilVal {
					t.Fatalf("%s%#v: neither a value nor an error", name, args)
				}
				if err != nil && strings.Contains(err.Error(), "goroutine") {
					t.Fatalf("%s%#v: %v", name, args, err)
				}
				again, againErr := f.Call(args)
				if (err == nil) != (againErr == nil) || err == nil && !again.RawEquals(value) {
					t.Fatalf("%s%#v: not the same again", name, args)
				}
			})
		})
	}
}

func takesExpressions(f function.Function) bool {
	params := f.Params()
	if variadic := f.VarParam(); variadic != nil {
		params = append(params, *variadic)
	}
	return slices.ContainsFunc(params, func(p function.Parameter) bool {
		return p.Type == customdecode.ExpressionClosureType
	})
}

func TestASensitiveArgumentMakesTheResultSensitiveAndNoErrorShowsIt(t *testing.T) {
	const hidden = "hunter2"
	table := functions.Table(directory(t))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		f := table[name]
		if takesExpressions(f) || name == "issensitive" || name == "length" {
			continue // whether and how much may be said
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				args := arguments(t, f)
				if len(args) == 0 {
					t.Skip("no arguments")
				}
				at := rapid.IntRange(0, len(args)-1).Draw(t, "at")
				args[at] = cty.StringVal(rapid.SampledFrom([]string{hidden, "[" + hidden, hidden + "%d"}).Draw(t, "secret")).Mark(functions.Sensitive)
				value, err := f.Call(args)
				if err != nil {
					if strings.Contains(err.Error(), hidden) {
						t.Fatalf("%s%#v: the error shows it: %v", name, args, err)
					}
					return
				}
				if plain, _ := value.UnmarkDeep(); strings.Contains(plain.GoString(), hidden) && !value.ContainsMarked() {
					t.Fatalf("%s%#v: the result shows it: %#v", name, args, value)
				}
			})
		})
	}
}

func TestAnUnknownPartNeverBecomesAKnownAmount(t *testing.T) {
	unknown := cty.UnknownVal(cty.String)
	partly := cty.TupleVal([]cty.Value{cty.StringVal("1"), unknown})
	for sentence, args := range map[string][]cty.Value{
		"decimal_sum with an unknown element":   {partly},
		"decimal_add with an unknown argument":  {cty.StringVal("1"), unknown},
		"decimal_add with an untyped argument":  {cty.StringVal("1"), cty.DynamicVal},
		"allocate with an unknown weight":       {cty.StringVal("1"), partly, cty.Zero},
		"allocate with an unknown total":        {unknown, cty.TupleVal([]cty.Value{cty.StringVal("1")}), cty.Zero},
		"decimal_round with an unknown mode":    {cty.StringVal("1"), cty.Zero, unknown},
		"decimal_cmp with an unknown argument":  {unknown, cty.StringVal("1")},
		"jsondecode of unknown text":            {unknown},
		"csvdecode of unknown text":             {unknown},
		"templatestring with an unknown object": {cty.StringVal("a"), cty.DynamicVal},
	} {
		t.Run(sentence, func(t *testing.T) {
			name, _, _ := strings.Cut(sentence, " ")
			if value := call(t, name, args...); value.IsKnown() {
				t.Errorf("the result is known: %#v", value)
			}
		})
	}
}

func TestEveryMarkIsTakenForSensitive(t *testing.T) {
	type other struct{}
	if !call(t, "issensitive", cty.StringVal("a").Mark(other{})).True() {
		t.Error("a marked value is not sensitive")
	}
	both := call(t, "sensitive", cty.StringVal("a").Mark(other{}))
	if !both.HasMark(other{}) || !both.HasMark(functions.Sensitive) {
		t.Errorf("a mark was taken off: %#v", both)
	}
}
