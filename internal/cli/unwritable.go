package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"remit/internal/cli/exit"
	"remit/internal/files/wholefile"
	"remit/internal/text/lazyregexp"
	"remit/internal/text/shell"
)

// ofWindows is the beginning of a path of Windows.
var ofWindows = lazyregexp.New(`^[A-Za-z]:\\|^\.{1,2}\\`)

// noPlaceFor refuses the name of a file that can't be made there: its directory is missing, is a file or takes no file
// of this user. Said is how the flag was written; dir is the directory of the configuration.
func noPlaceFor(said, at string) error {
	if ofWindows.MatchString(filepath.Base(at)) && filepath.Separator == '/' {
		return fmt.Errorf("%s is a path of Windows, and here it would be the name of a file. Write it with slashes, such as /mnt/c/plans/november.plan", said)
	}
	parent := filepath.Dir(at)
	switch info, err := os.Stat(parent); {
	case errors.Is(err, syscall.ENOTDIR), err == nil && !info.IsDir():
		return fmt.Errorf("%s: %s is a file, and no file can be in it. Name a file in a directory", said, firstFile(parent))
	case errors.Is(err, fs.ErrNotExist):
		return exit.WithHint(fmt.Errorf("%s: there is no directory %s. Make it, and try again", said, parent), "mkdir -p "+shell.File(parent))
	case err != nil:
		return nil // which the command says
	}
	if err := wholefile.Writable(parent); err != nil {
		if parent == "." {
			parent = "of the configuration"
		}
		return fmt.Errorf("%s: the directory %s takes no file from you: %s. Name a file in another directory, or ask its owner", said, parent, reason(err))
	}
	return nil
}

// firstFile is the part of a path that is a file where directories are wanted.
func firstFile(path string) string {
	for filepath.Dir(path) != path {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
		path = filepath.Dir(path)
	}
	return path
}

// reason is an error of the operating system without its operation and its path.
func reason(err error) string {
	if at, isPath := errors.AsType[*fs.PathError](err); isPath {
		return at.Err.Error()
	}
	return err.Error()
}

// notWritten says why a file was not made in a directory that is there, such as one below /proc. Any other error is as
// it was.
func notWritten(at string, err error) error {
	parent := filepath.Dir(at)
	if info, statErr := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && statErr == nil && info.IsDir() {
		return fmt.Errorf("the directory %s takes no files. Name a file in another directory", parent)
	}
	return err
}
