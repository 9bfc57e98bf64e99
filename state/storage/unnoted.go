package storage

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"remit/internal/syserror"
	"remit/state"
)

// Unnoted are the notes that a journal could not bring up to date last. The zero value has none. Several may use it at once.
type Unnoted struct {
	mu     sync.Mutex
	failed map[string]error
	isSeen bool // a note in a directory of the user was written
}

// add has a note that could not be written. One that is denied to this user is left out: a person was told of it before the journal was
// used. So is a directory that nobody can make, as in a container without a home.
func (u *Unnoted) add(path string, err error) {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || syserror.IsThroughFile(err) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failed == nil {
		u.failed = make(map[string]error)
	}
	u.failed[path] = err
}

// remove has a note that was written.
func (u *Unnoted) remove(path string, isSeen bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.failed, path)
	u.isSeen = u.isSeen || isSeen
}

// Unnoted implements [state.Noting]. Where one note of the user was written, one that is not there is not missed, and neither is one on
// a file system that is read-only, as a unit of systemd has the homes.
func (u *Unnoted) Unnoted() []state.Unnoted {
	u.mu.Lock()
	defer u.mu.Unlock()
	var all []state.Unnoted
	for _, path := range slices.Sorted(maps.Keys(u.failed)) {
		_, err := os.Lstat(path)
		missing := err != nil
		if u.isSeen && (missing || syserror.IsReadOnly(u.failed[path])) {
			continue
		}
		all = append(all, state.Unnoted{Path: path, IsMissing: missing, Err: u.failed[path]})
	}
	return all
}
