package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"remit/state"
)

// realPath is the one absolute path, without a symbolic link, of what name leads to: SQLite keeps
// its side files beside that one. Of a missing file, it is that of its directory and its name.
func realPath(name string) (string, error) {
	path, err := filepath.Abs(name)
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

// checkFile checks the file at path without letting SQLite look at it, which might create
// or change something. It refuses a file to which more than one path leads that is no link: beside
// each, SQLite would keep side files, and so events, of its own.
func checkFile(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, state.ErrMissing)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", path, state.ErrNotFile)
	case info.Size() == 0:
		return nil, fmt.Errorf("%s has no bytes: %w", path, state.ErrEmpty)
	}
	return info, checkAlone(path)
}
