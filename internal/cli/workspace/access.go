package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/syserror"
	"remit/internal/text/shell"
	"remit/state"
	"remit/state/sqlite"
)

// stateFile is the file of a state, for messages about access to it.
type stateFile struct {
	name     string // of the state, as people see it
	path     string // "" where the state is in no file
	argument string // that names the file
	user     string // who runs remit
}

func fileOf(s *State) stateFile {
	there, _ := s.Backend.(SQLite)
	return stateFile{s.Name, there.path, s.Backend.Advice().argument, s.host.Holder("").User}
}

// kept says why the system keeps remit from the file, and the one thing that helps; nil for
// another error, and for a state that is in no file.
func (s stateFile) kept(err error) error {
	if s.path == "" {
		return nil
	}
	dir := filepath.Dir(s.path)
	full, isFull := errors.AsType[*state.FullError](err)
	switch {
	case syserror.IsThroughFile(err):
		return fmt.Errorf("the path to the state %s leads through a file as if that were a directory; nothing was sent. Correct %s",
			s.name, s.argument)
	case isFull:
		return exit.WithHint(fmt.Errorf("%w, and type the same again. Nothing was sent. To see how full it is", full), s.hintAbout(showRoom, dir))
	case errors.Is(err, state.ErrNoRoom), syserror.IsNoRoom(err):
		return exit.WithHint(fmt.Errorf("there is no room left where the state %s is, which needs some to be read as well; nothing was sent. "+
			"Make room, by anything but the state's own files, or make the volume larger, and type the same again. How full it is, is shown by:\n%w", s.name, err), s.hintAbout(showRoom, dir))
	case errors.Is(err, state.ErrNoAccess), errors.Is(err, fs.ErrPermission), syserror.IsReadOnly(err):
		return s.denied(err)
	}
	return nil
}

// denied says what the user may not do, and who may.
func (s stateFile) denied(err error) error {
	dir := filepath.Dir(s.path)
	denied, known := sqlite.DeniedAt(s.path)
	switch {
	case !known:
		return exit.WithHint(fmt.Errorf("the system denies access to the state %s (%w); nothing was sent. Have it allowed, and type the same again. "+
			"Who may do what there, is shown by", s.name, err), s.hintAbout(showAccess, existing(dir)))
	case denied.ReadOnly:
		return exit.WithHint(fmt.Errorf("the state %s is on a file system that is mounted read-only, and this command has to write there; nothing was sent. "+
			"Mount it so that it can be written to, and type the same again. How it is mounted, is shown by", s.name), s.hintAbout(showMount, dir))
	}
	text := fmt.Sprintf("the state %s cannot be used: the user %s may not %s, which belongs to %s; nothing was sent. ", s.name, s.user, denied, ownerName(denied.Owner))
	switch {
	case denied.Owner < 0:
		return exit.WithHint(fmt.Errorf("%sHave it allowed, and type the same again. Who may do what there, is shown by", text), s.hintAbout(showOne, filepath.Dir(denied.Path)))
	case denied.Owner == os.Geteuid():
		return exit.WithHint(fmt.Errorf("%sAllow it, and type the same again", text), s.hintAbout("chmod "+denied.Mode, denied.Path))
	case denied.IsAbove:
		return exit.WithHint(fmt.Errorf("%sHave everybody let through it, and type the same again", text), s.hintAbout("sudo chmod a+x", denied.Path))
	case denied.Owner == 0: // somebody once ran remit as root, or made the directory for it
		return exit.WithHint(fmt.Errorf("%sHave root give the directory and the files to the user who runs remit, then type the same again", text),
			s.hintAbout("sudo chown "+shell.Word(s.user), append([]string{dir, s.path + "*"}, s.noteThere()...)...))
	}
	return fmt.Errorf("%sRun remit as %s", text, ownerName(denied.Owner))
}

// noteThere is the note beside the file, which no pattern of the file's name finds.
func (s stateFile) noteThere() []string {
	note := sqlite.NewestNote(s.path)
	if _, err := os.Lstat(note); err != nil {
		return nil
	}
	return []string{note}
}

// existing is the directory itself, or the lowest one above it that exists.
func existing(dir string) string {
	for above := filepath.Dir(dir); ; dir, above = above, filepath.Dir(above) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || above == dir {
			return dir
		}
	}
}

// hintAbout is a command on paths, of which one may end in an open *; "" where the place of the state is
// sensitive.
func (s stateFile) hintAbout(command string, paths ...string) string {
	if s.name == terminal.Hidden {
		return ""
	}
	for _, path := range paths {
		name, isOpen := strings.CutSuffix(path, "*")
		command += " " + shell.Word(name)
		if isOpen {
			command += "*"
		}
	}
	return command
}

// missing says what to do where something else has the path of the file.
func (s stateFile) missing(path string) error {
	const made = "is an empty directory, where the file of the state should be, as where a container was to have a file mounted that was not there; " +
		"nothing was sent. Remove it, and type the same again"
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a file, and a state is one; nothing was sent, and it was left as it is. Correct %s", s.name, s.argument)
	}
	if entries, err := os.ReadDir(path); err == nil && len(entries) == 0 {
		return exit.WithHint(fmt.Errorf("%s "+made, s.name), s.hintAbout("rmdir", path))
	}
	return fmt.Errorf("%s is a directory, and a state is a file; nothing was sent, and it was left as it is. Correct %s: it names the file",
		s.name, s.argument)
}
