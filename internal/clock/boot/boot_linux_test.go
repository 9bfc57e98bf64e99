package boot_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"remit/internal/clock/boot"
)

// TestTheClockIsTheKernels compares it with the kernel's word before and after.
func TestTheClockIsTheKernels(t *testing.T) {
	ask := func() time.Duration {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
			t.Skipf("the kernel does not say how long it runs: %v", err)
		}
		return time.Duration(now.Nano())
	}
	read := boot.Clock()
	if read().ID == "" {
		t.Skip("the kernel does not say which boot it is")
	}
	for range 1000 {
		before := ask()
		now := read()
		if after := ask(); now.Up < before || now.Up > after {
			t.Fatalf("the clock says %s, and the kernel %s and %s", now.Up, before, after)
		}
	}
}
