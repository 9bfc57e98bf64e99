// Package confined opens files of a directory that other people wrote.
//
// Its one invariant: what it opens is a regular file in or below that directory, whatever links
// stand there, and neither a pipe nor a device makes a caller wait or read without an end.
package confined

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrOutside says that a link leads out of the directory, or that a name does.
var ErrOutside = errors.New("leads out of the directory, and remit reads nothing outside of it")

// Open opens a regular file below root for reading, through links that stay below root. An error
// is the end of a sentence that begins with the file's name, such as "is a pipe", or wraps the
// operating system's; it is [fs.ErrNotExist] where there is no such file, and [ErrOutside] where a
// link leads out.
func Open(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, plain(err)
	}
	if err := checkKind(info); err != nil {
		return nil, err
	}
	// Between the two calls the file may have become a pipe: without the flag Open would wait.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plain(err)
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

// checkKind refuses what is no regular file, by the name of what it is.
func checkKind(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("is a directory")
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

// plain leaves out the name of the system call, and says what a link that leads out is.
func plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return missing{}
	}
	at, isPath := errors.AsType[*fs.PathError](err)
	if !isPath {
		return err
	}
	// os.Root refuses what leads out by an error that is neither the kernel's nor one of its names.
	if _, isKernels := errors.AsType[syscall.Errno](at.Err); !isKernels && !errors.Is(at.Err, fs.ErrClosed) {
		return ErrOutside
	}
	return at.Err
}
