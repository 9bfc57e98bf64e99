//go:build unix

package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Move gives a file another name on the same file system, in the place of a file that has that name. When it returns nil
// the name is durable.
func Move(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncName(to)
}

// SyncName makes it durable that there is, or is no more, a file of this name.
func SyncName(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// publish is [Publish] of a path that can be a file's.
func publish(finished, path string) error {
	err := os.Link(finished, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		switch _, there := os.Lstat(path); {
		case there == nil:
			return &fs.PathError{Op: "publish", Path: path, Err: fs.ErrExist}
		case errors.Is(there, fs.ErrNotExist):
			err = os.Rename(finished, path)
		}
	}
	if err != nil {
		return err
	}
	return SyncName(path)
}
