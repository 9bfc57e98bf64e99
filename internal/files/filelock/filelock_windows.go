package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// lockedHigh is the upper half of the offset of the byte that is locked. LockFileEx keeps others from reading
// and writing locked bytes, so it is a byte behind everything that is ever written.
const lockedHigh = 1 << 30

// try makes a lock of LockFileEx.
func try(file *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedHigh})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlock(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedHigh})
}

// Open opens a file that may be removed while it is open. Go's own way to open forbids that to everybody
// else. Of flag, the access, O_CREATE and O_EXCL count; mode does not: the directory says who may do what.
func Open(path string, flag int, _ os.FileMode) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	access := uint32(windows.GENERIC_READ)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	disposition := uint32(windows.OPEN_EXISTING)
	switch {
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		disposition = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		disposition = windows.OPEN_ALWAYS
	}
	handle, err := windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, disposition, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// Remove takes the name from a file, which others may have open by Open, and locked. A file that is removed
// keeps its name on older systems until all have closed it, so it is given another one first.
func Remove(path string) error {
	aside := fmt.Sprintf("%s.%d", path, time.Now().UnixNano())
	if err := os.Rename(path, aside); err != nil {
		return err
	}
	return os.Remove(aside)
}

// OpenDirectory opens the file that users of a directory take turns with: a file in it, since Windows
// locks no directories.
func OpenDirectory(dir string) (*os.File, error) {
	return Open(filepath.Join(dir, ".remit.lock"), os.O_CREATE|os.O_RDWR, 0o600)
}
