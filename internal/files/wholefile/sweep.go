package wholefile

import (
	"os"
	"path/filepath"
	"strings"
)

// createMax is how often a file is made that another process takes for one that was left.
const createMax = 10

// create makes a file that is this process's own for as long as it lives, under a name that begins with prefix.
func create(dir, prefix string) (*os.File, error) {
	for try := 1; ; try++ {
		file, err := os.CreateTemp(dir, prefix+"*")
		if err != nil {
			return nil, err
		}
		hold(file)
		if try == createMax || isNamed(file) {
			return file, nil
		}
		_ = file.Close() // it was taken for one that was left, before it was held
	}
}

// isNamed reports whether a file still has the name under which it was made.
func isNamed(file *os.File) bool {
	own, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(own, there)
}

// sweep removes the files in dir that begin with prefix and that no process holds, but the own one. A file that
// can't be read or removed stays.
func sweep(dir, prefix, own string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		if name == own || !strings.HasPrefix(name, prefix) || !entry.Type().IsRegular() {
			continue
		}
		removeLeft(filepath.Join(dir, name))
	}
}
