package executor

import (
	"iter"

	"remit/planner"
)

// lines are the changes of a plan that a run is about. A plan keeps a million of them packed;
// one is taken out where it is needed.
type lines struct {
	of      *planner.Changes
	numbers []int32
}

// newLines are the changes of a plan with the given actions.
func newLines(plan *planner.Plan, are func(planner.Action) bool) lines {
	l := lines{of: &plan.Changes}
	for i := range plan.Changes.Len() {
		if are(plan.Changes.Action(i)) {
			l.numbers = append(l.numbers, int32(i))
		}
	}
	return l
}

func (l lines) len() int { return len(l.numbers) }

// all yields each change, valid until the next, with its place among the lines.
func (l lines) all() iter.Seq2[int, *planner.Change] {
	return func(yield func(int, *planner.Change) bool) {
		var change planner.Change
		for i, number := range l.numbers {
			change = l.of.At(int(number))
			if !yield(i, &change) {
				return
			}
		}
	}
}
