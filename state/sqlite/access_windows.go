package sqlite

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// DeniedAt names what this process may not do that using a state at path for writing needs: the way to it
// first, then to read, then to write. It reports false where nothing is known to be denied. Windows lets
// everybody pass directories above, so those are not looked at.
func DeniedAt(path string) (Denied, bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Denied{}, false
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		path = whole
	}
	const both = windows.GENERIC_READ | windows.GENERIC_WRITE
	for _, look := range []struct {
		path        string
		access      uint32
		what, right string
	}{
		{filepath.Dir(path), windows.FILE_LIST_DIRECTORY, "its directory", "enter"},
		{path, windows.GENERIC_READ, "its file", "read"},
		{path, windows.GENERIC_WRITE, "its file", "write to"},
		{path + "-wal", both, "its -wal file", "read and write"},
		{path + "-shm", both, "its -shm file", "read and write"},
		{path + ".lock", both, "its .lock file", "read and write"},
		{notePath(path), both, "its note of the newest event", "read and write"},
		{filepath.Dir(path), windows.FILE_WRITE_DATA, "its directory", "write to"},
	} {
		err := tryAccess(look.path, look.access)
		isReadOnly := errors.Is(err, windows.ERROR_WRITE_PROTECT)
		if isReadOnly || errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return Denied{Path: look.path, What: look.what, Right: look.right, Owner: -1, ReadOnly: isReadOnly}, true
		}
	}
	return Denied{}, false
}

// NoteDenied names the obstacle between this process and a note at path that is there, or from one in a directory that is there.
func NoteDenied(path string) (Denied, bool) {
	if errors.Is(tryAccess(path, windows.GENERIC_READ|windows.GENERIC_WRITE), windows.ERROR_ACCESS_DENIED) {
		return Denied{Path: path, What: "a note", Right: "read and write", Owner: -1}, true
	}
	return Denied{}, false
}

// mayWriteIn reports whether files can be made in a directory.
func mayWriteIn(dir string) bool { return tryAccess(dir, windows.FILE_WRITE_DATA) == nil }

// tryAccess opens a file or a directory for some access and closes it again.
func tryAccess(path string, access uint32) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	handle, err := windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0) // which opens directories as well
	if err != nil {
		return err
	}
	return windows.CloseHandle(handle)
}
