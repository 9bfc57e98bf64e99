package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"remit/executor"
	"remit/internal/view"
	"remit/state"
)

// failoverKnock is how long a runner asks at a time to take part in the run that goes on.
const failoverKnock = 5 * time.Second

// cannotError says that a runner can't take part in a run, and has sent nothing there.
type cannotError struct{ error }

func (e *cannotError) Unwrap() error { return e.error }

// returned compares the server of a store with the one that a journal was on.
func returned(ctx context.Context, store state.Store, before state.Replicated) (state.Return, error) {
	server, ok := store.(state.Returning)
	if !ok {
		panic("a state on a server that can't say which one it is")
	}
	return server.Return(ctx, before)
}

// isLeftBehind reports whether a runner that was put out of a run that several carry out was so because its server went
// away: the server started anew, another one took its place, or another runner goes on with the plan. Otherwise it
// stood still for longer than its lease, or somebody took the lock away.
func (f *failover) isLeftBehind(ctx context.Context, away *awayError) (bool, error) {
	store, err := f.state.Backend.Open(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = store.Close() }() // it was only read
	back, err := returned(ctx, store, away.journal)
	if err != nil || back.Anew {
		return back.Anew, err
	}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	seq, _ := away.journal.Newest()
	for event, err := range snapshot.Events(ctx, seq, "") {
		if err != nil {
			return false, err
		}
		entry, err := event.Entry()
		if err != nil {
			return false, err
		}
		if begun, ok := entry.(state.Begun); ok {
			return f.whole.IsOf(begun), nil
		}
	}
	return false, nil
}

// joinAgain takes part in the run of the holder of the lock, if that goes on with the plan of this one and has all that
// this one wrote. The error is a *[notYetError] where that run lets nobody in yet.
func (f *failover) joinAgain(ctx context.Context, away *awayError, store state.Store, holder state.Holder, began time.Time) error {
	joiner, ok := store.(state.Joiner)
	if !ok {
		panic("a state in PostgreSQL that no second runner can join")
	}
	holder.RunID = ""
	journal, err := joiner.Join(ctx, holder, failoverKnock)
	if err != nil {
		if _, isLocked := errors.AsType[*state.LockedError](err); isLocked || errors.Is(err, state.ErrNoRun) {
			return &notYetError{err}
		}
		return f.notYet(away, err)
	}
	defer func() { _ = journal.Unlock() }() // the lock dies with the process anyway
	err = f.joined(ctx, away, journal, began)
	if err != nil {
		_ = journal.Leave(context.WithoutCancel(ctx)) // it has, or has claimed nothing
	}
	return err
}

// joined proves that the run has what this runner wrote, and takes part in it.
func (f *failover) joined(ctx context.Context, away *awayError, journal state.JoinedJournal, began time.Time) error {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return &notYetError{err}
	}
	err = f.proveNewest(ctx, away, snapshot)
	_ = snapshot.Close() // it was only read
	switch {
	case errors.Is(err, state.ErrReplaced):
		// A run that goes on could not know of the missing events: it must not.
		_ = journal.Stop(ctx, fmt.Sprintf("the server that took over lacks what the runner on %s had written", f.host.Holder("").Host))
		return away.finish(fmt.Errorf("%w: %w", executor.ErrJournal, err))
	case errors.Is(err, state.ErrFenced):
		return away.finish(fmt.Errorf("%w: %w", executor.ErrJournal, err))
	case err != nil:
		return &notYetError{err}
	}
	err = f.joinIn(ctx, away, journal, began)
	cannot, isNone := errors.AsType[*cannotError](err)
	switch {
	case !isNone:
		return err
	case wentAway(cannot) || errors.Is(cannot, state.ErrFenced):
		return &notYetError{cannot}
	}
	f.reason = ". The state is back, and this runner can't take part in the run that goes on: " + view.Visible(cannot.Error())
	return away.finish(away.failed)
}

// countWhole takes part in a run that goes on with a plan, and counts the whole plan at its end, as the state has it: the
// runners of the run count what that sends. So many requests of the runner went before.
func (f *failover) countWhole(requests int) func(context.Context, executor.Run) (executor.Summary, error) {
	return func(ctx context.Context, run executor.Run) (executor.Summary, error) {
		s, err := executor.Join(ctx, run)
		s.Requests += requests
		if err != nil || s.Left {
			return s, err
		}
		snapshot, err := run.Journal.Snapshot(ctx)
		if err != nil {
			return s, nil // it counts the run alone
		}
		defer func() { _ = snapshot.Close() }() // it was only read
		whole, err := executor.SettledBefore(ctx, f.whole, nil, snapshot)
		if err != nil {
			return s, nil
		}
		if left := s.Totals[executor.ResultNotAttempted]; left != nil {
			whole.Totals[executor.ResultNotAttempted] = left
		}
		s.Totals, s.Unfinished, s.Unknown = whole.Totals, whole.Unfinished, whole.Unknown
		return s, nil
	}
}
