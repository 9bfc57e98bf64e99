//go:build linux

// Package measure runs processes and says what they took.
//
// Its one invariant: a process that did not end as it was expected to is an error, so that
// no failure is taken for a fast success.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// patience is how long one process may take.
const patience = 2 * time.Hour

// Command is a process to measure.
type Command struct {
	Args []string // the program first
	Dir  string
	Env  []string
	Exit []int  // the codes that are expected; nil means 0
	Log  string // file that its output replaces; its end is shown where it fails
}

// Usage is what a process and the children that it waited for took, by wait4(2).
type Usage struct {
	CPU  time.Duration // user and system
	Wall time.Duration // from before its start until it was waited for
	Peak int64         // bytes resident, of the largest single process
	Exit int
}

// Run runs a command to its end. An exit code that is not expected is an error with the end
// of its output.
func Run(ctx context.Context, c Command) (Usage, error) {
	process, log, end, err := c.prepared(ctx)
	if err != nil {
		return Usage{}, err
	}
	defer end()
	process.Stdout, process.Stderr = log, log
	began := time.Now()
	if err := process.Start(); err != nil {
		return Usage{}, fmt.Errorf("run %s: %w", c.name(), err)
	}
	return c.wait(process, began)
}

// prepared is the process of a command before its start, with the log for its output. After end, or patience, the process is killed.
func (c Command) prepared(ctx context.Context) (process *exec.Cmd, log *os.File, end func(), err error) {
	log, err = os.Create(c.Log)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("run %s: %w", c.name(), err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	return c.process(ctx), log, func() {
		cancel()
		_ = log.Close() // the process has the file of its own
	}, nil
}

func (c Command) process(ctx context.Context) *exec.Cmd {
	process := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	process.Dir, process.Env = c.Dir, c.Env
	return process
}

func (c Command) name() string { return filepath.Base(c.Args[0]) }

// wait waits for a process and judges how it ended.
func (c Command) wait(process *exec.Cmd, began time.Time) (Usage, error) {
	err := process.Wait()
	wall := time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Usage{}, fmt.Errorf("run %s: %w", c.name(), err)
	}
	usage := usageOf(process.ProcessState)
	usage.Wall = wall
	expected := c.Exit
	if expected == nil {
		expected = []int{0}
	}
	if !slices.Contains(expected, usage.Exit) {
		return usage, fmt.Errorf("run %q in %s: exit code %d; its output ends\n%s", c.Args, c.Dir, usage.Exit, tail(c.Log))
	}
	return usage, nil
}

func usageOf(state *os.ProcessState) Usage {
	u := Usage{CPU: state.UserTime() + state.SystemTime(), Exit: state.ExitCode()}
	if resources, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.Peak = resources.Maxrss * 1024 // Linux counts in KiB
	}
	return u
}

// tailMax is how many bytes of an output an error shows.
const tailMax = 4 << 10

func tail(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailMax {
		if _, err := f.Seek(-tailMax, io.SeekEnd); err != nil {
			return ""
		}
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return string(text)
}
