// Package filelock locks whole files between processes.
//
// Its one invariant: a lock ends with the file that was opened to take it, or with its process, and
// locked content can be read and written by everybody whom the system lets.
package filelock

import "os"

// TryExclusive takes the lock of an open file for this opening of it alone. It reports false where any other
// opening, in this process too, has a lock. The opening has no lock yet.
func TryExclusive(file *os.File) (bool, error) { return try(file, true) }

// TryShared takes a lock that others may have beside this one, and reports false where another opening has
// the lock alone. The opening has no lock yet.
func TryShared(file *os.File) (bool, error) { return try(file, false) }

// Unlock ends the lock of an opening at once. Where the file is closed alone, a child that another goroutine starts at that
// moment has the opening, and its lock, until it is another program (fork(2)).
func Unlock(file *os.File) error { return unlock(file) }
