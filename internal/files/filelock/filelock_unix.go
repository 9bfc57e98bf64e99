//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// try makes a lock of flock(2).
func try(file *os.File, exclusive bool) (bool, error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

func unlock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) }

// Open opens a file that may be removed while it is open, as [os.OpenFile] does.
func Open(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, mode)
}

// Remove takes the name from a file, which others may have open, and locked.
func Remove(path string) error { return os.Remove(path) }

// OpenDirectory opens the file that users of a directory take turns with: the directory itself.
func OpenDirectory(dir string) (*os.File, error) { return os.Open(dir) }
