//go:build unix

package wholefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// hold makes a file this process's own until it closes it or dies, and reports whether it is.
func hold(file *os.File) bool {
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// openLeft opens a file that may have been left, and no link or pipe.
func openLeft(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}
