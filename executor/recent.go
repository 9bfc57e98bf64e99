package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"remit/executor/ratelimit"
	"remit/internal/transfer"
	"remit/state"
)

// recentStarts gathers when recent requests started, as far as the state knows: not after
// their outcome, and where there is none, not after now.
type recentStarts struct {
	now    time.Time
	limits map[transfer.Operation]ratelimit.Limit
	list   []recentStart

	// shifts are how far the local clock went ahead of the others since a run began, by its ID: so much
	// later than it is dated may be what that run did.
	shifts map[string]time.Duration
}

type recentStart struct {
	refID  string
	latest time.Time
}

// readShifts learns how the local clock went since the runs of the state began, by what no restart and no person
// turns: boottime within one boot, else the service's Date or the server's clock. A clock that was behind then has
// its run's requests look older than they are.
func (r *recentStarts) readShifts(ctx context.Context, snapshot state.Snapshot, now reading) error {
	if len(r.limits) == 0 {
		return nil
	}
	r.shifts = make(map[string]time.Duration)
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return fmt.Errorf("read the runs: %w", err)
		}
		then := run.Begun.Clocks
		if then.Boot != "" && then.Boot == now.Boot { // to the millisecond, where the others have seconds
			then = state.Clocks{Boot: then.Boot, BootMS: then.BootMS}
		}
		passed := elapsed(then, now.Clocks, time.Duration(then.WithinMS+now.WithinMS)*time.Millisecond)
		if len(passed) == 0 {
			continue
		}
		least := slices.MinFunc(passed, func(a, b wait) int { return cmp.Compare(a.passed, b.passed) }).passed
		if shift := now.local.Round(0).Sub(run.BegunAt) - least; shift > 0 {
			r.shifts[run.Begun.RunID] = shift
		}
	}
	return nil
}

// dated is when something of a run may have been at the latest that is dated at. It is counted back from now, so that it keeps
// the monotonic reading of now: a clock that is set back during this run makes nothing of the past look later.
func (r *recentStarts) dated(at time.Time, runID string) time.Time {
	return r.now.Add(min(0, at.Add(r.shifts[runID]).Sub(r.now)))
}

func (r *recentStarts) note(row state.Transfer) {
	if len(r.limits) == 0 || row.AttemptedAt.IsZero() {
		return
	}
	latest := row.AttemptedAt
	switch {
	case row.Open():
		latest = r.now
	case !row.SettledAt.Before(latest):
		latest = row.SettledAt.Add(time.Millisecond) // the state's times are cut to milliseconds
	}
	latest = r.dated(latest, row.RunID)
	for _, limit := range r.limits {
		if r.now.Sub(latest) < limit.Window {
			r.list = append(r.list, recentStart{row.RefID, latest})
			return
		}
	}
}

// byOperation returns the latest starts of each limited operation, oldest first: at least as many as it
// allows, where there were so many, and of a ref_id every attempt that the journal has.
func (r *recentStarts) byOperation(ctx context.Context, snapshot state.Snapshot) (map[transfer.Operation][]time.Time, error) {
	slices.SortFunc(r.list, func(a, b recentStart) int { return cmp.Or(b.latest.Compare(a.latest), cmp.Compare(a.refID, b.refID)) })
	starts := make(map[transfer.Operation][]time.Time)
	refIDs := make(map[transfer.Operation]int) // each has a start that is later than those of all that follow
	for _, start := range r.list {
		if r.enough(refIDs) {
			break
		}
		operation, attempts, err := r.attempts(ctx, snapshot, start)
		if err != nil {
			return nil, err
		}
		starts[operation] = append(starts[operation], attempts...)
		refIDs[operation]++
	}
	for _, list := range starts {
		slices.SortFunc(list, time.Time.Compare)
	}
	return starts, nil
}

// attempts are when the requests of a ref_id started at the latest, of all that the journal has. An
// attempt ended with its answer or, where its run died, before the next one began.
func (r *recentStarts) attempts(ctx context.Context, snapshot state.Snapshot, start recentStart) (transfer.Operation, []time.Time, error) {
	var operation transfer.Operation
	var starts []time.Time
	isOpen := false
	end := func(at time.Time) {
		if isOpen {
			starts = append(starts, at)
		}
		isOpen = false
	}
	for event, err := range snapshot.Events(ctx, 0, start.refID) {
		if err != nil {
			return "", nil, err
		}
		switch event.Kind {
		case state.KindIntent:
			end(r.dated(event.Time, event.RunID))
			entry, err := event.Entry()
			if err != nil {
				return "", nil, err
			}
			operation, isOpen = entry.(state.Intent).Operation, true
		case state.KindOutcome:
			end(r.dated(event.Time.Add(time.Millisecond), event.RunID)) // the state's times are cut to milliseconds
		case state.KindCreated, state.KindBegun, state.KindEnded, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked, state.KindErased:
		}
	}
	end(start.latest)
	if len(starts) > 0 {
		starts[len(starts)-1] = start.latest
	}
	return operation, starts, nil
}

func (r *recentStarts) enough(refIDs map[transfer.Operation]int) bool {
	for op, limit := range r.limits {
		if refIDs[op] < limit.Requests {
			return false
		}
	}
	return true
}
