package functions

import (
	"errors"
	"math"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"remit/config/meter"
)

// walkShare is how many elements a function walks in the time of a step.
const walkShare = 8

// measure bounds what the calls of one function walk and make.
type measure struct {
	meter *meter.Meter
	// makes tells how long the text or the list will be that is longer than all arguments;
	// nil for functions that make nothing of that kind.
	makes func(args []cty.Value) int64
	// pairs says that elements are compared each with each.
	pairs bool
	// looks says that nothing is walked: an element is looked up.
	looks bool
}

// measureOf is what the calls of a function take of m.
func measureOf(name string, m *meter.Meter) measure {
	w := measure{meter: m}
	switch name {
	case "length", "lookup", "element", "one", "try", "can", "sensitive", "nonsensitive", "issensitive":
		w.looks = true
	case "distinct", "matchkeys", "index":
		w.pairs = true
	case "replace":
		w.makes = replaced
	case "join":
		w.makes = joined
	case "indent":
		w.makes = func(args []cty.Value) int64 {
			return times(int64(strings.Count(textOf(args, 1), "\n")), widthMax)
		}
	case "format", "formatlist":
		w.makes = func(args []cty.Value) int64 { return formatted(args, name == "formatlist") }
	}
	return w
}

var errTooMuch = errors.New("there are too many steps for it")

// before takes the steps of a call before anything walks its arguments.
func (w measure) before(args []cty.Value) error {
	if w.meter == nil || w.looks {
		return w.end(true)
	}
	for _, arg := range args {
		if !w.meter.Weigh(arg, walkShare, nil) {
			return errTooMuch
		}
	}
	if w.makes != nil && !w.meter.Spend(w.makes(args)/meter.BytesAStep, nil) {
		return errTooMuch
	}
	if w.pairs {
		return w.end(w.meter.Spend(squared(args)/walkShare, nil))
	}
	return nil
}

// after takes the steps of what a call has made.
func (w measure) after(result cty.Value) error {
	return w.end(w.meter == nil || w.looks || w.meter.Weigh(result, 1, nil))
}

func (w measure) end(ok bool) error {
	if !ok || w.meter.Over() != nil {
		return errTooMuch
	}
	return nil
}

// replaced is how many bytes a replacement can make.
func replaced(args []cty.Value) int64 {
	text, old, with := textOf(args, 0), textOf(args, 1), textOf(args, 2)
	found := int64(len(text)) + 1
	if len(old) < 2 || old[0] != '/' || old[len(old)-1] != '/' {
		found = int64(strings.Count(text, old))
	}
	if strings.Contains(with, "$") { // each group may be as long as the text
		return times(int64(strings.Count(with, "$")+1), int64(len(text))) + times(found, int64(len(with)))
	}
	return times(found, int64(len(with)))
}

// joined is how many bytes the separators take.
func joined(args []cty.Value) int64 {
	elements := int64(0)
	for i := 1; i < len(args); i++ {
		elements += lengthOf(args[i])
	}
	return times(elements, int64(len(textOf(args, 0))))
}

// formatted is how many bytes a format can make: it may name an argument more than once, and a
// list of formats repeats the text of the format and the arguments that are no lists.
func formatted(args []cty.Value, isList bool) int64 {
	format := textOf(args, 0)
	verbs := int64(strings.Count(format, "%"))
	longest, lists := int64(0), int64(1)
	for i := range args {
		longest = max(longest, int64(len(textOf(args, i))))
		if isList && i > 0 {
			lists = max(lists, lengthOf(args[i]))
		}
	}
	one := int64(len(format)) + times(verbs, longest)
	return times(one, lists)
}

// squared is how many pairs the elements of the longest argument make.
func squared(args []cty.Value) int64 {
	longest := int64(0)
	for _, arg := range args {
		longest = max(longest, lengthOf(arg))
	}
	return times(longest, longest) / 2
}

func textOf(args []cty.Value, i int) string {
	if i >= len(args) {
		return ""
	}
	value, _ := args[i].Unmark()
	if value.Type() != cty.String || value.IsNull() || !value.IsKnown() {
		return ""
	}
	return value.AsString()
}

func lengthOf(value cty.Value) int64 {
	value, _ = value.Unmark()
	if value.IsNull() || !value.CanIterateElements() {
		return 0
	}
	return int64(value.LengthInt())
}

// times multiplies numbers that are not negative, up to half of the greatest int64.
func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/2/a {
		return math.MaxInt64 / 2
	}
	return a * b
}
