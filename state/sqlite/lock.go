package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"remit/internal/files/filelock"
	"remit/state"
	"remit/state/storage"
)

const (
	// pollLock is how often a waiting Lock looks again.
	pollLock = 50 * time.Millisecond
	// pollProbe and probesMax bound the wait for readers that look whether the lock is held.
	pollProbe = 2 * time.Millisecond
	probesMax = 250
	// unsignedMax bounds the wait for a lock that nobody has signed, in pauses of pollLock: its holder has let go, and a child
	// that its process starts just now has the file for a moment longer (fork(2)).
	unsignedMax = 40
	// sizeHolder bounds the bytes that are read of a lock file.
	sizeHolder = 64 << 10
)

// heldLock is a held lock: the byte of its fence in the state's own file, whatever path led to that
// (see lockStart), and the file beside the state. The kernel takes both back when the holder dies.
type heldLock struct {
	own    *descriptor
	fence  int64
	beside *lockFile
}

// release lets the next one lock.
func (l *heldLock) release() error { return errors.Join(l.own.release(), l.beside.release()) }

// lockFile is an exclusive lock of a file beside the state, whose content says who holds
// the lock. It is all that remit 0.1.0 looks at, and all that there is while a state is made.
// Deleting it takes no lock away.
type lockFile struct {
	path string
	file *os.File
}

// lockPath is where the lock file of the state at path is.
func lockPath(path string) string { return path + ".lock" }

// locking is an attempt to lock.
type locking struct {
	path   string // of the state
	holder state.Holder
	wait   time.Duration                                    // how long it waits for another holder
	sleep  func(context.Context, time.Duration) error       // nil is storage.Sleep
	take   func(context.Context) (bool, error)              // takes the lock itself, once the file beside is had; nil for none
	who    func(context.Context, state.Holder) state.Holder // names the holder, where it knows better than the file beside; nil for never
}

// acquire makes the attempt. It waits for another holder, then returns a *[state.LockedError].
func (a locking) acquire(ctx context.Context) (*lockFile, error) {
	if err := checkBeside(a.path); err != nil {
		return nil, err
	}
	sleep := a.sleep
	if sleep == nil {
		sleep = storage.Sleep
	}
	var waited time.Duration
	var probes, unsigned int
	for {
		l, probed, err := a.try(ctx)
		if l != nil || err != nil {
			return l, err
		}
		pause := pollLock
		switch {
		case probed && probes < probesMax:
			probes++
			pause = pollProbe
		case waited >= a.wait:
			holder := readHolder(ctx, lockPath(a.path))
			if holder == (state.Holder{}) && unsigned < unsignedMax {
				unsigned++
				break
			}
			if a.who != nil {
				holder = a.who(ctx, holder)
			}
			return nil, &state.LockedError{Holder: holder}
		default:
			waited += pause
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// try takes the lock if it is free, and returns nil otherwise. It reports whether that is only
// because readers are looking at the file beside, which they do for a moment.
func (a locking) try(ctx context.Context) (l *lockFile, probed bool, err error) {
	for {
		l, probed, err := tryLockFile(lockPath(a.path))
		if err != nil {
			return nil, false, fmt.Errorf("lock %s: %w", lockPath(a.path), err)
		}
		if l == nil {
			return nil, probed, nil
		}
		signed, err := l.sign(a.holder)
		if err != nil {
			return nil, false, err
		}
		if !signed {
			continue // the file was unlinked meanwhile: others see another one
		}
		if a.take == nil {
			return l, false, nil
		}
		had, err := a.take(ctx)
		if err != nil || !had {
			return nil, false, errors.Join(err, l.release())
		}
		return l, false, nil
	}
}

// tryLockFile takes the lock of the file at path if it is free. Otherwise it returns nil, and reports whether
// that is only because readers are looking at it, which they do for a moment.
func tryLockFile(path string) (l *lockFile, probed bool, err error) {
	file, err := filelock.Open(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	taken, err := filelock.TryExclusive(file)
	if taken && err == nil {
		return &lockFile{path, file}, false, nil
	}
	if err == nil {
		// A shared lock can be had beside readers, not beside a holder.
		probed, err = filelock.TryShared(file)
	}
	return nil, probed, errors.Join(err, file.Close())
}

// sign writes who holds the lock into its file. It reports false, and lets go, where the
// path names another file by now; it lets go as well where it returns an error.
func (l *lockFile) sign(holder state.Holder) (signed bool, err error) {
	defer func() {
		if !signed {
			err = errors.Join(err, l.release())
		}
	}()
	if named, err := l.isNamed(); err != nil || !named {
		return false, err
	}
	content, err := json.Marshal(holder)
	if err != nil {
		return false, err
	}
	if err := l.file.Truncate(0); err != nil {
		return false, err
	}
	if _, err := l.file.WriteAt(append(content, '\n'), 0); err != nil {
		return false, err
	}
	return true, nil
}

// isNamed reports whether the path still leads to the file that is locked.
func (l *lockFile) isNamed() (bool, error) {
	own, err := lookInto(l.file)
	if err != nil {
		return false, err
	}
	there, err := lookBehind(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && own.id == there.id, err
}

// release lets the next one lock. The file stays, empty: unlinking it could let two hold
// the lock.
func (l *lockFile) release() error {
	return errors.Join(l.file.Truncate(0), filelock.Unlock(l.file), l.file.Close())
}

// holderBeside says who holds the lock file of the state at path, if anyone alive does. It looks
// with a shared lock, which a Lock at the same moment knows to wait for. Where it may not
// look, someone unknown holds it: a request in flight is not taken for dead.
func holderBeside(ctx context.Context, path string) (state.Holder, bool, error) {
	free, err := isFree(lockPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return state.Holder{}, false, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return state.Holder{}, true, nil
	}
	if err != nil || free {
		return state.Holder{}, false, err
	}
	return readHolder(ctx, lockPath(path)), true, nil
}

// isFree looks with a shared lock whether nobody holds the lock of a file.
func isFree(path string) (bool, error) {
	file, err := filelock.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	free, err := filelock.TryShared(file)
	return free, errors.Join(err, file.Close())
}

// readHolder reads who signed a lock. It looks a few times, since the holder may be about
// to sign, and then returns the zero Holder.
func readHolder(ctx context.Context, path string) state.Holder {
	for range 5 {
		content, err := readBounded(path)
		var holder state.Holder
		if err == nil && json.Unmarshal(content, &holder) == nil {
			return holder
		}
		if storage.Sleep(ctx, pollProbe) != nil {
			break
		}
	}
	return state.Holder{}
}

func readBounded(path string) ([]byte, error) {
	f, err := filelock.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, sizeHolder))
}
