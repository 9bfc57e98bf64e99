package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"remit/internal/files/gitfiles"
	"remit/internal/view"
)

// tellCommitted says that the state is in the repository: each clone then has a copy of it, and knows nothing of what
// another one paid.
func tellCommitted(w *opened) error {
	files := w.state.Backend.Files()
	if w.dir.Sandbox || len(files) == 0 || !isInCommit(files[0]) {
		return nil
	}
	name := filepath.Base(files[0])
	_, err := fmt.Fprintf(w.streams.Err, "Notice: the repository has the state %s. Every clone has a copy, and two clones pay the same twice. Keep it on one machine, and out of the repository:\n\n    git rm --cached %[1]s && echo '*.db*' >> .gitignore\n",
		view.Visible(name))
	return err
}

// isInCommit reports whether the commit of the checkout that a file lies in has a file of its name. One that can't be read says
// nothing.
func isInCommit(file string) bool {
	checkout, err := gitfiles.Find(filepath.Dir(file))
	if err != nil {
		return false
	}
	defer checkout.Close()
	names, err := checkout.Names(".")
	return err == nil && slices.Contains(names, filepath.Base(file))
}

// isInRepository reports whether a directory lies in the working tree of a repository, which may have no commit yet.
func isInRepository(dir string) bool {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
	return false
}
