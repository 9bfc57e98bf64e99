//go:build unix

package wholefile

import (
	"os"

	"golang.org/x/sys/unix"

	"remit/internal/files/filelock"
)

// hold makes a file this process's own until it closes it or dies. Where that can't be had, another process may
// take the file for one that was left, as create finds out.
func hold(file *os.File) { _, _ = filelock.TryExclusive(file) }

// removeLeft removes a file that no process holds, and no link or pipe.
func removeLeft(path string) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	if free, err := filelock.TryExclusive(file); free && err == nil {
		_ = os.Remove(path) // nobody needs it
	}
	_ = file.Close() // nothing was written
}
