package eval

import (
	"maps"

	"github.com/zclconf/go-cty/cty"
)

// Moved marks a value that a list of holidays or a time of day may move, and all that is made of
// it. It is no secret, and may be used where no secret may. Of is the cause; equal ones are one
// mark.
type Moved struct{ Of any }

// Unmark takes the marks [Moved] off a value, and returns them.
func Unmark(value cty.Value) (cty.Value, []Moved) {
	if value == cty.NilVal || !ContainsMarked(value) {
		return value, nil
	}
	found := map[Moved]bool{}
	bare, marked := value.UnmarkDeepWithPaths()
	rest := marked[:0]
	for _, at := range marked {
		others := maps.Clone(at.Marks)
		for mark := range at.Marks {
			if m, ok := mark.(Moved); ok {
				found[m] = true
				delete(others, mark)
			}
		}
		if len(others) > 0 {
			rest = append(rest, cty.PathValueMarks{Path: at.Path, Marks: others})
		}
	}
	var all []Moved
	for m := range maps.Keys(found) {
		all = append(all, m)
	}
	return bare.MarkWithPaths(rest), all
}

// ContainsMarked is that of the library, without looking through a set, which sorts it: the marks of its
// elements are the set's own.
func ContainsMarked(value cty.Value) bool {
	if value.Type().IsSetType() {
		return value.IsMarked()
	}
	return value.ContainsMarked()
}
