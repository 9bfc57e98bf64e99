// Package confined opens files of a directory that other people wrote.
//
// Its one invariant: what it opens is a regular file in or below that directory, whatever links are
// there, and neither a pipe nor a device makes a caller wait or read without an end.
package confined

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrOutside says that a link leads out of the directory, or that a name does.
var ErrOutside = errors.New("leads out of the directory, and remit reads nothing outside of it, through a link neither; copy the file into the directory")

// Open opens a regular file below root for reading, through links that stay below root. An error
// is the end of a sentence that begins with the file's name, such as "is a pipe", or wraps the
// operating system's; it is [fs.ErrNotExist] where there is no such file, and [ErrOutside] where a
// link leads out.
func Open(root *os.Root, name string) (*os.File, error) {
	return openRegular(func() (fs.FileInfo, error) { return root.Stat(name) },
		func(flag int) (*os.File, error) { return root.OpenFile(name, flag, 0) })
}

func openRegular(stat func() (fs.FileInfo, error), open func(flag int) (*os.File, error)) (*os.File, error) {
	info, err := stat()
	if err != nil {
		return nil, Plain(err)
	}
	if err := checkKind(info); err != nil {
		return nil, err
	}
	// Between the two calls the file may have become a pipe: without the flag open would wait.
	file, err := open(os.O_RDONLY | syscall.O_NONBLOCK)
	if err != nil {
		return nil, Plain(err)
	}
	info, err = file.Stat()
	if err == nil {
		err = checkKind(info)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Read returns the content of a regular file below root that has at most limit bytes. Its errors
// are those of [Open], and one where the file has more.
func Read(root *os.Root, name string, limit int64) ([]byte, error) {
	file, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return ReadAtMost(file, limit)
}

// ReadAtMost reads all of r, and fails where that is more than limit bytes.
func ReadAtMost(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("has more than %d bytes", limit)
	}
	return content, nil
}

// ErrDirectory says that a name is a directory's where a file was asked for.
var ErrDirectory = errors.New("is a directory")

// checkKind refuses a file that is not regular, and names its kind.
func checkKind(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return ErrDirectory
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a pipe, which remit does not read as a file")
	case mode&fs.ModeDevice != 0:
		return errors.New("is a device, which remit does not read as a file")
	case mode&fs.ModeSocket != 0:
		return errors.New("is a socket, which remit does not read as a file")
	default:
		return errors.New("is not a regular file")
	}
}

// missing is [fs.ErrNotExist] in words.
type missing struct{}

// Error implements error.
func (missing) Error() string { return "there is no such file" }

// Is says that it is fs.ErrNotExist.
func (missing) Is(target error) bool { return target == fs.ErrNotExist }

// Plain is the error of a call on a file without the name of the system call; a link that leads out
// is [ErrOutside]. It is nil where err is.
func Plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return missing{}
	}
	at, isPath := errors.AsType[*fs.PathError](err)
	if !isPath {
		return err
	}
	// os.Root refuses a path that leads out by an error that is neither the kernel's nor one of its
	// names.
	if _, isKernels := errors.AsType[syscall.Errno](at.Err); !isKernels && !errors.Is(at.Err, fs.ErrClosed) {
		return ErrOutside
	}
	return at.Err
}

// OpenAnywhere is [Open] for a file that lies wherever the operator says, such as a certificate: links
// may lead to it. It must be a regular file too.
func OpenAnywhere(path string) (*os.File, error) {
	return openRegular(func() (fs.FileInfo, error) { return os.Stat(path) },
		func(flag int) (*os.File, error) { return os.OpenFile(path, flag, 0) })
}

// ReadAnywhere is [Read] for a file that lies wherever the operator says.
func ReadAnywhere(path string, limit int64) ([]byte, error) {
	file, err := OpenAnywhere(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return ReadAtMost(file, limit)
}

// MakeDirectory makes a directory below root with its parents, for its owner alone. Neither it, nor
// a parent, nor anything in it may be a link: a file written there stays there. The error names the link.
func MakeDirectory(root *os.Root, name string) error {
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		err := root.Mkdir(at, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make %s: %w", at, Plain(err))
		}
		if info, err := root.Lstat(at); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is no directory, or a link, and remit writes through none", at)
		}
	}
	return CheckDirectory(root, name)
}

// CheckDirectory refuses a directory below root where it, a parent, or anything in it is a link or no
// regular file. One that is not there is well.
func CheckDirectory(root *os.Root, name string) error {
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		info, err := root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", at, Plain(err))
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is no directory, or a link, and remit writes through none", at)
		}
	}
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return fmt.Errorf("look into %s: %w", name, Plain(err))
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() && !entry.IsDir() {
			return fmt.Errorf("%s is a link or no regular file, and remit writes through none", path.Join(name, entry.Name()))
		}
	}
	return nil
}

// OpenNamed opens a file that a person named to a command that works in dir. In or below dir it is one
// that the authors of the directory may have made, and is opened as by [Open]; any other is what the
// person says it is, a pipe too. A name that is not absolute is relative to dir.
func OpenNamed(dir, name string) (*os.File, error) {
	below, isBelow := belowDirectory(dir, name)
	if !isBelow {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		file, err := os.Open(name)
		return file, Plain(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, Plain(err)
	}
	defer func() { _ = root.Close() }() // the file outlives it
	return Open(root, below)
}

// belowDirectory is the name of a file relative to dir, and whether it is in or below it by its words.
func belowDirectory(dir, name string) (string, bool) {
	if filepath.IsAbs(name) {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return "", false
		}
		if name, err = filepath.Rel(absolute, name); err != nil {
			return "", false
		}
	}
	return filepath.Clean(name), filepath.IsLocal(name)
}
