// Package boot reads the clock that begins with the boot of the machine.
//
// Its one invariant: what it returns is of a clock that nobody can set and that goes on while
// the machine sleeps, or nothing.
package boot

import "time"

// Reading is what the clock says.
type Reading struct {
	ID      string        // of the boot, which no other one has
	Machine string        // digest of the machine's ID and its host's name; "" where it has no ID
	Up      time.Duration // since the boot, sleep included
}
