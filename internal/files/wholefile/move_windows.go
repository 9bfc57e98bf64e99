package wholefile

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// A file that somebody reads, a scanner for viruses for example, can't be replaced meanwhile: how often it is
// tried, and how long remit waits in between.
const (
	movesMax  = 50
	pauseMove = 20 * time.Millisecond
)

// Move gives a file another name on the same file system, in the place of a file that has that name. When it returns nil
// the name is durable.
func Move(from, to string) error {
	return move(from, to, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
}

// publish is [Publish] of a path that can be a file's. Windows moves a file to a name that is free in one step, which
// no hard link does durably.
func publish(finished, path string) error {
	return move(finished, path, windows.MOVEFILE_WRITE_THROUGH)
}

func move(from, to string, flags uint32) error {
	source, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	target, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := windows.MoveFileEx(source, target, flags)
		isHeld := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		switch {
		case err == nil:
			return nil
		case !isHeld || try == movesMax:
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
		time.Sleep(pauseMove)
	}
}

// SyncName makes it durable that there is, or is no more, a file of this name.
func SyncName(path string) error {
	dir := filepath.Dir(path)
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	handle, err := windows.CreateFile(name, windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0) // which opens directories
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	err = errors.Join(windows.FlushFileBuffers(handle), windows.CloseHandle(handle))
	if err != nil {
		return &os.PathError{Op: "sync", Path: dir, Err: err}
	}
	return nil
}
