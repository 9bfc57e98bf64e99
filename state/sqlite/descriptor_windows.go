package sqlite

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// fileID names a file as its volume does, whatever path leads to it.
type fileID struct {
	volume uint32
	index  uint64
}

// lookBehind looks at the file that a path leads to.
func lookBehind(path string) (seen, error) { return look(path, windows.FILE_FLAG_BACKUP_SEMANTICS) }

// lookAt looks at the file or the link of this path.
func lookAt(path string) (seen, error) {
	return look(path, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT)
}

// lookInto looks at an open file.
func lookInto(file *os.File) (seen, error) {
	info, err := infoOf(windows.Handle(file.Fd()))
	if err != nil {
		return seen{}, &os.PathError{Op: "stat", Path: file.Name(), Err: err}
	}
	return seenBy(info), nil
}

// look opens a path for its attributes alone, which no other opening of the file forbids.
func look(path string, flags uint32) (seen, error) {
	info, err := infoAt(path, flags)
	if err != nil {
		return seen{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return seenBy(info), nil
}

func infoAt(path string, flags uint32) (info windows.ByHandleFileInformation, err error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return info, err
	}
	const all = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, all, nil, windows.OPEN_EXISTING, flags, 0)
	if err != nil {
		return info, err
	}
	info, err = infoOf(handle)
	return info, errors.Join(err, windows.CloseHandle(handle))
}

func infoOf(handle windows.Handle) (info windows.ByHandleFileInformation, err error) {
	err = windows.GetFileInformationByHandle(handle, &info)
	return info, err
}

func seenBy(info windows.ByHandleFileInformation) seen {
	id := fileID{info.VolumeSerialNumber, uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}
	return seen{id, int64(info.FileSizeHigh)<<32 | int64(info.FileSizeLow)}
}

// deviceName is the serial number of the volume as Windows shows it.
func (id fileID) deviceName() string {
	return fmt.Sprintf("%04X-%04X", id.volume>>16, id.volume&math.MaxUint16)
}

func (id fileID) inodeName() string { return fmt.Sprint(id.index) }

// A lock of Windows can't be asked for without being taken. Readers take a shared one for a moment, which keeps
// no other reader out; who locks tells them from a holder and tries again: so often, after so long.
const (
	triesMax = 250
	pauseTry = 2 * time.Millisecond
)

// span is bytes of a file: those that locks are about.
type span struct{ start, length int64 }

func (s span) parts() (low, high uint32, at *windows.Overlapped) {
	at = &windows.Overlapped{Offset: uint32(s.start & math.MaxUint32), OffsetHigh: uint32(s.start >> 32)} //nolint:gosec // halves of a number that is not negative
	return uint32(s.length & math.MaxUint32), uint32(s.length >> 32), at                                  //nolint:gosec // as above
}

// try locks bytes with the handle of d alone. It reports false where another handle has a lock that forbids it.
func (d *descriptor) try(s span, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	low, high, at := s.parts()
	err := windows.LockFileEx(windows.Handle(d.file.Fd()), flags, 0, low, high, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func (d *descriptor) giveBack(s span) error {
	low, high, at := s.parts()
	return windows.UnlockFileEx(windows.Handle(d.file.Fd()), 0, low, high, at)
}

// isHeld reports whether another handle has one of these bytes alone.
func (d *descriptor) isHeld(s span) (bool, error) {
	free, err := d.try(s, false)
	if free {
		err = d.giveBack(s)
	}
	return !free, err
}

// unlock takes back the lock of d.
func (d *descriptor) unlock() error {
	if d.locked == 0 {
		return nil
	}
	err := d.giveBack(span{d.locked, 1})
	d.locked = 0
	return err
}

// lock locks the byte of a fence. It reports false where somebody else has it.
func (d *descriptor) lock(fence int64) (bool, error) {
	byteOf := span{lockStart + fence, 1}
	for range triesMax {
		had, err := d.try(byteOf, true)
		if had {
			d.locked = byteOf.start
		}
		if had || err != nil {
			return had, err
		}
		if held, err := d.isHeld(byteOf); held || err != nil {
			return false, err
		}
		time.Sleep(pauseTry) // readers alone are there
	}
	return false, nil
}

// heldFrom reports whether somebody else has the byte of this fence or of a higher one, and which is the lowest.
func (d *descriptor) heldFrom(fence int64) (at int64, held bool, err error) {
	start, end := lockStart+fence, int64(math.MaxInt64)
	if held, err := d.isHeld(span{start, end - start}); !held || err != nil {
		return 0, false, err
	}
	for end-start > 1 {
		half := start + (end-start)/2
		lower, err := d.isHeld(span{start, half - start})
		if err != nil {
			return 0, false, err
		}
		if lower {
			end = half
		} else {
			start = half
		}
	}
	return start - lockStart, true, nil
}

// tryOut takes a lock with d, and returns an error where other does not see it.
func (d *descriptor) tryOut(other *descriptor) error {
	tried := span{tryByte, 1}
	had, err := d.try(tried, false)
	switch {
	case err != nil:
		return err
	case !had:
		return errors.New("a lock that readers share can't be had")
	}
	unseen, err := other.try(tried, true)
	if unseen {
		err = errors.Join(errUnseen, other.giveBack(tried))
	}
	return errors.Join(err, d.giveBack(tried))
}
