package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/doubt"
	"remit/internal/text/english"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// execute carries a run out, shows it, and turns its end into an exit code.
func (a *applying) execute(ctx context.Context, w *opened, run executor.Run, carryOut func(context.Context, executor.Run) (executor.Summary, error)) error {
	o := view.SummaryOptions{Screen: partScreen(w.streams.Screen(w.streams.Out), &a.planning.dir, run.Plan.Header.Targets), Planned: run.Plan.Sent()}
	if run.Whole != nil {
		o.Planned = run.Whole.Sent()
	}
	handler, leave, end := a.faces(w.streams)
	log, err := w.streams.Log(a.monitoring.facts.runID)
	if err != nil {
		return err
	}
	named := byName{handlers{handler, logged{log}}, "remit " + a.again() + a.planning.dir.PracticeWord(), "remit " + planAgain(a)}
	run.Handler = named
	back := moreGarbage(w.host.Getenv)
	w.streams.Outlets.Unhurried()
	summary, failed := carryOut(ctx, run)
	back()
	if a.failover.before != nil {
		summary.Add(*a.failover.before)
	}
	for i := range summary.Exceptions {
		summary.Exceptions[i] = named.name(summary.Exceptions[i])
	}
	if failed == nil && summary.Stopped != "" && lacksNow(ctx, run.Journal) {
		o.Next = a.planning.dir.Command("import FILE --complete")
	}
	finish := func(failed error) error { return finishRun(ctx, a, w, summary, o, end, failed) }
	if journal, may := a.failover.mayGoOn(run, failed, summary); may {
		return &awayError{
			failed: failed, runID: run.Begun.RunID, journal: journal, summary: summary, leave: leave, finish: finish,
			tell: func(reason string) {
				named.Handle(executor.Event{Time: w.host.Now().UTC(), Type: executor.EventNotice, Reason: reason})
			},
		}
	}
	return finish(failed)
}

// finishRun shows how a run ended, or why it failed, and turns that into an exit code.
func finishRun(ctx context.Context, a *applying, w *opened, summary executor.Summary, o view.SummaryOptions, end func(executor.Summary, view.SummaryOptions) error, failed error) error {
	lacking := o.Next != ""
	if failed == nil && !lacking { // otherwise the error says what to do
		o.Next = nextAfter(a, w.service, summary)
	}
	a.monitoring.facts.summary, a.monitoring.facts.options = &summary, o
	shown := errors.Join(end(summary, o), w.streams.Outlets.Flush(readersWait))
	if errors.Is(shown, terminal.ErrStalled) {
		shown = nil // the process ends, and all of the run is in the state
	}
	switch {
	case failed != nil && summary.Interrupted && summary.Requests == 0 && !errors.Is(failed, executor.ErrJournal):
		return exit.Interrupted("before the first request")
	case failed != nil:
		if short, ok := errors.AsType[*shortfall](failed); ok {
			return short
		}
		return runError(a, w, failed, summary)
	}
	if exit.IsUnread(shown) { // the run went on to its end, and all of it is in the state
		return exit.Code(cmp.Or(exitOfRun(ctx, summary), exit.Unread))
	}
	if shown != nil {
		return exit.New(fmt.Errorf("show the run, which is in the state: %w", shown), a.planning.dir.Command("show --run="+summary.RunID), exit.Look)
	}
	if lacking {
		return exit.Code(exit.Look)
	}
	if code := exitOfRun(ctx, summary); code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// readersWait is how long a run that is over, and still has its lock, waits for the readers of its output. After that the process
// waits without the lock.
const readersWait = time.Second

// lacksNow reports whether the state is known to lack events, as another machine may have told while a run went on.
func lacksNow(ctx context.Context, journal executor.Journal) bool {
	if journal == nil {
		return false
	}
	snapshot, err := journal.Snapshot(context.WithoutCancel(ctx))
	if err != nil {
		return false // the leftover is read next, and says so
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	return snapshot.Meta().Lacks > 0
}

// rideOut goes on with an apply whose run ended because the server of its state went away, see [failover.rideOut].
func rideOut(ctx context.Context, a *applying, w *opened, ended error) error {
	a.failover.host, a.failover.state = w.host, w.state
	a.failover.controls = func() planner.Controls { return controlsOf(w.config, w.dir.Sandbox) }
	a.failover.carryOut = func(ctx context.Context, r *resumption) error { return resume(ctx, a, w, r) }
	a.failover.joinIn = func(ctx context.Context, away *awayError, journal state.JoinedJournal, began time.Time) error {
		return joinAgain(ctx, a, w, away, journal, began)
	}
	return a.failover.rideOut(ctx, ended)
}

// resume carries out the rest of a plan, of which an earlier run of this apply did a part, in a run of its own.
func resume(ctx context.Context, a *applying, w *opened, r *resumption) error {
	seen := &countingSnapshot{Snapshot: r.snapshot}
	if r.left == nil { // what says that all is done was durable, though nobody heard it
		if err := r.from.leave(); err != nil {
			return r.from.finish(r.from.failed)
		}
		return a.withLeftover(ctx, w, r.journal, seen, a.failover.whole, a.execute(ctx, w, executor.Run{Plan: a.failover.whole}, isDone(r.from.runID)))
	}
	connection, err := w.service.Connect(ctx, a.inFlightMax(w.config), a.faults...)
	if err != nil {
		return r.from.finish(err)
	}
	defer connection.Close()
	r.from.tell(fmt.Sprintf("The state is back after %v and has all that this run wrote. Run %s goes on with what run %s left: %s.",
		w.host.Now().Sub(r.began).Round(100*time.Millisecond), r.holder.RunID, r.from.runID,
		english.Plural(r.left.Count(planner.Submit)+r.left.Count(planner.Resolve), "transfer")))
	if err := r.from.leave(); err != nil {
		return r.from.finish(r.from.failed)
	}
	a.monitoring.facts.runID, w.service.RunID = r.holder.RunID, r.holder.RunID
	run := a.newRun(w, r.left, r.journal, r.snapshot, r.holder, connection)
	run.Whole = a.failover.whole
	return a.withLeftover(ctx, w, r.journal, seen, a.failover.whole, a.execute(ctx, w, run, executor.Apply))
}

// isDone is the end of a run that has nothing to do.
func isDone(runID string) func(context.Context, executor.Run) (executor.Summary, error) {
	return func(context.Context, executor.Run) (executor.Summary, error) {
		return executor.Summary{RunID: runID, Totals: make(map[executor.Result]*transfer.Totals), Complete: true}, nil
	}
}

// byName is a handler of events that name the commands again and plan: a saved plan is applied by its name, and a part stays
// that part.
type byName struct {
	executor.Handler
	again, plan string
}

// Handle tells the event with these commands.
func (b byName) Handle(e executor.Event) { b.Handler.Handle(b.name(e)) }

func (b byName) name(e executor.Event) executor.Event {
	switch e.Next {
	case "remit apply":
		e.Next = b.again
	case "remit plan":
		e.Next = b.plan
	case executor.NextRefused:
		e.Next = b.again + strings.TrimPrefix(executor.NextRefused, "remit apply")
	}
	return e
}

// needsPlan reports whether a new plan goes on from an exception. Each other exception names its
// command.
func needsPlan(s executor.Summary) bool {
	return slices.ContainsFunc(s.Exceptions, func(e executor.Event) bool { return strings.HasPrefix(e.Next, "remit plan") })
}

// planAgain plans the part that a run was of; an import carries out no plan.
func planAgain(a *applying) string {
	if plan := a.monitoring.facts.plan; plan != nil {
		return "plan" + flagWords("target", plan.Header.Targets)
	}
	return "plan"
}

// nextAfter is the command to type after a run; "" where there is nothing to do.
func nextAfter(a *applying, service *workspace.Service, s executor.Summary) string {
	count := func(result executor.Result) int {
		if t := s.Totals[result]; t != nil {
			return t.Count()
		}
		return 0
	}
	switch {
	case count(executor.ResultConflict) == 0 && count(executor.ResultUnverified) > 1:
		return a.planning.dir.Command("resolve --run=" + shell.Word(s.RunID))
	case count(executor.ResultConflict)+count(executor.ResultUnverified) > 0:
		return a.planning.dir.Command(planAgain(a))
	case count(executor.ResultInDoubt)+count(executor.ResultNotAttempted) > s.Idle:
		return a.planning.dir.CommandWithPractice(a.again())
	case slices.ContainsFunc(s.Exceptions, func(e executor.Event) bool { return strings.HasSuffix(e.Next, " --retry-refused") }):
		return a.planning.dir.CommandWithPractice(a.again() + strings.TrimPrefix(executor.NextRefused, "remit apply"))
	case count(executor.ResultRefused)+count(executor.ResultFailed) > 0, s.Idle > 0 && needsPlan(s):
		return a.planning.dir.Command(planAgain(a))
	case count(executor.ResultInDoubt) > 0:
		return a.planning.dir.Here(nextOfDoubts(s))
	case s.Unfinished > 0 && service.CanLookUp():
		return a.planning.dir.Command("refresh")
	case s.Unfinished > 0:
		return a.planning.dir.Here(doubt.Import)
	}
	return ""
}

// nextOfDoubts is the one command for all that a run left in doubt and that no apply ends.
func nextOfDoubts(s executor.Summary) string {
	var nexts []string
	for _, e := range s.Exceptions {
		if e.Result == executor.ResultInDoubt {
			nexts = append(nexts, e.Next)
		}
	}
	return doubt.NextOfAll(nexts)
}

// faces returns the handlers of the events of a run, of its being left to another run, and of its end: for people,
// for programs, or for both.
func (a *applying) faces(streams *terminal.Streams) (handler executor.Handler, leave func() error, end func(executor.Summary, view.SummaryOptions) error) {
	if streams.AsJSON {
		return streams.JSON(), func() error { return nil }, streams.JSON().Summary
	}
	people := view.NewRun(streams.Out, streams.Err, view.RunOptions{
		Screen: streams.Screen(streams.Err), Piped: !streams.Screen(streams.Out).Terminal, ShowAll: a.planning.show == "all",
	})
	end = func(s executor.Summary, o view.SummaryOptions) error {
		return errors.Join(people.Close(), view.Summary(streams.Out, s, o))
	}
	if !streams.WantsLines() {
		return people, people.Close, end
	}
	return handlers{streams.JSON(), people}, people.Close, func(s executor.Summary, o view.SummaryOptions) error {
		return errors.Join(people.Close(), view.Summary(streams.Out, s, o), streams.JSON().Summary(s, o))
	}
}
