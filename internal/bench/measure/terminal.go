//go:build linux

package measure

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Watch runs a command whose standard error is a terminal, and reports how long after its
// start it first wrote there: where it wrote nothing, how long it ran. Its standard output
// goes to its log.
func Watch(ctx context.Context, c Command) (Usage, time.Duration, error) {
	usage, first, _, err := c.onTerminal(ctx, 0)
	return usage, first, err
}

// Interrupt runs a command as [Watch] does, sends SIGINT after a time, and reports how long
// it took from there to its end: 0 where it had ended before.
func Interrupt(ctx context.Context, c Command, after time.Duration) (time.Duration, error) {
	_, _, stop, err := c.onTerminal(ctx, after)
	return stop, err
}

func (c Command) onTerminal(ctx context.Context, after time.Duration) (usage Usage, first, stop time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	log, err := os.Create(c.Log)
	if err != nil {
		return Usage{}, 0, 0, fmt.Errorf("run %s: %w", c.name(), err)
	}
	defer log.Close()
	ours, theirs, err := openTerminal()
	if err != nil {
		return Usage{}, 0, 0, fmt.Errorf("open a terminal: %w", err)
	}
	defer ours.Close()
	process := c.process(ctx)
	process.Stdout, process.Stderr = log, theirs
	began := time.Now()
	err = process.Start()
	theirs.Close() // the process has it now, and its death closes it
	if err != nil {
		return Usage{}, 0, 0, fmt.Errorf("run %s: %w", c.name(), err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { first = firstOutput(ours, log, began) })
	var mu sync.Mutex
	var interrupted time.Time
	if after > 0 {
		timer := time.AfterFunc(after, func() {
			mu.Lock()
			defer mu.Unlock()
			if process.Process.Signal(syscall.SIGINT) == nil {
				interrupted = time.Now()
			}
		})
		defer timer.Stop()
	}
	usage, err = c.wait(process, began)
	ended := began.Add(usage.Wall)
	reading.Wait()
	if first == 0 {
		first = usage.Wall
	}
	mu.Lock()
	defer mu.Unlock()
	if !interrupted.IsZero() {
		stop = max(ended.Sub(interrupted), 0)
	}
	return usage, first, stop, err
}

// firstOutput copies the output of a terminal to a log, to its end, and returns when the first byte
// came, 0 where none did.
func firstOutput(terminal io.Reader, log io.Writer, began time.Time) time.Duration {
	var first time.Duration
	buffer := make([]byte, 4096)
	for {
		n, err := terminal.Read(buffer)
		if n > 0 && first == 0 {
			first = time.Since(began)
		}
		_, _ = log.Write(buffer[:n]) // shown where the command fails
		if err != nil {              // EIO: nobody has the other side open any more
			return first
		}
	}
}

// openTerminal returns both sides of a new pseudo terminal (pty(7)), 100 columns wide.
func openTerminal() (ours, theirs *os.File, err error) {
	ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			ours.Close()
		}
	}()
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		return nil, nil, err
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	return ours, theirs, err
}
