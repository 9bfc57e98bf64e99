package executor

import (
	"context"
	"fmt"
	"iter"

	"remit/internal/doubt"
	"remit/state"
)

// DoubtAges tells, before a run, which doubts it will find too old to be sent again.
type DoubtAges struct {
	settings Settings
	now      reading
	begun    map[string]state.Clocks // by run
}

// ReadDoubtAges reads what earlier runs kept of their clocks. Of the settings it needs the replay window and the timeout
// of a request; a window of 0 is not known, and no doubt is too old for it.
func ReadDoubtAges(ctx context.Context, runs iter.Seq2[state.Run, error], clock Clock, settings Settings) (*DoubtAges, error) {
	a := &DoubtAges{settings: settings, now: localReading(clock), begun: make(map[string]state.Clocks)}
	for run, err := range runs {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("read the clocks of earlier runs: %w", err)
		}
		a.begun[run.Begun.RunID] = run.Begun.Clocks
	}
	return a, nil
}

// TooOld returns why a run that begins now on this machine does not send the recorded request of a doubt again. The
// run asks the service, or the server of the database, for its time; here these clocks have gone on as the local one did.
func (a *DoubtAges) TooOld(d *state.Detail) doubt.Hold {
	if a.settings.ReplayWindow <= 0 {
		return doubt.Hold{}
	}
	then, now := sent{at: d.IntendedAt, clocks: d.Intent.ClocksIn(a.begun[d.Intent.RunID])}, a.now
	passed := now.local.Round(0).Sub(then.at.Round(0))
	if !then.clocks.Date.IsZero() {
		now.Date = then.clocks.Date.Add(passed)
	}
	if !then.clocks.Server.IsZero() {
		now.Server = then.clocks.Server.Add(passed)
	}
	return agesAt(then, now).tooOld(a.settings)
}
