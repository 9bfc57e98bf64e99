package storage

import (
	"iter"
	"slices"

	"remit/state"
)

// Runs makes runs of the events at which they begin and end, in the order in which they
// began. There is one an apply, so they are held whole.
func Runs(lines iter.Seq2[StoredEvent, error]) ([]state.Run, error) {
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
		if runs[at], err = ApplyRun(runs[at], l); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// NewestFirst yields the runs that read returns in the order in which they began, the newest first.
func NewestFirst(read func() ([]state.Run, error)) iter.Seq2[state.Run, error] {
	return func(yield func(state.Run, error) bool) {
		runs, err := read()
		if err != nil {
			yield(state.Run{}, err)
			return
		}
		for _, run := range slices.Backward(runs) {
			if !yield(run, nil) {
				return
			}
		}
	}
}

// Lines yields lines that were read.
func Lines(lines []StoredEvent) iter.Seq2[StoredEvent, error] {
	return func(yield func(StoredEvent, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}
