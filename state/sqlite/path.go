package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"remit/internal/files/address"
	"remit/state"
	"remit/state/storage"
)

// realPath is the one absolute path, without a symbolic link, of what name leads to: SQLite keeps
// its side files beside that one. Of a missing file, it is that of its directory and its name.
func realPath(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err == nil {
		err = address.Check(path)
	}
	if err != nil {
		return "", err
	}
	whole, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return whole, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// checkBeside refuses links where the files beside the state at path are. Authors of a configuration can write where the
// state is, and remit would empty the file that such a link leads to, or write into it.
func checkBeside(path string) error {
	for _, beside := range []string{path + "-wal", path + "-shm", path + "-journal", lockPath(path), notePath(path), notePath(path) + storage.BranchSuffix} {
		info, err := os.Lstat(beside)
		if err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is a link or no regular file, and remit writes through none; remove it", beside)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// checkFile checks the file at path without letting SQLite look at it, which might create
// or change something. It refuses a file to which more than one path leads that is no link: beside
// each, SQLite would keep side files, and so events, of its own.
func checkFile(path string) (seen, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return seen{}, fmt.Errorf("%s: %w", path, state.ErrMissing)
	case err != nil:
		return seen{}, err
	case !info.Mode().IsRegular():
		return seen{}, fmt.Errorf("%s: %w", path, state.ErrNotFile)
	case info.Size() == 0:
		return seen{}, fmt.Errorf("%s has no bytes: %w", path, state.ErrEmpty)
	}
	if err := errors.Join(checkAlone(path), checkBeside(path)); err != nil {
		return seen{}, err
	}
	return lookBehind(path)
}
