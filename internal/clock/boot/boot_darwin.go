package boot

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock returns a function that reads the clock that macOS counts from the boot on, sleep included, and that
// nobody sets (CLOCK_MONOTONIC_RAW, clock_gettime(3)). It does not name the machine. The function returns the zero
// Reading where the kernel does not say which boot it is.
func Clock() func() Reading {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	return func() Reading {
		var now unix.Timespec
		if err != nil || id == "" || unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &now) != nil {
			return Reading{}
		}
		return Reading{ID: id, Up: time.Duration(now.Nano())}
	}
}
