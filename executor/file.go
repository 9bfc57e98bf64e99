package executor

import "remit/state"

// fileOf is which file the state of a journal is; the zero value for one that is in none.
func fileOf(journal Journal) state.FilePlace {
	if placed, ok := journal.(state.Placed); ok {
		return placed.Place()
	}
	return state.FilePlace{}
}

// sawRelease reports whether the holder of the journal's lock knows that the process is dead that
// began a run: it held the lock of the same file under the same kernel, and lets go of that when it
// ends; or its machine was started anew since. A copy of the file has a lock of its own, which proves
// nothing of the original's. Of a run of remit 0.1.0 it is not known what it locked.
func sawRelease(journal Journal, begun state.Begun, now Boot) bool {
	ours, theirs := fileOf(journal), begun.File
	switch {
	case !theirs.IsFile(ours) || begun.Clocks.Boot == "" || now.ID == "":
		return false
	case begun.Clocks.Boot == now.ID:
		return theirs.Device == ours.Device
	}
	return theirs.Path == ours.Path && begun.Clocks.Machine != "" && begun.Clocks.Machine == now.Machine
}
