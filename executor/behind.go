package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"remit/state"
)

// ErrClock says that the service's clock and ours are too far apart to tell a record of ours
// from an older one. Nothing was sent.
var ErrClock = errors.New("the service's clock and the local clock are more than 5 minutes apart")

// BehindError says that the local clock lies behind the newest event of the journal, and that no
// answer of the service says which of them is right. Nothing was sent.
type BehindError struct {
	Seq   int64 // of the newest event
	At    time.Time
	Local time.Time
}

// Error names both times.
func (e *BehindError) Error() string {
	return fmt.Sprintf("the clock of this machine says %s, and event %d of the journal is of %s, %s later: one of the two clocks is wrong, "+
		"and the service's token came without a Date that could say which. Nothing was sent. Set the clock of this machine right. "+
		"Where it is right, say so, and the next apply begins",
		e.Local.UTC().Format(time.RFC3339), e.Seq, e.At.UTC().Format(time.RFC3339), inWords(e.At.Sub(e.Local)))
}

// JumpedError says that the local clock jumped, as far as the time since the machine booted tells, and
// that no answer of the service says that it is right now. Nothing was sent.
type JumpedError struct {
	Jump state.WrongClock
}

// Error says what jumped, by how much.
func (e *JumpedError) Error() string {
	return e.Jump.Words + " The clock was wrong then or is wrong now, and the service's token came without a Date that could say which. " +
		"Nothing was sent. Set the clock of this machine right. Where it is right, say so, and the next apply begins"
}

// confirmClock returns the entries that a run journals before it begins, where its clock lies behind
// the newest event, or jumped in this boot. The service's Date, which compareClocks has compared with
// the clock, confirms it; without a Date the error is a *[BehindError] or a *[JumpedError].
func confirmClock(ctx context.Context, snapshot state.Snapshot, r reading, by state.Holder, tell func(Event)) ([]state.Entry, error) {
	meta := snapshot.Meta()
	behind := meta.At.Sub(r.local.Round(0))
	isBehind := behind > state.JumpMin
	jump, isJump, err := state.Jumped(ctx, snapshot, r.local, r.Clocks)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the state: %w", err)
	case !isBehind && !isJump:
		return nil, nil
	case r.Date.IsZero() && isBehind:
		return nil, &BehindError{Seq: meta.Serial, At: meta.At, Local: r.local}
	case r.Date.IsZero():
		return nil, &JumpedError{jump}
	}
	confirmed := state.ClockConfirmed{Clocks: r.Clocks, By: by}
	if isJump {
		tell(Event{Type: EventNotice, Reason: jump.Words + " The service's confirms the clock: it was wrong then."})
		confirmed.JumpMS = jump.By.Milliseconds()
	}
	if isBehind {
		tell(Event{Type: EventNotice, Reason: fmt.Sprintf("Event %d of the journal is of %s, %s ahead of the local clock, which the service's confirms: a clock was wrong then.",
			meta.Serial, meta.At.UTC().Format(time.RFC3339), inWords(behind))})
		confirmed.BehindMS = behind.Milliseconds()
	}
	return []state.Entry{confirmed}, nil
}

// compareClocks returns an [ErrClock] if the service's clock and the local clock are too far apart. The clock of the
// server that keeps the state confirms nothing, as one person may run both it and remit: a difference is only named.
func compareClocks(r reading, tell func(Event)) error {
	if r.Date.IsZero() {
		tell(Event{Type: EventNotice, Reason: "the token's answer has no Date: the clocks could not be compared"})
		nameServer(r, tell)
		return nil
	}
	if apart := r.local.Sub(r.Date).Abs(); apart > clockSkewMax {
		return fmt.Errorf("%w: by %v", ErrClock, apart.Round(time.Second))
	}
	nameServer(r, tell)
	return nil
}

// nameServer names a clock of the server that keeps the state which is too far from the local one.
func nameServer(r reading, tell func(Event)) {
	if r.Server.IsZero() {
		return
	}
	words, _, isFar := state.FromServer(r.local, r.Server)
	if !isFar {
		return
	}
	advice := "one of the two is wrong. Set it right: what is due follows the clock of this machine"
	if !r.Date.IsZero() {
		advice = "the service's confirms this one. Set the clock of the server right"
	}
	tell(Event{Type: EventNotice, Reason: fmt.Sprintf("the %s: %s", words, advice)})
}
