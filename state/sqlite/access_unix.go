//go:build linux || darwin

package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// DeniedAt names what this process may not do that using a state at path for writing needs: the way to it
// first, then to read, then to write. It reports false where nothing is known to be denied.
func DeniedAt(path string) (Denied, bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Denied{}, false
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		path = whole
	}
	dir := filepath.Dir(path)
	for _, above := range ancestors(dir) {
		if d, is := deniedTo(above, unix.X_OK, "a directory above it", "enter", "u+x"); is {
			d.IsAbove = true
			return d, true
		}
	}
	for _, look := range []struct {
		path              string
		mode              uint32
		what, right, want string
	}{
		{dir, unix.X_OK, "its directory", "enter", "u+rwx"},
		{path, unix.R_OK, "its file", "read", "u+rw"},
		{path, unix.W_OK, "its file", "write to", "u+rw"},
		{path + "-wal", unix.R_OK | unix.W_OK, "its -wal file", "read and write", "u+rw"},
		{path + "-shm", unix.R_OK | unix.W_OK, "its -shm file", "read and write", "u+rw"},
		{path + ".lock", unix.R_OK | unix.W_OK, "its .lock file", "read and write", "u+rw"},
		{notePath(path), unix.R_OK | unix.W_OK, "its note of the newest event", "read and write", "u+rw"},
		{dir, unix.W_OK, "its directory", "write to", "u+rwx"},
	} {
		if d, is := deniedTo(look.path, look.mode, look.what, look.right, look.want); is {
			return d, true
		}
	}
	return Denied{}, false
}

// NoteDenied names the obstacle between this process and a note at path that is there, or from one in a directory that is there.
func NoteDenied(path string) (Denied, bool) {
	for _, above := range ancestors(path) {
		if d, is := deniedTo(above, unix.X_OK, "the directory of a note", "enter", "u+rwx"); is {
			return d, !d.ReadOnly
		}
	}
	if d, is := deniedTo(path, unix.R_OK|unix.W_OK, "a note", "read and write", "u+rw"); is {
		return d, !d.ReadOnly
	}
	d, is := deniedTo(filepath.Dir(path), unix.W_OK, "the directory of a note", "write to", "u+rwx")
	return d, is && !d.ReadOnly
}

// mayWriteIn reports whether files can be made in a directory.
func mayWriteIn(dir string) bool {
	_, is := deniedTo(dir, unix.W_OK|unix.X_OK, "", "", "")
	return !is
}

// ancestors are the directories above path, the highest first.
func ancestors(path string) []string {
	dir := filepath.Dir(path)
	if dir == path {
		return nil
	}
	return append(ancestors(dir), dir)
}

func deniedTo(path string, mode uint32, what, right, want string) (Denied, bool) {
	err := unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
	isReadOnly := errors.Is(err, unix.EROFS)
	if !isReadOnly && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
		return Denied{}, false // a missing file keeps nobody out
	}
	d := Denied{Path: path, What: what, Right: right, Mode: want, Owner: -1, ReadOnly: isReadOnly}
	if info, err := os.Stat(path); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			d.Owner = int(stat.Uid)
		}
	}
	return d, true
}
