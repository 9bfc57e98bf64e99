package executor

import (
	"context"
	"fmt"
	"time"

	"remit/state"
)

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

// confirmClock returns what is to be journalled before a run begins whose clock lies behind the newest
// event, or jumped in this boot: the service confirms it, whose Date ready has compared with it. Else
// it returns a *[BehindError] or a *[JumpedError].
func (c *course) confirmClock(ctx context.Context) ([]state.Entry, error) {
	snapshot, err := c.run.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	r := c.timekeeper.begun()
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
	confirmed := state.Clock{Clocks: r.Clocks, By: c.run.Begun.By}
	if isJump {
		c.report.tell(Event{Type: EventNotice, Reason: jump.Words + " The service's confirms the clock: it was wrong then."})
		confirmed.JumpMS = jump.By.Milliseconds()
	}
	if isBehind {
		c.report.tell(Event{Type: EventNotice, Reason: fmt.Sprintf("Event %d of the journal is of %s, %s ahead of the local clock, which the service's confirms: a clock was wrong then.",
			meta.Serial, meta.At.UTC().Format(time.RFC3339), inWords(behind))})
		confirmed.BehindMS = behind.Milliseconds()
	}
	return []state.Entry{confirmed}, nil
}
