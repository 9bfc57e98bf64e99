package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"remit/executor/ratelimit"
	"remit/internal/transfer"
	"remit/state"
)

// activeRun is a run under way: the parts that whatever it does shares.
type activeRun struct {
	Run
	life     *lifetime
	report   *report
	journal  *journalWriter
	clocks   *timekeeper
	lookups  *lookups
	outcomes *outcomeWriter
	watcher  *watcher
	adviser  adviser
	limiters map[transfer.Operation]*ratelimit.Limiter

	sending bool // false: the run settles doubts by lookup alone
	joined  bool // another runner began the run
}

// newActiveRun returns a run that a first cancellation of ctx interrupts. Its plan has so many lines.
// The caller releases its life.
func newActiveRun(ctx context.Context, run Run, lines int) *activeRun {
	a := &activeRun{Run: run, report: newReport(run, lines)}
	a.journal = &journalWriter{journal: run.Journal, ctx: context.WithoutCancel(ctx)} // an interrupt asks it at once
	a.life = newLifetime(ctx, run.Clock, run.Settings.RequestTimeout, func(reason string, interrupted bool) {
		a.report.stopping(reason, interrupted, a.journal.failure() == nil)
	})
	server, _ := run.Journal.(state.Timekeeper)
	a.clocks = &timekeeper{clock: run.Clock, submitter: run.Submitter, server: server, settings: run.Settings, life: a.life}
	a.lookups = &lookups{finder: run.Finder, clock: run.Clock, life: a.life}
	a.outcomes = &outcomeWriter{journal: a.journal, life: a.life}
	a.watcher = &watcher{lookups: a.lookups, journal: a.journal, life: a.life, runID: run.Begun.RunID, settings: run.Settings}
	a.adviser = adviser{canLookUp: run.Finder != nil, holds: run.Settings.HoldDoubt}
	return a
}

// begin makes the checks that come before the first request, and writes the run in the journal.
func (a *activeRun) begin(ctx context.Context) error {
	if err := a.ready(ctx); err != nil {
		a.report.summary.RunID = "" // the journal knows no such run
		return err
	}
	a.Begun.File = fileOf(a.Journal)
	a.Begun.Clocks = a.clocks.begun().Clocks
	lead, err := a.checkState(ctx)
	if err == nil && a.Prepare != nil {
		err = a.Prepare(ctx, &a.Begun)
	}
	if err != nil {
		a.report.summary.RunID = ""
		return err
	}
	if err := a.journal.append(append(lead, a.Begun)...); err != nil {
		return fmt.Errorf("begin run %s: %w", a.Begun.RunID, err)
	}
	return nil
}

// checkState compares the state with what is known beside it. It returns what the run journals before it begins.
// A state that may lack events has every ref_id looked up, and without a lookup the error is a *[LackingError].
func (a *activeRun) checkState(ctx context.Context) ([]state.Entry, error) {
	snapshot, err := a.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	if meta := snapshot.Meta(); meta.MayLack() {
		if err := a.tellLack(ctx, meta); err != nil {
			return nil, err
		}
		if !a.lookups.possible() {
			return nil, &LackingError{Newest: meta.Serial, Lacks: meta.Lacks}
		}
		a.Settings.LookUpFirst = true // of a state that stays as it is: a run looks up what it sends, and not all that was paid
		if meta.Lacks > 0 {
			a.Share = nil // other machines may not know, and would not look up
		}
	}
	return confirmClock(ctx, snapshot, a.clocks.begun(), a.Begun.By, a.report.tell)
}

// checkJoined is checkState for a runner that takes part in a run. Where this machine alone knows that the state lacks
// events, the others pay what was paid, and so the run is stopped for all.
func (a *activeRun) checkJoined(ctx context.Context) error {
	snapshot, err := a.Journal.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	meta := snapshot.Meta()
	_ = snapshot.Close() // it was only read
	if meta.Lacks == 0 {
		return nil
	}
	lasting := a.life.lasting
	stopped := a.Share.Stop(lasting, fmt.Sprintf("the state lacks event %d, which another machine knows. What was paid before may be paid again by this run: import the service's export of transfer records", meta.Lacks))
	if err := errors.Join(a.tellLack(lasting, meta), stopped); err != nil {
		return err
	}
	return &LackingError{Newest: meta.Serial, Lacks: meta.Lacks, Joined: true}
}

// tellLack has the other machines that use the state know which event it lacks.
func (a *activeRun) tellLack(ctx context.Context, meta state.Meta) error {
	witness, isShared := a.Journal.(state.Witness)
	if meta.Lacks == 0 || meta.Told || !isShared {
		return nil
	}
	return witness.TellLack(ctx, meta.Lacks)
}

// ready waits for the time of the plan, gets a token and compares clocks, before anything is written or sent.
func (a *activeRun) ready(ctx context.Context) error {
	if err := a.awaitPlan(ctx); err != nil {
		return err
	}
	if err := a.clocks.read(ctx); err != nil {
		return err
	}
	return compareClocks(a.clocks.begun(), a.report.tell)
}

// awaitPlan waits until the clock of this machine reads what that of the plan's machine read when it called the
// plan's lines due. Two clocks that are right may be minutes apart, and no transfer is sent before its time by
// either of them. The error says that this clock is further behind, or that somebody keeps setting it back.
func (a *activeRun) awaitPlan(ctx context.Context) error {
	if a.Plan == nil {
		return nil
	}
	const most = 10 // sleeps: a clock that drifts needs a second one
	made := a.Plan.Header.Created
	for n := range most {
		ahead := made.Sub(a.Clock.Now())
		if ahead <= 0 {
			return nil
		}
		if ahead > clockSkewMax {
			break
		}
		if n == 0 {
			a.report.tell(Event{Type: EventWaiting, Reason: fmt.Sprintf(
				"The clock of the machine that made the plan is ahead of this one's: the run waits %v, so that nothing is sent before its time.", ahead.Round(time.Second))})
		}
		if err := a.Clock.Sleep(ctx, ahead); err != nil {
			return err
		}
	}
	return fmt.Errorf("the plan was made at %s, and the clock of this machine reads %s. Set the clock right, or plan again",
		made.UTC().Format(time.RFC3339), a.Clock.Now().UTC().Format(time.RFC3339))
}

// limit makes a limiter of each operation. The given requests started lately.
func (a *activeRun) limit(starts map[transfer.Operation][]time.Time) {
	a.limiters = make(map[transfer.Operation]*ratelimit.Limiter)
	for _, op := range transfer.Operations() {
		a.limiters[op] = ratelimit.New(a.Clock, a.Settings.RateLimits[op], starts[op], func(wait time.Duration) {
			a.report.tell(Event{Type: EventWaiting, Reason: fmt.Sprintf("requests of operation %s wait %v", op, wait.Round(time.Second))})
		})
	}
}

// stopOn halts the run for an error of the journal.
func (a *activeRun) stopOn(err error) {
	if !isRefusal(err) {
		a.life.halt(err.Error())
	}
}

// end writes the last event of a run that this runner ends.
func (a *activeRun) end(failure error) error {
	ended := a.report.ended(failure)
	ended.Clocks = a.clocks.local().Clocks
	if err := a.journal.append(ended); err != nil && failure == nil {
		return fmt.Errorf("end run %s: %w", ended.RunID, err)
	}
	return failure
}

// summary returns how the run ended, with the hash of the newest event.
func (a *activeRun) summary() Summary {
	if snapshot, err := a.journal.snapshot(); err == nil {
		a.report.summary.Head = snapshot.Meta().Head
		_ = snapshot.Close() // nothing was written through it
	}
	return a.report.summary
}
