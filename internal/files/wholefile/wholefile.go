// Package wholefile replaces files.
//
// Its one invariant: a file that it replaces has its old content or its new one, whole, also after
// a crash.
package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"remit/internal/files/address"
)

// Replace makes what write writes the content of the file at path, which need not be there
// yet, with the permissions of mode; on Windows the directory says who may do what. It writes a file beside it first, syncs that, and renames
// it; when it returns nil the new content is durable. After an error the old content is there,
// unless the rename was made and could not be made durable. The error is that of write or of
// the operating system, or says that path is no file's. The file that a killed process left beside it is removed.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if err := address.Check(path); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	prefix := ".remit-" + filepath.Base(path) + "-"
	temporary, err := create(dir, prefix)
	if err != nil {
		return err
	}
	sweep(dir, prefix, filepath.Base(temporary.Name()))
	defer func() { _ = os.Remove(temporary.Name()) }() // gone already after the rename
	err = write(&steady{file: temporary})
	if err == nil {
		err = errors.Join(temporary.Chmod(mode.Perm()), temporary.Sync())
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return Move(temporary.Name(), path)
}

// Publish gives a finished file, which is on the same file system, the name path: as well, or,
// where a file can't have two names, instead. It returns an error wrapped around [fs.ErrExist],
// and changes nothing, where there is something of that name. When it returns nil the name is
// durable.
func Publish(finished, path string) error {
	if err := address.Check(path); err != nil {
		return err
	}
	return publish(finished, path)
}

// syncEvery is how many bytes wait to be durable at most: bytes that are written faster than the disk
// takes them would otherwise be waited for at the end, for seconds that nothing can interrupt.
const syncEvery = 32 << 20

// steady is a file that is synced while it is written.
type steady struct {
	file    *os.File
	pending int
}

// Write implements io.Writer.
func (s *steady) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if s.pending += n; err == nil && s.pending >= syncEvery {
		s.pending = 0
		err = s.file.Sync()
	}
	return n, err
}
