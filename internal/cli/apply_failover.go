package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"remit/executor"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/text/english"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

const (
	// failoverDefault is how long a run waits for a server of its state where --failover-timeout says nothing.
	failoverDefault = 2 * time.Minute
	// failoverPause is between two looks for one.
	failoverPause = 500 * time.Millisecond
	// takesNothingPause is the longest one before a server that takes nothing is tried again.
	takesNothingPause = 10 * time.Second
)

// failover is what an apply keeps of its run, so that it can go on where the server of the state fails over.
type failover struct {
	timeout time.Duration
	host    *host.Host
	state   *workspace.State  // that the server has
	whole   *planner.Plan     // as it was approved; nil before it is, and where nothing goes on
	isSaved bool              // whole is that of a file, or was read back as one
	before  *executor.Summary // how the lines ended of which the run under way has no more to do; nil in the first run
	reason  string            // why it goes on no more, in words that follow the failure; "" where it was not tried
	mayLack bool              // the server that took over may lack what runners of the run wrote
	shared  bool              // several carried the run out, or one before it: another of them may go on first

	// controls are those against which the plan is computed again.
	controls func() planner.Controls

	// carryOut carries out the rest of the plan under the lock that holder has; rest is nil where nothing is left.
	carryOut func(ctx context.Context, rest *resumption) error

	// joinIn takes part in a run in progress, which goes on with the plan. An error of type *[cannotError] says that
	// it can't, and that it has sent nothing there.
	joinIn func(ctx context.Context, away *awayError, journal state.JoinedJournal, began time.Time) error
}

// resumption is what a run goes on with.
type resumption struct {
	from     *awayError
	journal  state.Journal
	snapshot state.Snapshot
	holder   state.Holder
	left     *planner.Plan // nil where each line has its outcome
	began    time.Time     // when the run before it ended
}

// awayError says that the server of the state went away in the middle of a run, and that the apply may go on once there
// is one again.
type awayError struct {
	failed  error // of the run
	runID   string
	journal state.Replicated
	summary executor.Summary
	tell    func(reason string)
	leave   func() error // gives up showing the run, which another one goes on with

	// finish ends the apply as the run ended, or with the error in its place that says more.
	finish func(failed error) error
}

func (e *awayError) Error() string { return e.failed.Error() }

func (e *awayError) Unwrap() error { return e.failed }

// flag adds --failover-timeout to a command.
func (f *failover) flag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.timeout, "failover-timeout", failoverDefault, "how long a run waits for its PostgreSQL server, or the one that takes over, before it gives up; 0s doesn't wait")
}

// check refuses a wait that is none.
func (f *failover) check() error {
	if f.timeout < 0 {
		return fmt.Errorf("--failover-timeout=%v is no length of time to wait; it takes 0s or more", f.timeout)
	}
	return nil
}

// mayGoOn reports whether an apply may go on after a run that failed: the server of its state went away, and nothing
// else has ended the run. Of a run that several carry out, another runner may have heard of that before, and have gone
// on: then this one is put out ([failover.isLeftBehind] says more).
func (f *failover) mayGoOn(run executor.Run, failed error, s executor.Summary) (state.Replicated, bool) {
	journal, ok := run.Journal.(state.Replicated)
	isAway := ok && (wentAway(failed) || (f.shared || journal.IsShared()) && errors.Is(failed, state.ErrFenced))
	return journal, isAway && !s.Interrupted && !s.StoppedSound && f.timeout > 0 && f.whole != nil
}

func wentAway(failed error) bool {
	return errors.Is(failed, state.ErrAway) || errors.Is(failed, state.ErrLost)
}

// rideOut goes on with an apply whose run ended because the server of its state went away, until it has ended, or can't
// go on. Any other error it returns as it is.
func (f *failover) rideOut(ctx context.Context, ended error) error {
	var until time.Time
	var settled int
	var pause time.Duration
	for {
		away, ok := errors.AsType[*awayError](ended)
		if !ok {
			return ended
		}
		f.shared = f.shared || away.journal.IsShared()
		// A server that is there and takes nothing, such as one whose disk is full, is waited for once, and asked less and less often.
		if now := countSettled(away.summary); until.IsZero() || now > settled {
			until, settled, pause = f.host.Now().Add(f.timeout), now, failoverPause
		} else {
			left := until.Sub(f.host.Now())
			if left <= 0 {
				f.reason = fmt.Sprintf(". A server was there, and took nothing within --failover-timeout=%v", f.timeout)
				return away.finish(away.failed)
			}
			if f.host.Clock().Sleep(ctx, min(pause, left)) != nil {
				return f.interrupted(away)
			}
			pause = min(2*pause, takesNothingPause)
		}
		ended = f.awaitServer(ctx, away, until)
	}
}

// interrupted ends an apply that was interrupted while it waited.
func (f *failover) interrupted(away *awayError) error {
	f.reason = ". The apply was interrupted while it waited for the server"
	return away.finish(away.failed)
}

// countSettled is how many transfers have an outcome.
func countSettled(s executor.Summary) int {
	n := 0
	for result, totals := range s.Totals {
		if result != executor.ResultInDoubt && result != executor.ResultNotAttempted {
			n += totals.Count()
		}
	}
	return n
}

// notYetError says that there is no server yet with which the apply can go on.
type notYetError struct{ error }

// awaitServer waits for a server that has all that the run wrote, and goes on there.
func (f *failover) awaitServer(ctx context.Context, away *awayError, until time.Time) error {
	if !wentAway(away.failed) {
		if isBehind, err := f.isLeftBehind(ctx, away); err != nil || !isBehind {
			return away.finish(away.failed) // it was put out, and nobody's server failed over
		}
	}
	seq, _ := away.journal.Newest()
	began := f.host.Now()
	happened, _ := f.state.Explain(away.failed)
	away.tell(fmt.Sprintf("%s. This run sends nothing until a server is back that has event %d, its newest. It waits until %s.",
		view.Visible(happened), seq, until.UTC().Format(time.RFC3339)))
	for {
		err := f.goOn(ctx, away, began)
		notYet, isNotYet := errors.AsType[*notYetError](err)
		switch {
		case !isNotYet:
			return err
		case !f.host.Now().Before(until):
			f.reason = fmt.Sprintf(". No server came back with which to go on within --failover-timeout=%v: %s", f.timeout, view.Visible(notYet.Error()))
			return away.finish(away.failed)
		}
		if f.host.Clock().Sleep(ctx, failoverPause) != nil {
			return f.interrupted(away)
		}
	}
}

// goOn goes on with the plan in a run of its own, on the server that there is: it opens the state anew and takes the
// lock, and continues nothing of the journal that failed. The error is a *[notYetError] where there is none yet.
func (f *failover) goOn(ctx context.Context, away *awayError, began time.Time) error {
	store, err := f.state.Backend.Open(ctx)
	if err != nil {
		return f.notYet(away, err)
	}
	defer func() { _ = store.Close() }() // every append was durable when it returned
	if f.shared {
		back, err := returned(ctx, store, away.journal)
		if err != nil {
			return f.notYet(away, err)
		}
		if back.MayLack {
			f.mayLack = true
			f.reason = ". The server that took over may lack what other runners of this run wrote: no commit waited for a copy (synchronous_standby_names was empty)"
			return away.finish(away.failed)
		}
	}
	holder := f.host.Holder("remit apply")
	holder.RunID = uuid.NewString()
	journal, err := store.Lock(ctx, holder, 0)
	if locked, isLocked := errors.AsType[*state.LockedError](err); isLocked && f.shared && !isSelf(locked.Holder, holder) {
		return f.joinAgain(ctx, away, store, holder, began)
	}
	if err != nil {
		return f.notYet(away, err)
	}
	err = f.goOnLocked(ctx, away, journal, holder, began)
	_ = journal.Unlock() // the lock dies with the process anyway, and the journal has every event
	workspace.WarnOfUnnoted(f.state, journal)
	return err
}

// notYet judges why the state can't be used: it may be, later, unless what is there is not the state, or somebody else
// has it.
func (f *failover) notYet(away *awayError, err error) error {
	locked, isLocked := errors.AsType[*state.LockedError](err)
	switch {
	case isLocked && isSelf(locked.Holder, f.host.Holder("")):
		return &notYetError{err} // the server has not seen yet that the connection of this run ended
	case isLocked:
		return away.finish(fmt.Errorf("%w: %w", executor.ErrJournal, &state.TakenError{By: locked.Holder}))
	case f.state.KnownError(err) != nil:
		return away.finish(fmt.Errorf("%w: %w", executor.ErrJournal, err))
	}
	return &notYetError{err}
}

// isSelf reports whether a holder of the lock is this process.
func isSelf(holder, self state.Holder) bool {
	return holder.Host == self.Host && holder.PID == self.PID && holder.User == self.User
}

// goOnLocked goes on under the lock, if the state has all that the run wrote and nobody else had it since.
func (f *failover) goOnLocked(ctx context.Context, away *awayError, journal state.Journal, holder state.Holder, began time.Time) error {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return &notYetError{err}
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	if err := f.state.Check(snapshot.Meta()); err != nil {
		return away.finish(fmt.Errorf("%w: %w", executor.ErrJournal, err))
	}
	switch err := f.proveNewest(ctx, away, snapshot); {
	case errors.Is(err, state.ErrReplaced), errors.Is(err, state.ErrFenced):
		return away.finish(fmt.Errorf("%w: %w", executor.ErrJournal, err))
	case err != nil:
		return &notYetError{err}
	}
	whole, err := f.readBack()
	if err != nil {
		return away.finish(err)
	}
	left, err := whole.Recheck(ctx, state.Past{Snapshot: snapshot}, f.controls(), f.host.Now())
	switch {
	case errors.Is(err, planner.ErrCompleted):
		left = nil
	case err != nil && ctx.Err() == nil && isJudged(err):
		f.reason = ". The state is back, and the rest of the plan can't be sent any more: " + err.Error()
		return away.finish(away.failed)
	case err != nil:
		return &notYetError{err}
	}
	before, err := executor.SettledBefore(ctx, whole, left, snapshot)
	if err != nil {
		return &notYetError{err}
	}
	before.Requests = away.summary.Requests
	f.before = &before
	return f.carryOut(ctx, &resumption{away, journal, snapshot, holder, left, began})
}

// readBack is the plan as it was approved. One that was made here is read back as it would be from a file: only that
// is computed again.
func (f *failover) readBack() (*planner.Plan, error) {
	if f.isSaved {
		return f.whole, nil
	}
	var bytes bytes.Buffer
	if err := f.whole.Save(&bytes); err != nil {
		return nil, err
	}
	plan, err := planner.Open(&bytes)
	if err != nil {
		return nil, err
	}
	plan.SHA256 = "" // nobody saved it
	f.whole, f.isSaved = plan, true
	return plan, nil
}

// isJudged reports whether a plan was refused, and not the state unreadable.
func isJudged(err error) bool {
	var obstacle *planner.ObstacleError
	var other *planner.OtherError
	var controls *planner.ControlsError
	var stale *planner.StaleError
	var different *planner.DifferentError
	var block *planner.ControlBlockError
	var borrowed *planner.BorrowedError
	return errors.As(err, &obstacle) || errors.As(err, &other) || errors.As(err, &controls) || errors.As(err, &stale) ||
		errors.As(err, &different) || errors.As(err, &block) || errors.As(err, &borrowed) || errors.Is(err, planner.ErrExpired)
}

// proveNewest returns [state.ErrReplaced] where the state lacks the newest event that the run wrote, by its number and its
// hash, and [state.ErrFenced] where somebody else had the lock since. Any other error is of the read.
func (f *failover) proveNewest(ctx context.Context, away *awayError, snapshot state.Snapshot) error {
	seq, hash := away.journal.Newest()
	if newest := snapshot.Meta().Serial; newest < seq {
		away.tell(fmt.Sprintf("The newest event of the server that took over is number %d, and this run had written number %d: it lacks %s.",
			newest, seq, english.Plural(int(seq-newest), "event")))
		return state.ErrReplaced
	}
	for event, err := range snapshot.Events(ctx, seq-1, "") {
		if err != nil {
			return err
		}
		if event.Seq == seq && event.Hash != hash {
			away.tell(fmt.Sprintf("The server that took over has another event number %d than this run wrote.", seq))
			return state.ErrReplaced
		}
		if event.Seq == seq {
			continue
		}
		entry, err := event.Entry()
		if err != nil {
			return err
		}
		switch e := entry.(type) {
		case state.Begun:
			if !f.whole.IsOf(e) {
				return &state.TakenError{By: e.By}
			}
		case state.Unlocked:
			return &state.TakenError{By: e.By, Reason: e.Reason}
		}
	}
	return nil
}
