package exit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Interrupt is the cause with which the context of Run of package cli is cancelled on a signal.
type Interrupt struct{ Signal syscall.Signal }

// Error names the signal.
func (i Interrupt) Error() string { return "interrupted (" + i.Signal.String() + ")" }

// WithInterrupt returns a context that the first SIGINT, SIGTERM or SIGHUP cancels, with an
// [Interrupt] as its cause. A second SIGINT or SIGTERM ends the process at once, as if nothing had
// caught it. Of SIGHUP, which a terminal that goes away sends more than once, the first counts, and
// none where nohup has the process ignore it. SIGPIPE is ignored: a run does not end in its middle
// because nobody reads on.
func WithInterrupt(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		caught := (<-signals).(syscall.Signal)
		signal.Ignore(syscall.SIGHUP)
		signal.Stop(signals)
		cancel(Interrupt{caught})
	}()
	return ctx
}

// Interrupted is the error of a command that a signal ended before it sent anything.
func Interrupted(when string) error {
	return fmt.Errorf("interrupted %s. Nothing was sent", when)
}

// CodeOf is 129, 130 or 143, by the signal that cancelled ctx; 0 where it is not cancelled. A caller that
// cancels ctx without an [Interrupt] interrupts as Ctrl-C does: 130.
func CodeOf(ctx context.Context) int {
	if ctx.Err() == nil {
		return Done
	}
	if interrupt, ok := errors.AsType[Interrupt](context.Cause(ctx)); ok {
		return Signal + int(interrupt.Signal)
	}
	return Signal + int(syscall.SIGINT)
}

// Interruptible returns a writer that fails with the cause of ctx once ctx has ended.
func Interruptible(ctx context.Context, to io.Writer) io.Writer { return interruptible{ctx, to} }

type interruptible struct {
	ctx context.Context
	to  io.Writer
}

// Write implements io.Writer.
func (i interruptible) Write(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	return i.to.Write(p)
}

// InterruptibleReader returns a reader that fails with the cause of ctx once ctx has ended.
func InterruptibleReader(ctx context.Context, from io.Reader) io.Reader {
	return interruptibleReader{ctx, from}
}

type interruptibleReader struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader.
func (i interruptibleReader) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	return i.from.Read(p)
}

// OrInterrupted calls do, which must change nothing, and leaves it behind once ctx ends: to sort a million
// rows takes longer than a person waits after Ctrl-C. The error is then the cause of ctx, and the process
// is expected to end.
func OrInterrupted(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	// A do that stops by itself may still say why, and clean up.
	select {
	case err := <-done:
		return err
	case <-time.After(interruptGrace):
		return context.Cause(ctx)
	}
}

const interruptGrace = 200 * time.Millisecond
