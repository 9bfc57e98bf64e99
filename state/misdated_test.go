package state_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/state"
)

// told is what a state says of its clocks; runs and jumps are in the order of the journal.
type told struct {
	created time.Time
	jumps   []state.Jump
	runs    []state.Run
}

func (s told) Meta() state.Meta { return state.Meta{CreatedAt: s.created} }

func (s told) Jumps(context.Context) iter.Seq2[state.Jump, error] { return newestFirst(s.jumps) }

func (s told) Runs(context.Context) iter.Seq2[state.Run, error] { return newestFirst(s.runs) }

func newestFirst[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for i := len(all) - 1; i >= 0; i-- {
			if !yield(all[i], nil) {
				return
			}
		}
	}
}

func TestWhatAWrongClockMayHaveDatedCountsUpToWhenItWasRight(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	hours := func(n int) time.Time { return now.Add(time.Duration(n) * time.Hour) }
	run := func(at time.Time, confirmed bool) state.Run {
		r := state.Run{BegunAt: at, EndedAt: at.Add(time.Hour), Ended: &state.Ended{}}
		if confirmed {
			r.Begun.Clocks.Date = at
		}
		return r
	}
	killed := func(at time.Time) state.Run { return state.Run{BegunAt: at} }
	const decade = 87600
	back := func(at time.Time, by int) state.Jump { return state.Jump{At: at, Back: time.Duration(by) * time.Hour} }
	for name, c := range map[string]struct {
		state told
		want  []state.Misdated
	}{
		"no clock went back": {told{hours(-900), nil, []state.Run{run(hours(-decade), false), run(hours(-5), false)}}, nil},
		"a run by a clock that was ten hours ahead": {
			told{hours(-900), []state.Jump{back(hours(-20), 11)}, []state.Run{run(hours(-10), false), run(hours(-19), true)}},
			[]state.Misdated{{hours(-20), hours(-9), hours(-20)}},
		},
		"a run by a clock that is ten years ahead, and one that is right": {
			told{hours(-900), []state.Jump{back(hours(-2), decade+2)}, []state.Run{run(hours(decade), false), run(hours(-2), false)}},
			[]state.Misdated{{hours(-2), hours(decade), hours(-2)}},
		},
		"a run by a clock that was ten years behind": {
			told{hours(-900), []state.Jump{back(hours(-decade), decade-24)}, []state.Run{run(hours(-25), false), run(hours(-decade), false), run(hours(-3), false)}},
			[]state.Misdated{
				{hours(-decade), hours(-24), hours(-decade)},
				{hours(-decade).Add(-state.JumpMin), hours(1 - decade).Add(state.JumpMin), hours(-3)},
			},
		},
		"a first run by a clock that is behind": {
			told{hours(-900), []state.Jump{back(hours(-decade), decade-900)}, []state.Run{run(hours(-decade), false)}},
			[]state.Misdated{
				{hours(-decade), hours(-900), hours(-decade)},
				{hours(-decade).Add(-state.JumpMin), hours(1 - decade).Add(state.JumpMin), now},
			},
		},
		"a killed run by a clock that is behind may have written for a day": {
			told{hours(-900), []state.Jump{back(hours(-decade), decade-900)}, []state.Run{killed(hours(-decade))}},
			[]state.Misdated{
				{hours(-decade), hours(-900), hours(-decade)},
				{hours(-decade).Add(-state.JumpMin), hours(24 - decade).Add(state.JumpMin), now},
			},
		},
		"a run whose clock went back ten years before it ended may have written for a day": {
			told{
				hours(-decade - 900),
				[]state.Jump{back(hours(-2*decade), decade)},
				[]state.Run{{BegunAt: hours(-decade - 960), EndedAt: hours(-2 * decade), Ended: &state.Ended{}}},
			},
			[]state.Misdated{
				{hours(-2 * decade), hours(-decade), hours(-2 * decade)},
				{hours(-decade - 960).Add(-state.JumpMin), hours(-decade - 960 + 24).Add(state.JumpMin), now},
			},
		},
		"a run by a clock that is behind, after one by a clock that is ahead": {
			told{
				hours(-900),
				[]state.Jump{back(hours(-decade), 2*decade)},
				[]state.Run{run(hours(decade), false), run(hours(-decade), false), run(hours(-3), false)},
			},
			[]state.Misdated{
				{hours(-decade), hours(decade), hours(-decade)},
				{hours(-decade).Add(-state.JumpMin), hours(1 - decade).Add(state.JumpMin), hours(-3)},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := state.MisdatedTimes(t.Context(), c.state, now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
