package state

import (
	"errors"
	"time"
)

// JumpMin is by how much the times of two events that follow one another may go back: the clocks
// of two machines may be wrong by five minutes each.
const JumpMin = 10 * time.Minute

// Clocks is what clocks that the writer of an event can't turn said at one moment. A clock that
// could not be read is zero.
type Clocks struct {
	Date   time.Time `json:"date,omitzero"`   // the service's: the Date of its token's answer
	Server time.Time `json:"server,omitzero"` // that of the PostgreSQL server that keeps the state

	Boot    string `json:"boot,omitempty"`    // ID of the machine's boot
	BootMS  int64  `json:"boot_ms,omitempty"` // milliseconds since then, those asleep included
	Machine string `json:"machine,omitempty"` // digest of the machine's ID and its host's name

	// WithinMS is how long it took to read them: Date and Server were read at most so long
	// before BootMS was.
	WithinMS int64 `json:"within_ms,omitempty"`
}

// Later is what the clocks say d after the reading.
func (c Clocks) Later(d time.Duration) Clocks {
	if !c.Date.IsZero() {
		c.Date = c.Date.Add(d)
	}
	if !c.Server.IsZero() {
		c.Server = c.Server.Add(d)
	}
	if c.Boot != "" {
		c.BootMS += d.Milliseconds()
	}
	return c
}

// SinceBoot is how long the machine had been up.
func (c Clocks) SinceBoot() time.Duration { return time.Duration(c.BootMS) * time.Millisecond }

// ClocksIn is what other clocks said when the intent was made, in a run that kept begun. An age that
// is counted from it is never too small: they said that or something later.
func (i Intent) ClocksIn(begun Clocks) Clocks {
	if i.Clocks != (Clocks{}) {
		begun = i.Clocks
	}
	return begun.Later(time.Duration(i.AfterMS) * time.Millisecond)
}

// Jump is an event whose time lies before that of the event before it.
type Jump struct {
	Seq  int64
	Kind Kind
	At   time.Time     // of the event
	Back time.Duration // how far it lies before the event before; more than [JumpMin]
	// Settled says that the event, or a later one, is a [ClockConfirmed]: since then the clock is right.
	Settled bool
}

func (c ClockConfirmed) check() error {
	if c.Reason == "" && c.Clocks.Date.IsZero() {
		return errors.New("neither the service's clock nor a person confirms it")
	}
	return nil
}
