package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// samePath reports whether two paths name one file, which need not be there.
func samePath(a, b string) bool {
	if infoA, err := os.Stat(a); err == nil {
		if infoB, err := os.Stat(b); err == nil {
			return os.SameFile(infoA, infoB)
		}
	}
	wholeA, errA := wholePath(a)
	wholeB, errB := wholePath(b)
	return errA == nil && errB == nil && wholeA == wholeB
}

// wholePath is the path of a file that need not be there, in a directory without links where that is there.
func wholePath(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(absolute)); err == nil {
		return filepath.Join(dir, filepath.Base(absolute)), nil
	}
	return absolute, nil
}

// isReplaceable reports whether there is no file yet, an empty one, or one that begins so. A
// link, a directory or a device is none of these.
func isReplaceable(path, start string) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // only read
	head, err := io.ReadAll(io.LimitReader(file, int64(len(start))))
	return len(head) == 0 || string(head) == start, err
}
