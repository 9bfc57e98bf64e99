package cli

import (
	"context"
	"errors"
	"time"
)

// apartError says that a runner cannot take part in a run now, and has claimed and sent nothing.
type apartError struct {
	error
	opening bool // the state was not opened
}

func (e *apartError) Unwrap() error { return e.error }

// awayFrom is a server that went away before a runner took part in a run.
type awayFrom struct {
	failover *failover
	tell     func(reason string) error
	until    time.Time // zero where it never was away
}

// awaitAgain waits a little before the runner looks for a run again, and reports false where it should not: no server
// went away, or none came back in time.
func (w *awayFrom) awaitAgain(ctx context.Context, ended error) bool {
	apart, ok := errors.AsType[*apartError](ended)
	f := w.failover
	switch {
	case !ok || f.timeout == 0:
		return false
	case w.until.IsZero() && (apart.opening || !wentAway(apart)): // a server that was never there is not waited for
		return false
	case apart.opening && f.state.KnownError(apart) != nil, !apart.opening && !wentAway(apart):
		return false
	case w.until.IsZero():
		w.until = f.host.Now().Add(f.timeout)
		if w.tell("The server of the state went away before this runner took part in a run. The runner has sent nothing, and looks for the run again until "+
			w.until.UTC().Format(time.RFC3339)) != nil {
			return false
		}
	case !f.host.Now().Before(w.until):
		return false
	}
	return f.host.Clock().Sleep(ctx, failoverPause) == nil
}

// awaitRun is awaitAgain where there is no run: its runners may have lost the server as well, and nobody has its lock before one of them
// goes on. Where no server went away it waits for nothing.
func (w *awayFrom) awaitRun(ctx context.Context) bool {
	f := w.failover
	return f.host.Now().Before(w.until) && f.host.Clock().Sleep(ctx, failoverPause) == nil
}
