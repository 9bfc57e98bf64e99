package planner

import (
	"context"
	"fmt"
	"iter"
	"time"

	"remit/state"
)

// clocked is a record that knows which of its times a wrong clock may have written; a [state.Snapshot] is one. A
// record around another one has a method Unwrap.
type clocked interface {
	Meta() state.Meta
	Jumps(ctx context.Context) iter.Seq2[state.Jump, error]
	Runs(ctx context.Context) iter.Seq2[state.Run, error]
}

// moments are the times at which something may have been that a record dates.
type moments struct {
	now   time.Time
	wrong []state.Misdated
}

// newMoments reads what a record says of its clocks. One that says nothing is taken by its word.
func newMoments(ctx context.Context, record Record, now time.Time) (*moments, error) {
	m := &moments{now: now}
	from, ok := within[clocked](record)
	if !ok {
		return m, nil
	}
	var err error
	if m.wrong, err = state.MisdatedTimes(ctx, from, now); err != nil {
		return nil, fmt.Errorf("read what the state says of its clocks: %w", err)
	}
	return m, nil
}

// mayBe reports whether is holds of a time, or of another one at which that may have been: nothing is later than
// now, and what a wrong clock may have dated counts on the safe side.
func (m *moments) mayBe(at time.Time, is func(time.Time) bool) bool {
	if is(at) || at.After(m.now) && is(m.now) {
		return true
	}
	for _, w := range m.wrong {
		if !at.Before(w.From) && !at.After(w.Until) && is(w.Latest) {
			return true
		}
	}
	return false
}
