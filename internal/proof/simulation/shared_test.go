//go:build unix

package main_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"remit/executor"
	"remit/internal/proof/simulation/history"
	"remit/internal/transfer"
	"remit/state"
)

// sharingMutants break what runners of one run owe one another.
func sharingMutants() map[string]history.Client {
	return map[string]history.Client{
		"goes on after its part of a run was taken over": run(func(r executor.Run, _ history.View) executor.Run {
			if r.Share != nil {
				r.Journal = heedless{placed{r.Journal}}
			}
			return r
		}),
		"gives a part of a run away before its owner can send nothing more": {Lease: 1200 * time.Millisecond},
		"counts the rate limit of a run by itself":                          {Share: func(s state.Share) state.Share { return ownRate{s} }},
		"takes part in a run that its files do not declare":                 {Joins: true},
		"ends a run of which others have parts":                             {Share: func(s state.Share) state.Share { return hasty{s} }},
		"adds up its own part of a run alone":                               {Share: func(s state.Share) state.Share { return &selfish{Share: s} }},
		"goes on after another runner stopped the run":                      {Share: func(s state.Share) state.Share { return silent{s} }},
		"takes what a lost runner began for not begun": run(func(r executor.Run, _ history.View) executor.Run {
			if r.Share != nil {
				r.Journal = oblivious{placed{r.Journal}, r.Begun.RunID}
			}
			return r
		}),
	}
}

// heedless does not hear that others took its place.
type heedless struct{ placed }

func (j heedless) Check(ctx context.Context) error { return unlessLost(j.Journal.Check(ctx)) }

func (j heedless) Append(ctx context.Context, entries ...state.Entry) error {
	return unlessLost(j.Journal.Append(ctx, entries...))
}

func unlessLost(err error) error {
	if errors.Is(err, state.ErrTakenForLost) {
		return nil
	}
	return err
}

// ownRate asks nobody whether a request may start.
type ownRate struct{ state.Share }

func (s ownRate) Reserve(_ context.Context, _ transfer.Operation, rate state.Rate, wanted int) (int, time.Duration, error) {
	return wanted, state.Lateness(rate.Window), nil
}

// hasty takes a run for done where nothing is left to claim.
type hasty struct{ state.Share }

func (s hasty) Claim(ctx context.Context, all bool) ([]state.Part, bool, error) {
	parts, done, err := s.Share.Claim(ctx, all)
	return parts, done || len(parts) == 0, err
}

// selfish reads no tally but its own.
type selfish struct {
	state.Share
	mu  sync.Mutex
	own [][]byte
}

func (s *selfish) Open(ctx context.Context, o state.Opening) error {
	s.keep(o.Tally)
	return s.Share.Open(ctx, o)
}

func (s *selfish) Done(ctx context.Context, parts []int, settled int, tally []byte) error {
	s.keep(tally)
	return s.Share.Done(ctx, parts, settled, tally)
}

func (s *selfish) Runners(ctx context.Context) ([]state.Runner, [][]byte, error) {
	runners, _, err := s.Share.Runners(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	return runners, s.own, err
}

func (s *selfish) keep(tally []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(tally) > 0 {
		s.own = append(s.own, tally)
	}
}

// silent tells nobody that it stops.
type silent struct{ state.Share }

func (s silent) Stop(context.Context, string) error { return nil }

// oblivious does not see what is open in the run.
type oblivious struct {
	placed
	runID string
}

func (j oblivious) Snapshot(ctx context.Context) (state.Snapshot, error) {
	s, err := j.Journal.Snapshot(ctx)
	return forgetful{s, j.runID}, err
}

type forgetful struct {
	state.Snapshot
	runID string
}

func (s forgetful) Details(ctx context.Context, refIDs ...string) ([]state.Detail, error) {
	details, err := s.Snapshot.Details(ctx, refIDs...)
	var known []state.Detail
	for _, d := range details {
		if d.RunID != s.runID || !d.Open() {
			known = append(known, d)
		}
	}
	return known, err
}
