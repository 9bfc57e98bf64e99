//go:build linux

package measure_test

import (
	"bufio"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"remit/internal/bench/measure"
	"remit/internal/proof/suite"
)

// TestMain has what is started hear an interrupt.
func TestMain(m *testing.M) {
	suite.StartHearing(syscall.SIGINT)
	m.Run()
}

func shell(t *testing.T, script string, exit ...int) measure.Command {
	t.Helper()
	return measure.Command{
		Args: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Exit: exit,
		Log: filepath.Join(t.TempDir(), "log"), Env: []string{"PATH=/usr/bin:/bin"},
	}
}

func TestRunCountsAProcessAndItsChildren(t *testing.T) {
	const busy = `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done`
	for name, script := range map[string]string{"itself": busy, "its child": "sh -c '" + busy + "'; true"} {
		t.Run(name, func(t *testing.T) {
			usage, err := measure.Run(t.Context(), shell(t, script))
			if err != nil {
				t.Fatal(err)
			}
			if usage.CPU <= 0 || usage.Wall <= 0 || usage.Peak < 100_000 {
				t.Errorf("measured %+v", usage)
			}
		})
	}
}

func TestRunRefusesAnotherExitCode(t *testing.T) {
	if usage, err := measure.Run(t.Context(), shell(t, "exit 3", 0, 3)); err != nil || usage.Exit != 3 {
		t.Errorf("an expected exit code gives %+v, %v", usage, err)
	}
	_, err := measure.Run(t.Context(), shell(t, "echo what it wrote; echo and why >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "what it wrote\nand why") || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("an unexpected exit code gives %v", err)
	}
}

func TestWatchSeesWhatATerminalShows(t *testing.T) {
	usage, first, err := measure.Watch(t.Context(), shell(t, "test -t 2 || exit 9; echo progress >&2; sleep 0.05"))
	if err != nil {
		t.Fatal(err)
	}
	if first <= 0 || first >= usage.Wall {
		t.Errorf("it first wrote after %s of %s", first, usage.Wall)
	}
	usage, first, err = measure.Watch(t.Context(), shell(t, "echo result; true"))
	if err != nil || first != usage.Wall {
		t.Errorf("without progress, it first wrote after %s of %s, %v", first, usage.Wall, err)
	}
}

func TestTalkSpeaksWithAProcess(t *testing.T) {
	_, err := measure.Talk(t.Context(), shell(t, "cat"), func(to io.WriteCloser, from io.Reader) error {
		if _, err := io.WriteString(to, "a line\n"); err != nil {
			return err
		}
		line, err := bufio.NewReader(from).ReadString('\n')
		if line != "a line\n" {
			t.Errorf("it answers %q", line)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	failed := errors.New("enough")
	if _, err := measure.Talk(t.Context(), shell(t, "sleep 60"), func(io.WriteCloser, io.Reader) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a talk that failed gives %v", err)
	}
}

func TestInterruptSendsASignal(t *testing.T) {
	const killed = -1 // a shell that has a trap might not have set it yet
	stop, err := measure.Interrupt(t.Context(), shell(t, "exec sleep 600", killed), time.Millisecond)
	if err != nil || stop <= 0 {
		t.Errorf("it took %s, %v", stop, err)
	}
	stop, err = measure.Interrupt(t.Context(), shell(t, "true"), time.Hour)
	if err != nil || stop != 0 {
		t.Errorf("a process that had ended took %s, %v", stop, err)
	}
}

func TestMachineIsDescribed(t *testing.T) {
	if !strings.Contains(measure.Machine(), "cores") || !strings.HasPrefix(measure.Kernel(), "Linux ") || measure.OwnPeak() <= 0 {
		t.Errorf("%q, %q, %d", measure.Machine(), measure.Kernel(), measure.OwnPeak())
	}
	if took, err := measure.Fsync(t.TempDir()); err != nil || len(took) == 0 {
		t.Errorf("%v, %v", took, err)
	}
}
