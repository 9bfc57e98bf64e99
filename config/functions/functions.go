// Package functions are the functions of the language: Terraform's deterministic ones under
// their names, and exact decimal arithmetic on quoted numbers.
//
// Its one invariant: a result depends on the arguments and on the files of one directory
// alone. No function reads a clock, a random number, the network or the environment, none
// panics, and the reason of an error never shows a marked argument.
package functions

import (
	"errors"
	"maps"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"remit/config/meter"
	"remit/internal/files/confined"
)

// entry is one function and what `docs/language` says about it.
type entry struct {
	function    function.Function
	description string
}

// Table returns every function of the language by its name, each with a description. The
// file functions read below root, never through a link that leads out of it; where root is
// nil they say that there is no directory. The caller keeps root open for as long as it
// calls them. A function of the table returns its error without values where an argument
// carries a mark, and an error where a library panics. The map is the caller's own.
func Table(root *confined.Directory) map[string]function.Function {
	return TableOf(Directory{Root: root}, nil)
}

// TableOf is [Table] for the files of d, whose Note functions call with the name of each file whose
// content they have read, relative to its root and with slashes. Several goroutines may do so at once.
// The functions take steps of m for all that they walk and make; nil bounds nothing.
func TableOf(d Directory, m *meter.Meter) map[string]function.Function {
	f := files{d}
	table := make(map[string]function.Function)
	for _, group := range []map[string]entry{
		numberFunctions(), stringFunctions(), collectionFunctions(), setFunctions(), encodingFunctions(),
		hashFunctions(), timeFunctions(), pathFunctions(), typeFunctions(), decimalFunctions(), fileFunctions(f),
	} {
		add(table, group, m)
	}
	// A template sees all functions but these two, so that none can call itself.
	add(table, templateFunctions(f, maps.Clone(table), m), m)
	return table
}

// ReadsFiles reports whether a function of the table reads files, or could: a template may
// call those that do.
func ReadsFiles(name string) bool {
	_, isFile := fileFunctions(files{})[name]
	_, isTemplate := templateFunctions(files{}, nil, nil)[name]
	return isFile || isTemplate
}

func add(table map[string]function.Function, group map[string]entry, m *meter.Meter) {
	for name, e := range group {
		if _, ok := table[name]; ok {
			panic("function " + name + " is listed twice")
		}
		table[name] = guard(e, measureOf(name, m))
	}
}

// guard wraps a function so that no error of it shows a marked argument or a stack, and that
// w measures what it walks and makes.
func guard(e entry, w measure) function.Function {
	params := e.function.Params()
	for i := range params {
		params[i] = openParameter(params[i])
	}
	variadic := e.function.VarParam()
	if variadic != nil {
		open := openParameter(*variadic)
		variadic = &open
	}
	return function.New(&function.Spec{
		Description: e.description,
		Params:      params,
		VarParam:    variadic,
		Type: func(args []cty.Value) (ty cty.Type, err error) {
			defer func() { err = presentable(args, recover(), err) }()
			if err := w.before(args); err != nil {
				return cty.NilType, err
			}
			return e.function.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (result cty.Value, err error) {
			defer func() { err = presentable(args, recover(), err) }()
			for i, arg := range args {
				if err := checkWritable(arg); err != nil {
					return cty.NilVal, function.NewArgError(i, err)
				}
			}
			result, err = e.function.Call(args)
			if err == nil {
				err = w.after(result)
			}
			if err != nil {
				return cty.NilVal, err
			}
			if err := checkWritable(result); err != nil {
				return cty.NilVal, err
			}
			return result, nil
		},
	})
}

// openParameter lets every value through to the guarded function, which has the parameter
// as it really is and handles what it does not allow.
func openParameter(p function.Parameter) function.Parameter {
	p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
	return p
}

// presentable turns what a call ended with into what an author may see.
func presentable(args []cty.Value, panicked any, err error) error {
	var inner function.PanicError
	if panicked != nil || errors.As(err, &inner) {
		err = errors.New("there is no result for these arguments")
	}
	if err == nil {
		return nil
	}
	for _, arg := range args {
		if !arg.ContainsMarked() {
			continue
		}
		hidden := errors.New("the reason is not shown, because an argument is sensitive")
		if at := (function.ArgError{}); errors.As(err, &at) {
			return function.NewArgError(at.Index, hidden)
		}
		return hidden
	}
	return err
}

// exponentMax bounds the binary exponent of a number. A number beyond it has more than a
// thousand digits: writing it out would take long, and long enough to seem for ever.
const exponentMax = 4096

func checkWritable(value cty.Value) error {
	value, _ = value.Unmark()
	if value.Type() != cty.Number || value.IsNull() || !value.IsKnown() {
		return nil
	}
	number := value.AsBigFloat()
	if number.IsInf() {
		return errors.New("the number is infinite")
	}
	if exponent := number.MantExp(nil); exponent > exponentMax || exponent < -exponentMax {
		return errors.New("the number has more than a thousand digits")
	}
	return nil
}

// parameter is the shape of most parameters: known, not null, without marks.
func parameter(name string, ty cty.Type) function.Parameter {
	return function.Parameter{Name: name, Type: ty}
}

// simple is a function of strings with a result of a fixed type.
func simple(result cty.Type, implementation func(args []string) (cty.Value, error), names ...string) function.Function {
	params := make([]function.Parameter, len(names))
	for i, name := range names {
		params[i] = parameter(name, cty.String)
	}
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(result),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			texts := make([]string, len(args))
			for i, arg := range args {
				texts[i] = arg.AsString()
			}
			return implementation(texts)
		},
	})
}
