//go:build unix

package wholefile

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Writable returns an error where this process may make no file in a directory. It is nil where a directory of the
// system takes no file although its permissions allow it, as those below /proc do.
func Writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}
