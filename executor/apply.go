package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"remit/executor/ratelimit"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// ErrJournal says that the journal failed or was taken away while a run was under way: what
// was sent may be missing in it, and is in doubt there. The state must be looked at.
var ErrJournal = errors.New("the journal of the state failed")

// ErrClock says that the service's clock and ours are too far apart to tell a record of ours
// from an older one. Nothing was sent.
var ErrClock = errors.New("the service's clock and the local clock are more than 5 minutes apart")

const (
	clockSkewMax = 5 * time.Minute // between the service's clock and ours (design section 6)
	drainMax     = 5 * time.Second // for what is in flight at an interrupt (design section 6)
)

// Apply carries run.Plan out on a state that the caller has locked, with a plan that the
// caller has checked against it: it settles doubts, then submits what is due, in dependency
// order. The error says what kept the run from beginning, or that the journal failed, in
// which case wrapped [ErrJournal] says that the state must be looked at; the Summary holds
// in both cases. A first cancellation of ctx drains what is in flight.
func Apply(ctx context.Context, run Run) (Summary, error) {
	all := newLines(run.Plan, func(a planner.Action) bool { return a == planner.Submit || a == planner.Resolve })
	c := newCourse(ctx, run, all.len())
	defer c.release()
	if err := c.begin(ctx); err != nil {
		c.deaf()
		c.report.leave(all, false)
		return c.report.summary, err
	}
	known, err := c.takeSurvey(c.lasting, all)
	if err != nil {
		c.report.leave(all, false)
		return c.end(fmt.Errorf("read the state: %w", err))
	}
	c.sending = true
	return c.carryOut(known, all)
}

// SettleByLookup settles what is in doubt by lookup alone and sends nothing: what an apply
// of a plan that is not applicable still does. run.Plan may be nil; a run whose plan would
// have submitted something is not complete. Where nothing is in doubt, or the service has no
// lookup, it writes nothing to the journal.
func SettleByLookup(ctx context.Context, run Run) (Summary, error) {
	var open, doubts lines
	if run.Plan != nil {
		open = newLines(run.Plan, func(a planner.Action) bool { return a == planner.Submit })
		doubts = newLines(run.Plan, func(a planner.Action) bool { return a == planner.Resolve })
	}
	run.Plan = nil
	c := newCourse(ctx, run, open.len())
	defer c.release()
	c.report.leave(open, true) // the plan can't be applied again either
	known, err := c.takeSurvey(c.lasting, lines{})
	if err != nil {
		c.deaf()
		c.report.leave(doubts, false)
		return c.report.summary, fmt.Errorf("read the state: %w", err)
	}
	if len(known.doubts) == 0 || run.Finder == nil {
		for _, d := range known.doubts {
			c.report.settle(d.request, c.hold(d, doubt.Passing("The service has no lookup.")), false)
		}
		c.deaf()
		c.report.summary.Complete = open.len() == 0
		return c.report.summary, nil
	}
	if err := c.begin(ctx); err != nil {
		c.deaf()
		c.report.leave(doubts, false)
		return c.report.summary, err
	}
	return c.carryOut(known, lines{})
}

// course is a run under way: what its parts share.
type course struct {
	run      Run
	report   *report
	journal  *scribe
	limiters map[transfer.Operation]*ratelimit.Limiter
	backstop backstop
	sending  bool // false: doubts are settled by lookup alone
	joined   bool // another runner began the run

	timekeeper *timekeeper
	shared     *shared     // nil while this runner is alone
	opened     atomic.Bool // the run is open to others

	lasting  context.Context // outlives an interrupt: for the journal
	starting context.Context // ends, with the reason as its cause, when nothing new may start
	flight   context.Context // of what is in flight: ends when a drain has taken too long

	stopStarting func(cause error)
	stopFlight   func(cause error)
	deaf         func() // the run hears no interrupt any more
	background   sync.WaitGroup

	mu        sync.Mutex
	halted    string // why this runner lets nothing new start, of others neither
	fruitless int    // attempts in a row whose tries ran out
	unclear   int    // attempts without a clear answer since the last one that had one
}

func newCourse(ctx context.Context, run Run, lines int) *course {
	c := &course{
		run: run, report: newReport(run, lines), lasting: context.WithoutCancel(ctx),
		timekeeper: &timekeeper{clock: run.Clock},
	}
	c.journal = &scribe{journal: run.Journal, ctx: c.lasting}
	c.starting, c.stopStarting = context.WithCancelCause(c.lasting)
	c.flight, c.stopFlight = context.WithCancelCause(c.lasting)
	heard := make(chan struct{})
	detach := context.AfterFunc(ctx, func() {
		defer close(heard)
		c.interrupt()
	})
	c.deaf = sync.OnceFunc(func() {
		switch {
		case !detach():
			<-heard
		case ctx.Err() != nil: // who waits for ctx may hear of its end before its functions do
			c.interrupt()
		}
	})
	return c
}

// release ends whatever still waits; it is called once, last.
func (c *course) release() {
	c.deaf()
	c.stopStarting(context.Canceled)
	c.stopFlight(context.Canceled)
	c.background.Wait()
}

// begin is what must be right before anything is sent; then the run is in the journal.
func (c *course) begin(ctx context.Context) error {
	if err := c.ready(ctx); err != nil {
		c.report.summary.RunID = "" // the journal knows no such run
		return err
	}
	c.run.Begun.File = placeOf(c.run.Journal)
	c.run.Begun.Clocks = c.timekeeper.begun().Clocks
	lead, err := c.confirmClock(ctx)
	if err == nil && c.run.Prepare != nil {
		err = c.run.Prepare(ctx, &c.run.Begun)
	}
	if err != nil {
		c.report.summary.RunID = ""
		return err
	}
	if err := c.journal.append(append(lead, c.run.Begun)...); err != nil {
		return fmt.Errorf("begin run %s: %w", c.run.Begun.RunID, err)
	}
	return nil
}

// ready gets a token and compares clocks, before anything is written or sent.
func (c *course) ready(ctx context.Context) error {
	if err := c.readClocks(ctx); err != nil {
		return err
	}
	r := c.timekeeper.begun()
	if r.Date.IsZero() {
		c.report.tell(Event{Type: EventNotice, Reason: "the token's answer has no Date: the clocks could not be compared"})
		return nil
	}
	if apart := r.local.Sub(r.Date).Abs(); apart > clockSkewMax {
		return fmt.Errorf("%w: by %v", ErrClock, apart.Round(time.Second))
	}
	return nil
}

// carryOut is the run between its first event and its last.
func (c *course) carryOut(known *survey, all lines) (Summary, error) {
	c.limit(known.starts)
	o := newOrder(c, known, all)
	c.report.tell(Event{Type: EventBegun, Total: o.total()})
	return c.goThrough(o)
}

// goThrough is an order from its begin to the end of the run.
func (c *course) goThrough(o *order) (Summary, error) {
	o.run()
	if err := c.addUp(); err != nil {
		return c.end(err)
	}
	if left := c.shared != nil && !c.shared.allDone; c.run.Policy.WaitFinal && c.sending && !left {
		return c.end(c.awaitFinal(o))
	}
	return c.end(nil)
}

// limit makes a limiter of each operation. The given requests started lately.
func (c *course) limit(starts map[transfer.Operation][]time.Time) {
	c.limiters = make(map[transfer.Operation]*ratelimit.Limiter)
	for _, op := range transfer.Operations() {
		c.limiters[op] = ratelimit.New(c.run.Clock, c.run.Policy.RateLimits[op], starts[op], func(wait time.Duration) {
			c.report.tell(Event{Type: EventWaiting, Reason: fmt.Sprintf("requests of operation %s wait %v", op, wait.Round(time.Second))})
		})
	}
}

// end writes the run's last event, whatever ended it.
func (c *course) end(failure error) (Summary, error) {
	c.deaf()
	c.mu.Lock()
	c.report.summary.Out = c.fruitless > 0
	c.mu.Unlock()
	err := errors.Join(failure, c.journal.failure())
	if c.shared != nil {
		err = c.endShared(err)
	} else {
		ended := c.report.ended(err)
		ended.Clocks = c.timekeeper.local().Clocks
		if endErr := c.journal.append(ended); endErr != nil && err == nil {
			err = fmt.Errorf("end run %s: %w", ended.RunID, endErr)
		}
	}
	if snapshot, snapshotErr := c.run.Journal.Snapshot(c.lasting); snapshotErr == nil {
		c.report.summary.Head = snapshot.Meta().Head
		_ = snapshot.Close() // nothing was written through it
	}
	return c.report.summary, err
}

// halt lets nothing new start, of other runners neither. What is in flight goes on.
func (c *course) halt(reason string) {
	c.report.stopping(reason, false)
	c.stopStarting(errors.New(reason))
	c.mu.Lock()
	c.halted = cmp.Or(c.halted, reason)
	c.mu.Unlock()
	if s := c.sharedNow(); s != nil && c.opened.Load() && c.journal.failure() == nil { // else stopOpened does
		c.background.Go(func() { s.stop(c, reason) })
	}
}

// haltedFor is the reason of the first halt; "" where there was none. An interrupt is none.
func (c *course) haltedFor() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.halted
}

const interruptedText = "interrupted"

// interrupt halts this runner, and bounds how long what is in flight goes on.
func (c *course) interrupt() {
	c.report.stopping(interruptedText, true)
	c.stopStarting(errors.New(interruptedText))
	drain := drainMax
	if d := c.run.Policy.RequestTimeout; d > 0 {
		drain = min(drain, d)
	}
	c.background.Go(func() {
		if c.run.Clock.Sleep(c.flight, drain) == nil {
			c.stopFlight(context.DeadlineExceeded)
		}
	})
}

// bounded is ctx that ends after d; 0 is no bound. The caller calls cancel.
func (c *course) bounded(ctx context.Context, d time.Duration) (bounded context.Context, cancel func()) {
	if d <= 0 {
		return ctx, func() {}
	}
	bounded, stop := context.WithCancelCause(ctx)
	c.background.Go(func() {
		if c.run.Clock.Sleep(bounded, d) == nil {
			stop(context.DeadlineExceeded)
		}
	})
	return bounded, func() { stop(context.Canceled) }
}

// scribe appends to the journal until it fails, and not afterwards: what comes after an
// append that may or may not be durable is not to be trusted.
type scribe struct {
	journal Journal
	ctx     context.Context

	mu     sync.Mutex
	failed error
}

// append makes entries durable. An error that is not a [refusal] of the state is kept and
// ends all later appends.
func (s *scribe) append(entries ...state.Entry) error {
	if err := s.failure(); err != nil {
		return err
	}
	err := s.journal.Append(s.ctx, entries...)
	if err == nil || refusal(err) {
		return err
	}
	return s.fail(err)
}

// check asks whether the lock is still ours.
func (s *scribe) check() error {
	if err := s.failure(); err != nil {
		return err
	}
	if err := s.journal.Check(s.ctx); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *scribe) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return s.failed
}

// failure is what ended the appends; nil where nothing did.
func (s *scribe) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}
