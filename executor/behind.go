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

// confirmClock returns what is to be journalled before a run begins whose clock lies behind the newest
// event: the service confirms it, whose Date ready has compared with it. Else it returns a
// *[BehindError].
func (c *course) confirmClock(ctx context.Context) ([]state.Entry, error) {
	snapshot, err := c.run.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	meta := snapshot.Meta()
	if err := snapshot.Close(); err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	r := c.timekeeper.begun()
	behind := meta.At.Sub(r.local.Round(0))
	switch {
	case behind <= state.JumpMin:
		return nil, nil
	case r.Date.IsZero():
		return nil, &BehindError{Seq: meta.Serial, At: meta.At, Local: r.local}
	}
	c.report.tell(Event{Type: EventNotice, Reason: fmt.Sprintf("Event %d of the journal is of %s, %s ahead of the local clock, which the service's confirms: a clock was wrong then.",
		meta.Serial, meta.At.UTC().Format(time.RFC3339), inWords(behind))})
	return []state.Entry{state.Clock{BehindMS: behind.Milliseconds(), Clocks: r.Clocks, By: c.run.Begun.By}}, nil
}
