//go:build unix

package ask

import (
	"errors"
	"syscall"
)

// isTaken reports whether somebody else listens at a port.
func isTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
