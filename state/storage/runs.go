package storage

import (
	"fmt"
	"iter"

	"remit/state"
)

// Runs makes runs of the events at which they begin and end, in the order in which they
// began. There is one an apply, so they are held whole.
func Runs(lines iter.Seq2[Line, error]) ([]state.Run, error) {
	var runs []state.Run
	place := make(map[string]int)
	for l, err := range lines {
		if err != nil {
			return nil, err
		}
		at, ok := place[l.RunID]
		if !ok {
			at = len(runs)
			place[l.RunID] = at
			runs = append(runs, state.Run{})
		}
		draft, err := l.Draft()
		if err == nil {
			runs[at], err = runs[at].Apply(draft, l.Time)
		}
		if err != nil {
			return nil, fmt.Errorf("event %d: %w: %w", l.Seq, state.ErrDamaged, err)
		}
	}
	return runs, nil
}
