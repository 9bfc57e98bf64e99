package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"remit/config"
	"remit/config/mistake"
	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

const (
	// joinWait is how long a run may take to let others in, --lock-timeout apart: it may just be
	// planning.
	joinWait = 15 * time.Second
	// joinPause is between a run that ends and the next look for one.
	joinPause = 200 * time.Millisecond
)

// joinOrLead takes part in the run in progress. Where there is none, it begins one, if that is
// approved: so several machines can be given one command line.
func joinOrLead(ctx context.Context, a *applying, w *opened, holder state.Holder) error {
	if _, ok := w.state.Backend.(workspace.Postgres); !ok {
		return exit.WithHint(fmt.Errorf("--join needs a state in PostgreSQL, which several runners can share; this one is the file %s. Nothing was sent. It is moved by", w.state.Name),
			w.dir.Command("state migrate --to=postgres://…"))
	}
	from := awayFrom{failover: &a.failover, tell: func(reason string) error { return tellNotice(w, reason, "") }}
	for {
		err := rideOut(ctx, a, w, joinRun(ctx, a, w, holder))
		if from.awaitAgain(ctx, err) {
			continue
		}
		if _, isApart := errors.AsType[*apartError](err); isApart && ctx.Err() != nil {
			return exit.Interrupted("while it waited for a run to take part in")
		}
		if !errors.Is(err, state.ErrNoRun) {
			return err
		}
		if a.file == "" && !a.approved() {
			if from.awaitRun(ctx) {
				continue
			}
			return noRun(ctx, a, w)
		}
		leader := holder
		leader.RunID = a.monitoring.facts.runID
		err = w.state.Locked(ctx, leader, 0, func(journal state.Journal, snapshot state.Snapshot) error {
			return a.locked(ctx, w, journal, snapshot, leader)
		})
		err = rideOut(ctx, a, w, err)
		if locked := (*state.LockedError)(nil); !errors.As(err, &locked) {
			return err
		}
		// Another one was first, or the last run has not let go yet.
		if w.host.Clock().Sleep(ctx, joinPause) != nil {
			return exit.Interrupted("while it waited for a run to take part in")
		}
	}
}

// noRun says that there is no run, to a runner that may begin none.
func noRun(ctx context.Context, a *applying, w *opened) error {
	switch {
	case ctx.Err() != nil:
		return exit.Interrupted("while it waited for a run to take part in")
	case w.config.Protected:
		return exit.WithHint(errors.New("there is no run in progress to take part in; nothing was sent. With a saved plan, --join begins one itself"),
			w.dir.Command("plan --out=november.plan"+a.planning.typed()))
	}
	return exit.WithHint(errors.New("there is no run in progress to take part in; nothing was sent. With --auto-approve, --plan-digest or a saved plan, --join begins one itself"),
		w.dir.Command(a.verb()+" --join --auto-approve"+a.planning.typed()))
}

// joinRun takes part in the run in progress; the error is [state.ErrNoRun] where there is none.
func joinRun(ctx context.Context, a *applying, w *opened, holder state.Holder) error {
	store, err := w.state.Write(ctx)
	if err != nil {
		return &apartError{err, true}
	}
	defer func() { _ = store.Close() }() // every append was durable when it returned
	joiner, ok := store.(state.Joiner)
	if !ok {
		panic("a state in PostgreSQL that no second runner can join")
	}
	journal, err := joiner.Join(ctx, holder, max(joinWait, a.lockTimeout))
	var locked *state.LockedError
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted("while it waited for a run to take part in")
	case errors.Is(err, state.ErrNoRun):
		return err
	case errors.As(err, &locked):
		return exit.WithHint(fmt.Errorf("%w, which lets no other runner take part: it is no apply, it waits for an answer, the server has no connection left for it, or it is an older version; nothing was sent", err),
			a.planning.dir.Command(same(a)+" --join --lock-timeout=5m"))
	case err != nil:
		return &apartError{w.state.Error(err), false}
	}
	defer func() { _ = journal.Unlock() }() // the lock dies with the process anyway
	err = carryOutJoined(ctx, a, w, journal)
	if err != nil {
		_ = journal.Leave(context.WithoutCancel(ctx)) // it has, or has claimed nothing
	}
	return err
}

// carryOutJoined checks that this runner would send what the run does, and takes part.
func carryOutJoined(ctx context.Context, a *applying, w *opened, journal state.JoinedJournal) error {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return &apartError{w.state.Error(err), false}
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	plan, begun, err := agreeToJoin(ctx, a, w, journal, snapshot)
	if err != nil {
		return &apartError{err, false}
	}
	_, err = fmt.Fprintf(w.streams.Err, "Taking part in run %s, begun by %s on %s.\n", begun.RunID, view.Visible(begun.By.User), view.Visible(begun.By.Host))
	if err != nil {
		return err
	}
	connection, err := w.service.Connect(ctx, a.inFlightMax(w.config))
	if err != nil {
		return err
	}
	defer connection.Close()
	carryOut := executor.Join
	switch isRest, err := isRestOfPlan(ctx, snapshot, begun); {
	case err != nil:
		return &apartError{w.state.Error(err), false}
	case isRest:
		carryOut = a.failover.countWhole(0)
	}
	return takePart(ctx, a, w, joining{plan, begun, journal, snapshot}, connection, carryOut)
}

// isRestOfPlan reports whether a run goes on with the plan of a run before it, which may have settled a part of that.
func isRestOfPlan(ctx context.Context, snapshot state.Snapshot, begun state.Begun) (bool, error) {
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return false, err
		}
		if run.Begun.IsSamePlan(begun) && run.Begun.RunID != begun.RunID {
			return true, nil
		}
	}
	return false, nil
}

// joining is a run that a runner takes part in.
type joining struct {
	plan     *planner.Plan
	begun    state.Begun
	journal  state.JoinedJournal
	snapshot state.Snapshot
}

// takePart has carryOut send a part of a run, and ends this runner's part of it.
func takePart(ctx context.Context, a *applying, w *opened, j joining, c *workspace.Connection, carryOut func(context.Context, executor.Run) (executor.Summary, error)) error {
	w.service.RunID, a.monitoring.facts.runID, a.monitoring.facts.plan = j.begun.RunID, j.begun.RunID, j.plan
	run := a.newRun(w, j.plan, j.journal, j.snapshot, j.begun.By, c)
	run.Begun = j.begun
	ended := a.execute(ctx, w, run, carryOut)
	var silent exit.Code
	if ended != nil && !errors.As(ended, &silent) || a.monitoring.facts.summary.Left { // others may have requests under way
		return ended
	}
	return a.withLeftover(ctx, w, j.journal, &countingSnapshot{Snapshot: j.snapshot}, j.plan, ended)
}

// joinAgain takes part in the run that goes on with the plan of this one, see [failover.joinAgain].
func joinAgain(ctx context.Context, a *applying, w *opened, away *awayError, journal state.JoinedJournal, began time.Time) error {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return &cannotError{err}
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	plan, begun, err := agreeToJoin(ctx, a, w, journal, snapshot)
	if err != nil {
		return &cannotError{err}
	}
	connection, err := w.service.Connect(ctx, a.inFlightMax(w.config))
	if err != nil {
		return &cannotError{err}
	}
	defer connection.Close()
	away.tell(fmt.Sprintf("The state is back after %v and has all that this runner wrote. It takes part in run %s of %s on %s, which goes on.",
		w.host.Now().Sub(began).Round(100*time.Millisecond), begun.RunID, view.Visible(begun.By.User), view.Visible(begun.By.Host)))
	if err := away.leave(); err != nil {
		return away.finish(away.failed)
	}
	a.failover.before = nil // the rows say it, see countWhole
	return takePart(ctx, a, w, joining{plan, begun, journal, snapshot}, connection, a.failover.countWhole(away.summary.Requests))
}

// agreeToJoin returns the plan of the run that a journal is of, if this runner would send what the run does.
func agreeToJoin(ctx context.Context, a *applying, w *opened, journal state.JoinedJournal, snapshot state.Snapshot) (*planner.Plan, state.Begun, error) {
	if err := w.state.Check(snapshot.Meta()); err != nil {
		return nil, state.Begun{}, err
	}
	if err := w.state.RecallAuth(ctx, snapshot); err != nil {
		return nil, state.Begun{}, w.state.Error(err)
	}
	begun, err := begunOf(ctx, snapshot, journal.RunID())
	if err != nil {
		return nil, begun, w.state.Error(err)
	}
	plan, err := joinedPlan(ctx, a, w, journal, begun)
	if err != nil {
		return nil, begun, err
	}
	whole := plan
	if err := plan.CheckHeader(snapshot.Meta(), w.config.Controls(), w.host.Now()); err != nil {
		return nil, begun, cannotJoin(a, begun, err)
	}
	// Nothing here says whether the first runner of the run did so as well.
	verified, err := plan.Verify(ctx, state.Past{Snapshot: snapshot}, controlsOf(w.config, w.dir.Sandbox), w.host.Now())
	switch {
	case err != nil && isJudged(err):
		return nil, begun, cannotJoin(a, begun, err)
	case err != nil:
		return nil, begun, w.state.Error(err)
	}
	plan = verified.Plan
	if err := a.checkApprovals(w.dir, w.config, plan); err != nil {
		return nil, begun, err
	}
	if err := checkRates(ctx, a, w.config, w.state, journal, begun); err != nil {
		return nil, begun, err
	}
	a.failover.whole, a.failover.isSaved = whole, true // it was read back, as from a file
	return plan, begun, nil
}

// checkRates refuses a run of which another runner spaces requests that this one would not, or
// the other way round: the limit that they share is that of both.
func checkRates(ctx context.Context, a *applying, loaded *config.Configuration, st *workspace.State, journal state.JoinedJournal, begun state.Begun) error {
	rates, err := journal.Rates(ctx)
	if err != nil {
		return st.Error(err)
	}
	for _, operation := range transfer.Operations() {
		_, there := rates[operation]
		if _, here := loaded.Service.RateLimits[operation]; here != there {
			has, lacks := "the run", "the configuration here"
			if here {
				has, lacks = lacks, has
			}
			return cannotJoin(a, begun, fmt.Errorf("%s has a rate_limit of operation %s, and %s has none", has, operation, lacks))
		}
	}
	return nil
}

// begunOf is the beginning of a run that the journal has.
func begunOf(ctx context.Context, snapshot state.Snapshot, runID string) (state.Begun, error) {
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return state.Begun{}, err
		}
		if run.Begun.RunID == runID {
			return run.Begun, nil
		}
	}
	return state.Begun{}, fmt.Errorf("run %s is open to others, and the journal does not have it: %w", runID, state.ErrDamaged)
}

// joinedPlan is the plan of a run as this runner has it: the saved plan, which must be the
// run's to the byte; or the plan that the run carries, each line of which must be what the
// configuration here declares (law 4).
func joinedPlan(ctx context.Context, a *applying, w *opened, journal state.JoinedJournal, begun state.Begun) (*planner.Plan, error) {
	if (a.file == "") != (begun.PlanSHA256 == "") {
		if a.file == "" {
			return nil, exit.WithHint(fmt.Errorf("the run in progress carries out the saved plan %s: name it here too; nothing was sent", view.Visible(begun.PlanFile)),
				a.planning.dir.Command("apply --join "+shell.File(begun.PlanFile)))
		}
		return nil, exit.WithHint(fmt.Errorf("the run in progress carries out no saved plan, and so not %s; nothing was sent. What it sends is declared: join it without a plan", a.file),
			a.planning.dir.Command("apply --join"))
	}
	if a.file != "" {
		saved, err := openSigned(ctx, w, a.file)
		if err != nil {
			return nil, err
		}
		if saved.SHA256 != begun.PlanSHA256 || saved.Digest != begun.Digest {
			return nil, cannotJoin(a, begun, fmt.Errorf("%s is another plan: its digest is %s, that of the run %s", a.file, saved.Digest, begun.Digest))
		}
		snapshot, err := journal.Snapshot(ctx)
		if err != nil {
			return nil, w.state.Error(err)
		}
		err = a.checkDeclared(ctx, w, saved.Plan, snapshot)
		_ = snapshot.Close() // it was only read
		if err != nil {
			return nil, err
		}
		return saved.Plan, a.planning.findApprovals(w, saved.Plan, saved)
	}
	packed, err := journal.Plan(ctx)
	if err != nil {
		return nil, w.state.Error(err)
	}
	plan, err := planner.Open(executor.Unpack(packed))
	if err != nil {
		return nil, cannotJoin(a, begun, err)
	}
	plan.SHA256 = "" // nobody saved it
	if plan.Digest != begun.Digest {
		return nil, cannotJoin(a, begun, fmt.Errorf("the plan that it carries has the digest %s, the run %s", plan.Digest, begun.Digest))
	}
	if a.digest != "" {
		if err := a.otherDigest(plan); err != nil {
			return nil, err
		}
	}
	if err := compareDeclared(ctx, a, w, plan, journal, begun); err != nil {
		return nil, err
	}
	return plan, a.planning.findApprovals(w, plan, nil)
}

// compareDeclared refuses a run that would send anything that the files here declare otherwise, or not at all.
func compareDeclared(ctx context.Context, a *applying, w *opened, plan *planner.Plan, journal state.JoinedJournal, begun state.Begun) error {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return w.state.Error(err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	var mistakes mistake.Set
	difference, err := plan.OtherThanDeclared(ctx, counting(w.streams, declared(ctx, w.config, &mistakes)), snapshot)
	w.streams.Quiet()
	if err := w.streams.Report(w.config, mistakes.Diagnostics()); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return exit.Interrupted("before it took part in the run")
	case err != nil:
		return w.state.Error(err)
	case difference != "":
		return cannotJoin(a, begun, errors.New(difference))
	}
	if err := plan.CheckHours(config.Windows(w.config), w.host.Now()); err != nil {
		return cannotJoin(a, begun, err)
	}
	return nil
}

// cannotJoin says that this runner would not send what the run does.
func cannotJoin(a *applying, begun state.Begun, err error) error {
	return exit.WithHint(fmt.Errorf("this runner cannot take part in run %s; nothing was sent: %w. It needs the configuration, the variables and the controls of %s on %s",
		begun.RunID, err, view.Visible(begun.By.User), view.Visible(begun.By.Host)), a.planning.dir.Command("status"))
}
