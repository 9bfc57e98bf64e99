package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Denied says why a user may not use a state in a file.
type Denied struct {
	Path     string // of the file or directory that denies it
	What     string // how that belongs to the state: "its directory"
	Right    string // what the user may not do with it: "read", "write to", "enter"
	Mode     string // the mode that would allow it to the owner, as chmod takes it: "u+rw"
	IsAbove  bool   // it is a directory above that of the state
	Owner    int    // the ID of the user to whom it belongs; -1 where that is not known
	ReadOnly bool   // the file system is mounted read-only; nobody may
}

// CanKeep reports whether this user may make files in a directory, which need not be there yet.
func CanKeep(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err == nil {
			return info.IsDir() && mayWriteIn(dir)
		}
		above := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || above == dir {
			return false
		}
		dir = above
	}
}

// String says it in words.
func (d Denied) String() string { return fmt.Sprintf("%s %s", d.Right, d.What) }
