package executor

import "remit/state"

// placeOf is which file the state of a journal is; the zero value for one that is in none.
func placeOf(journal Journal) state.FilePlace {
	if placed, ok := journal.(state.Placed); ok {
		return placed.Place()
	}
	return state.FilePlace{}
}
