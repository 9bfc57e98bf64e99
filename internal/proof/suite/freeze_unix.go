//go:build unix

package suite

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// Freeze stops a child, and returns when none of its threads does anything any more: SIGSTOP is sent before it
// is heard, and a thread that has not heard it yet goes on.
func Freeze(tb testing.TB, child *os.Process) {
	tb.Helper()
	if err := child.Signal(syscall.SIGSTOP); err != nil {
		tb.Fatal(err)
	}
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(child.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || !status.Stopped():
			tb.Fatalf("process %d does not stand still: %v, %#x", child.Pid, err, uint32(status))
		default:
			return
		}
	}
}
