//go:build linux || darwin

package sqlite

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// fileID names a file as the kernel does, whatever path leads to it.
type fileID struct{ device, inode uint64 }

// lookBehind looks at the file that a path leads to.
func lookBehind(path string) (seen, error) {
	return look(path, func(stat *unix.Stat_t) error { return unix.Stat(path, stat) })
}

// lookAt looks at the file or the link of this path.
func lookAt(path string) (seen, error) {
	return look(path, func(stat *unix.Stat_t) error { return unix.Lstat(path, stat) })
}

// lookInto looks at an open file.
func lookInto(file *os.File) (seen, error) {
	return look(file.Name(), func(stat *unix.Stat_t) error { return unix.Fstat(int(file.Fd()), stat) })
}

func look(path string, do func(*unix.Stat_t) error) (seen, error) {
	var stat unix.Stat_t
	if err := do(&stat); err != nil {
		return seen{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return seen{fileID{uint64(stat.Dev), stat.Ino}, stat.Size}, nil //nolint:gosec,unconvert // a device of macOS has 32 bits
}

func (id fileID) deviceName() string {
	return fmt.Sprintf("%d:%d", unix.Major(id.device), unix.Minor(id.device))
}

func (id fileID) inodeName() string { return fmt.Sprint(id.inode) }

// set makes a lock of d alone on a byte (an open file description lock, fcntl(2)) or takes one back.
func (d *descriptor) set(kind int16, at int64) error {
	lock := unix.Flock_t{Type: kind, Start: at, Len: 1}
	return unix.FcntlFlock(d.file.Fd(), setLock, &lock)
}

// unlock takes back the lock of d.
func (d *descriptor) unlock() error {
	if d.locked == 0 {
		return nil
	}
	err := d.set(unix.F_UNLCK, d.locked)
	d.locked = 0
	return err
}

// lock locks the byte of a fence. It reports false where somebody else has it.
func (d *descriptor) lock(fence int64) (bool, error) {
	err := d.set(unix.F_WRLCK, lockStart+fence)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d.locked = lockStart + fence
	return true, nil
}

// heldFrom reports whether somebody else has the byte of this fence or of a higher one, and which.
func (d *descriptor) heldFrom(fence int64) (at int64, held bool, err error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: lockStart + fence} // to the end
	if err := unix.FcntlFlock(d.file.Fd(), getLock, &lock); err != nil {
		return 0, false, err
	}
	return lock.Start - lockStart, lock.Type != unix.F_UNLCK, nil
}

// tryOut takes a lock with d, and returns an error where other does not see it.
func (d *descriptor) tryOut(other *descriptor) error {
	err := d.set(unix.F_RDLCK, tryByte)
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: tryByte, Len: 1}
	if err == nil {
		err = unix.FcntlFlock(other.file.Fd(), getLock, &lock)
	}
	if err == nil && lock.Type == unix.F_UNLCK {
		err = errUnseen
	}
	return errors.Join(err, d.set(unix.F_UNLCK, tryByte))
}
