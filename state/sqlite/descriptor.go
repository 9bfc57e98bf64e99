package sqlite

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"remit/state"
)

// lockStart is where, in a state's file, the bytes begin that locks are about: far behind what
// SQLite locks, at 1 GiB, and behind anything that is ever written. A holder with the fence n has
// the byte lockStart+n, so who was fenced holds a byte that nobody asks about any more.
const lockStart = 1 << 62

// tryByte, before those bytes, is what [descriptor.hasLocks] tries locks on.
const tryByte = lockStart - 1

// opened is what this process has of one state file.
type opened struct {
	users int
	idle  map[bool][]*os.File // that nobody uses, by whether they can be written to
}

// descriptors are all that this process has of state files. A POSIX lock belongs to a process
// and a file, and is dropped when that process closes any descriptor of that file (fcntl(2)).
// SQLite's locks are such ones, except on Windows, where a lock belongs to a handle. So a file that is
// opened beside SQLite is closed when nothing in the process uses the file any more, and a Store uses
// it for longer than its SQLite does. The list is the process's because these locks are.
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
	locked   int64 // the byte that it has a lock on; 0 for none
}

// openDescriptor opens the file at path, which release closes as soon as that harms nobody.
func openDescriptor(path string, writable bool) (*descriptor, error) {
	descriptors.Lock()
	defer descriptors.Unlock()
	if there, err := lookBehind(path); err == nil {
		if o := descriptors.files[there.id]; o != nil && len(o.idle[writable]) > 0 {
			last := len(o.idle[writable]) - 1
			d := &descriptor{id: there.id, file: o.idle[writable][last], writable: writable}
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
	there, err := lookInto(file)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err) // the file is left to the collector: to close it might drop locks
	}
	d := &descriptor{id: there.id, file: file, writable: writable}
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
	err := d.unlock()
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

// hasLocks returns an error wrapped around [state.ErrNoLocks] where a lock on this file can't be
// had, or is not seen with another descriptor of it.
func (d *descriptor) hasLocks(path string) error {
	other, err := openDescriptor(path, false)
	if err != nil {
		return err
	}
	err = d.tryOut(other)
	if err != nil {
		err = fmt.Errorf("%w: %w", state.ErrNoLocks, err)
	}
	return errors.Join(err, other.release())
}

// errUnseen says that a lock keeps nobody out.
var errUnseen = errors.New("a lock is not seen by others")

// place is the file's place in its file system.
func (d *descriptor) place(path string) state.FilePlace {
	return state.FilePlace{Path: path, Device: d.id.deviceName(), Inode: d.id.inodeName()}
}
