package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Interrupt is the cause with which the context of [Run] is cancelled on a signal.
type Interrupt struct{ Signal syscall.Signal }

func (i Interrupt) Error() string { return "interrupted (" + i.Signal.String() + ")" }

// WithInterrupt returns a context that the first SIGINT or SIGTERM cancels, with an
// [Interrupt] as its cause. The second one ends the process at once, as if nothing had
// caught it. SIGPIPE is ignored: a run does not end in its middle because nobody reads on.
func WithInterrupt(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		caught := (<-signals).(syscall.Signal)
		signal.Stop(signals)
		cancel(Interrupt{caught})
	}()
	return ctx
}

// interrupted is that a signal came at a time when nothing had been sent.
func interrupted(when string) error {
	return fmt.Errorf("interrupted %s. Nothing was sent", when)
}

// interruptCode is 130 or 143, by the signal that cancelled ctx; 0 where none did.
func interruptCode(ctx context.Context) int {
	var interrupt Interrupt
	if errors.As(context.Cause(ctx), &interrupt) {
		return exitInterrupted + int(interrupt.Signal)
	}
	return exitDone
}
