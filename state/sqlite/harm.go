package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"remit/state"
)

// size is the largest one that was seen of a file that never gets smaller: SQLite gives nothing of a
// state back, and what it takes in place of that is in the file already.
type size struct{ max atomic.Int64 }

// seen is a file as a look at it found it: which it is, found out with the look and not later, and how many bytes it has.
type seen struct {
	id   fileID
	size int64
}

// check looks at a file, and returns an error wrapped around [state.ErrDamaged] where it was cut.
func (s *size) check(path string, look func(string) (seen, error)) (seen, error) {
	before := s.max.Load() // a file that grew meanwhile says nothing about this look
	now, err := look(path)
	if err != nil {
		return seen{}, err
	}
	if now.size < before {
		return seen{}, fmt.Errorf("%s was cut while it was in use: it has %d bytes and had %d: %w", path, now.size, before, state.ErrDamaged)
	}
	for most := s.max.Load(); now.size > most; most = s.max.Load() {
		if s.max.CompareAndSwap(most, now.size) {
			break
		}
	}
	return now, nil
}

// sameFile returns [state.ErrReplaced] where the path, or the one that was given, no longer
// leads to the file that was opened, and [state.ErrDamaged] where that was cut.
func (s *Store) sameFile() error {
	for _, path := range slices.Compact([]string{s.path, s.named}) {
		now, err := s.size.check(path, lookBehind)
		if err := stillThere(path, s.file, now, err); err != nil {
			return err
		}
	}
	return nil
}

// stillThere is what a look at path says of the file that was there.
func stillThere(path string, file, now seen, err error) error {
	if errors.Is(err, fs.ErrNotExist) || err == nil && now.id != file.id {
		return fmt.Errorf("%s: %w", path, state.ErrReplaced)
	}
	return err
}

// sides are the side files that a holder shares with SQLite, as they were when it took the lock: as
// long as somebody uses the state they stay, and are not cut.
type sides struct {
	path  string // of the state
	files [2]seen
	sizes [2]size
}

var sideNames = [2]string{"-wal", "-shm"}

// newSides looks at the side files of a state, to which a lock has written already.
func newSides(path string) (*sides, error) {
	s := &sides{path: path}
	for i, name := range sideNames {
		var err error
		if s.files[i], err = s.sizes[i].check(path+name, lookAt); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// check is that of the store for the side files.
func (s *sides) check() error {
	for i, name := range sideNames {
		now, err := s.sizes[i].check(s.path+name, lookAt)
		if err := stillThere(s.path+name, s.files[i], now, err); err != nil {
			return err
		}
	}
	return nil
}

// unharmed returns an error where somebody replaced, removed or cut a file of the state under the lock.
func (j *journal) unharmed() error {
	if err := j.store.sameFile(); err != nil {
		return err
	}
	return j.sides.check()
}
