package sqlite

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"remit/state"
)

// lockStart is where, in a state's file, the bytes begin that locks are about: far behind what
// SQLite locks, at 1 GiB, and behind anything that is ever written. A holder with the fence n has
// the byte lockStart+n, so who was fenced holds a byte that nobody asks about any more.
const lockStart = 1 << 62

// tryByte, before those bytes, is what [descriptor.hasLocks] tries locks on.
const tryByte = lockStart - 1

// fileID names a file as the kernel does, whatever path leads to it.
type fileID struct{ device, inode uint64 }

// opened is what this process has of one state file.
type opened struct {
	users int
	idle  map[bool][]*os.File // that nobody uses, by whether they can be written to
}

// descriptors are all that this process has of state files. A POSIX lock belongs to a process
// and a file, and is dropped when that process closes any descriptor of that file (fcntl(2)).
// SQLite's are such locks. So a file that is opened beside SQLite is closed when nothing in the process
// uses the file any more, and a Store uses it for longer than its SQLite does. The list is the
// process's because these locks are.
var descriptors = struct {
	sync.Mutex
	files map[fileID]*opened
}{files: make(map[fileID]*opened)}

// descriptor is one open file description of a state's file. Locks that are made with it end
// with it, or with the process.
type descriptor struct {
	id       fileID
	file     *os.File // nil once it was released
	writable bool
}

// openDescriptor opens the file at path, which release closes as soon as that harms nobody.
func openDescriptor(path string, writable bool) (*descriptor, error) {
	descriptors.Lock()
	defer descriptors.Unlock()
	var stat unix.Stat_t
	if unix.Stat(path, &stat) == nil {
		id := fileID{stat.Dev, stat.Ino}
		if o := descriptors.files[id]; o != nil && len(o.idle[writable]) > 0 {
			last := len(o.idle[writable]) - 1
			d := &descriptor{id, o.idle[writable][last], writable}
			o.idle[writable] = o.idle[writable][:last]
			o.users++
			return d, nil
		}
	}
	flag := os.O_RDONLY
	if writable {
		flag = os.O_RDWR
	}
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err) // the file is left to the collector: to close it might drop locks
	}
	d := &descriptor{fileID{stat.Dev, stat.Ino}, file, writable}
	o := descriptors.files[d.id]
	if o == nil {
		o = &opened{idle: make(map[bool][]*os.File)}
		descriptors.files[d.id] = o
	}
	o.users++
	return d, nil
}

// release lets go of the lock that was made with d. Only release can be called afterwards, in vain.
func (d *descriptor) release() error {
	descriptors.Lock()
	defer descriptors.Unlock()
	if d.file == nil {
		return nil
	}
	err := d.set(unix.F_UNLCK, 0, 0)
	o := descriptors.files[d.id]
	o.idle[d.writable] = append(o.idle[d.writable], d.file)
	d.file = nil
	if o.users--; o.users > 0 {
		return err
	}
	delete(descriptors.files, d.id)
	for _, files := range o.idle {
		for _, file := range files {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// set makes a lock of d alone (an open file description lock, fcntl(2)) or takes one back.
func (d *descriptor) set(kind int16, start, length int64) error {
	lock := unix.Flock_t{Type: kind, Start: start, Len: length}
	return unix.FcntlFlock(d.file.Fd(), unix.F_OFD_SETLK, &lock)
}

// lock locks the byte of a fence. It reports false where somebody else has it.
func (d *descriptor) lock(fence int64) (bool, error) {
	err := d.set(unix.F_WRLCK, lockStart+fence, 1)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// heldFrom reports whether somebody else has the byte of this fence or of a higher one, and which.
func (d *descriptor) heldFrom(fence int64) (at int64, held bool, err error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: lockStart + fence} // to the end
	if err := unix.FcntlFlock(d.file.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return 0, false, err
	}
	return lock.Start - lockStart, lock.Type != unix.F_UNLCK, nil
}

// hasLocks returns an error wrapped around [state.ErrNoLocks] where a lock on this file can't be
// had, or is not seen with another descriptor of it.
func (d *descriptor) hasLocks(path string) error {
	other, err := openDescriptor(path, false)
	if err != nil {
		return err
	}
	err = d.set(unix.F_RDLCK, tryByte, 1)
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: tryByte, Len: 1}
	if err == nil {
		err = unix.FcntlFlock(other.file.Fd(), unix.F_OFD_GETLK, &lock)
	}
	if err == nil && lock.Type == unix.F_UNLCK {
		err = errors.New("a lock is not seen by others")
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", state.ErrNoLocks, err)
	}
	return errors.Join(err, d.set(unix.F_UNLCK, tryByte, 1), other.release())
}

// place is the file's place in its file system.
func (d *descriptor) place(path string) state.FilePlace {
	return state.FilePlace{
		Path:   path,
		Device: fmt.Sprintf("%d:%d", unix.Major(d.id.device), unix.Minor(d.id.device)),
		Inode:  fmt.Sprint(d.id.inode),
	}
}
