package state_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"remit/state"
)

// oneRun is a state with one run, which has not ended.
type oneRun struct{ run state.Run }

func (oneRun) Meta() state.Meta { return state.Meta{} }

func (oneRun) Jumps(context.Context) iter.Seq2[state.Jump, error] {
	return func(func(state.Jump, error) bool) {}
}

func (o oneRun) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(yield func(state.Run, error) bool) { yield(o.run, nil) }
}

func (oneRun) Clocks(context.Context) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

// TestAClockJumpsInBothDirections has a clock that somebody set since a run began, an hour before by the time since the boot.
func TestAClockJumpsInBothDirections(t *testing.T) {
	begun := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	run := state.Run{Begun: state.Begun{RunID: "run-1", Clocks: state.Clocks{Boot: "a", BootMS: 1000}}, BegunAt: begun}
	here := state.Clocks{Boot: "a", BootMS: 1000 + time.Hour.Milliseconds()}
	for name, test := range map[string]struct {
		by   time.Duration
		want bool
	}{
		"it is right":            {0, false},
		"ahead by what is none":  {state.JumpMin, false},
		"behind by what is none": {-state.JumpMin, false},
		"ahead":                  {state.JumpMin + time.Second, true},
		"behind":                 {-state.JumpMin - time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			jump, isOne, err := state.Jumped(t.Context(), oneRun{run}, begun.Add(time.Hour+test.by), here)
			if err != nil || isOne != test.want || isOne && jump.By != test.by {
				t.Errorf("a jump: %v, %+v, error %v", isOne, jump, err)
			}
		})
	}
}

// TestAClockIsFarFromTheServersInBothDirections holds the clock of this machine against that of the server that keeps the state.
func TestAClockIsFarFromTheServersInBothDirections(t *testing.T) {
	server := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		by    time.Duration
		isFar bool
		words string
	}{
		"it is right":            {0, false, "0s ahead of"},
		"ahead by what is none":  {state.ServerSkewMax, false, "5m0s ahead of"},
		"behind by what is none": {-state.ServerSkewMax, false, "5m0s behind"},
		"ahead":                  {state.ServerSkewMax + time.Second, true, "5m1s ahead of"},
		"behind":                 {-state.ServerSkewMax - time.Second, true, "5m1s behind"},
	} {
		t.Run(name, func(t *testing.T) {
			words, ahead, isFar := state.FromServer(server.Add(test.by), server)
			if isFar != test.isFar || ahead != test.by || !strings.Contains(words, ", "+test.words+" that of the PostgreSQL server") {
				t.Errorf("far: %t, ahead by %v: %s", isFar, ahead, words)
			}
		})
	}
}
