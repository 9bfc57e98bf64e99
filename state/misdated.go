package state

import (
	"context"
	"iter"
	"slices"
	"time"
)

// Misdated says that events dated from From to Until may be of a wrong clock, and of any time up to
// Latest.
type Misdated struct{ From, Until, Latest time.Time }

// runTail is how long after its begin a run without an end may have written.
const runTail = 24 * time.Hour

// MisdatedTimes names the times of a state that a wrong clock may have written, at the time now: a time that was ahead is
// not later than the event at which the clock went back, and one that was behind not later than the next run that is
// not. A run whose clock the service's Date confirmed is right. It reads no run where no clock ever went back.
func MisdatedTimes(ctx context.Context, s interface {
	Meta() Meta
	Jumps(ctx context.Context) iter.Seq2[Jump, error]
	Runs(ctx context.Context) iter.Seq2[Run, error]
}, now time.Time,
) ([]Misdated, error) {
	var all []Misdated
	for jump, err := range s.Jumps(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, Misdated{From: jump.At, Until: jump.At.Add(jump.Back), Latest: jump.At})
	}
	if len(all) == 0 {
		return nil, nil
	}
	var runs []Run
	for run, err := range s.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	slices.Reverse(runs) // the newest come first
	newest := s.Meta().CreatedAt
	for i, run := range runs {
		isConfirmed := !run.Begun.Clocks.Date.IsZero()
		if before := newest; !isConfirmed && before.Sub(run.BegunAt) > JumpMin && !before.After(now) {
			all = append(all, Misdated{
				From: run.BegunAt.Add(-JumpMin), Until: lastOf(run).Add(JumpMin), Latest: nextAfter(runs[i+1:], before, now),
			})
		}
		for _, at := range []time.Time{run.BegunAt, run.EndedAt} {
			if at.After(newest) && !at.After(now) { // a time in the future is of a clock that was ahead
				newest = at
			}
		}
	}
	return all, nil
}

// lastOf is when a run wrote its last event, at the latest.
func lastOf(run Run) time.Time {
	if run.Ended != nil && run.EndedAt.After(run.BegunAt) {
		return run.EndedAt
	}
	return run.BegunAt.Add(runTail)
}

// nextAfter is when the first of the runs began that is not before a time, or now.
func nextAfter(runs []Run, at, now time.Time) time.Time {
	for _, run := range runs {
		if !run.BegunAt.Before(at) && !run.BegunAt.After(now) {
			return run.BegunAt
		}
	}
	return now
}
