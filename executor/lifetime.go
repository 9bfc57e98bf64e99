package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// drainMax is how long requests in flight may take after an interrupt (docs/commands/apply.md).
const drainMax = 5 * time.Second

const interruptedText = "interrupted"

// lifetime says how long the parts of a run may go on. A halt or an interrupt ends starting. An
// interrupt gives flight a short time to end. Neither ends lasting.
type lifetime struct {
	lasting  context.Context // for the journal
	starting context.Context // for work that may still start; its cause is the reason of its end
	flight   context.Context // for requests in flight

	clock        Clock
	timeout      time.Duration // of a request; 0 is none
	stopStarting func(cause error)
	stopFlight   func(cause error)
	background   sync.WaitGroup

	// ignoreInterrupts makes the run deaf to interrupts, once and for good.
	ignoreInterrupts func()
	// stopping hears why nothing new starts, as often as there is a reason.
	stopping func(reason string, interrupted bool)
	// tellOthers has the other runners of the run stop as well, and closes what it returns once they can hear of it, or
	// never will. It is set before anything halts.
	tellOthers func(reason string) (told <-chan struct{})

	mu     sync.Mutex
	halted string // the reason of the first halt
}

// newLifetime begins a lifetime that a first cancellation of ctx interrupts. The caller releases it.
func newLifetime(ctx context.Context, clock Clock, timeout time.Duration, stopping func(string, bool)) *lifetime {
	l := &lifetime{
		clock: clock, timeout: timeout, lasting: context.WithoutCancel(ctx),
		stopping: stopping, tellOthers: func(string) <-chan struct{} { return isTold },
	}
	l.starting, l.stopStarting = context.WithCancelCause(l.lasting)
	l.flight, l.stopFlight = context.WithCancelCause(l.lasting)
	heard := make(chan struct{})
	detach := context.AfterFunc(ctx, func() {
		defer close(heard)
		l.interrupt()
	})
	l.ignoreInterrupts = sync.OnceFunc(func() {
		switch {
		case !detach():
			<-heard
		case ctx.Err() != nil: // who waits for ctx may hear of its end before its functions do
			l.interrupt()
		}
	})
	return l
}

// release ends every wait. Call it once, last.
func (l *lifetime) release() {
	l.ignoreInterrupts()
	l.stopStarting(context.Canceled)
	l.stopFlight(context.Canceled)
	l.background.Wait()
}

// isTold is closed: there is nobody to tell.
var isTold = func() <-chan struct{} {
	told := make(chan struct{})
	close(told)
	return told
}()

// halt lets nothing new start, of other runners neither. Requests in flight go on. What it returns is closed once the
// others can hear of it.
func (l *lifetime) halt(reason string) (told <-chan struct{}) {
	reason = strings.TrimSuffix(reason, ".") // it is told within sentences
	l.stopping(reason, false)
	l.stopStarting(errors.New(reason))
	l.mu.Lock()
	l.halted = cmp.Or(l.halted, reason)
	l.mu.Unlock()
	return l.tellOthers(reason)
}

// haltedFor returns the reason of the first halt; "" without one. An interrupt is no halt.
func (l *lifetime) haltedFor() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.halted
}

// mayStart reports whether anything new may start.
func (l *lifetime) mayStart() bool { return l.starting.Err() == nil }

// orStop returns err, which kept a request from its start. Where the stop of the run did, it says so: the reason of that may be about
// another transfer.
func (l *lifetime) orStop(err error) error {
	if stop := context.Cause(l.starting); stop != nil && errors.Is(err, stop) {
		return fmt.Errorf("the run stopped before (%w)", stop)
	}
	return err
}

// interrupt lets nothing new start, and bounds how long requests in flight go on.
func (l *lifetime) interrupt() {
	l.stopping(interruptedText, true)
	l.stopStarting(errors.New(interruptedText))
	drain := drainMax
	if l.timeout > 0 {
		drain = min(drain, l.timeout)
	}
	l.background.Go(func() {
		if l.clock.Sleep(l.flight, drain) == nil {
			l.stopFlight(context.DeadlineExceeded)
		}
	})
}

// bounded returns ctx with an end after d; 0 is no bound. The caller calls cancel.
func (l *lifetime) bounded(ctx context.Context, d time.Duration) (bounded context.Context, cancel func()) {
	if d <= 0 {
		return ctx, func() {}
	}
	bounded, stop := context.WithCancelCause(ctx)
	l.background.Go(func() {
		if l.clock.Sleep(bounded, d) == nil {
			stop(context.DeadlineExceeded)
		}
	})
	return bounded, func() { stop(context.Canceled) }
}
