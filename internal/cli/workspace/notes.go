package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"

	"remit/internal/text/shell"
	"remit/state"
	"remit/state/sqlite"
)

// withoutNote is what a state without its notes can't do.
const (
	noteSummary = "A note of the state can't be used"
	withoutNote = "Without it, nothing tells that the state is older than the latest payments, where its whole directory is restored. "
)

// notesThere are the notes of the state that are there, as far as this user can tell.
func notesThere(there Backend, meta state.Meta) []string {
	return slices.DeleteFunc(there.Notes(meta), func(path string) bool {
		info, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 // one in which nothing was noted yet
	})
}

// unusable says, in sentences, the obstacle between a user and the notes of a state: without them nothing tells that the state is older than it was.
// It is nil where nothing does.
func unusable(there Backend, lineage, name string) (all [][2]string) {
	notes := there.Notes(state.Meta{Lineage: lineage})
	file, isFile := there.(SQLite)
	isReader := isFile && mayOnlyRead(file.path)
	if isFile { // the first is beside the state
		if _, err := os.ReadFile(notes[0]); errors.Is(err, fs.ErrPermission) && !isDenied(file.path) {
			denied, _ := sqlite.NoteDenied(notes[0])
			all = append(all, [2]string{noteSummary, fmt.Sprintf("The user %s may not read %s. It says which event of the state was its newest. Without it, nothing tells that the state is older than the latest payments. %s",
				shell.Word(name), shell.Word(notes[0]), besideState(denied, isReader, name))})
		}
		notes = notes[1:]
	}
	for _, path := range notes {
		denied, is := sqlite.NoteDenied(path)
		if !is || !isOwn(denied.Path, filepath.Dir(path)) { // as a unit of systemd is kept from all homes
			continue
		}
		if isReader && denied.Owner != os.Geteuid() { // a reader has nothing to note
			continue
		}
		all = append(all, [2]string{noteSummary, fmt.Sprintf("The user %s may not %s %s, which belongs to %s. There is a note, or should be, of which event of the state was its newest. "+withoutNote+"%s",
			name, denied.Right, denied.Path, ownerName(denied.Owner), giveBack(denied, name))})
		break
	}
	if isFile && file.isIn {
		all = append(all, [2]string{"The notes of the state are where the state is", "The only directory that the environment names for notes of this user contains the state itself, and comes back with it. " +
			"A note elsewhere says which event of the state was its newest. " + withoutNote + "With systemd, write a second directory into the unit: StateDirectory=remit/%i remit-seen/%i. Elsewhere, set XDG_STATE_HOME to another one"})
	}
	return all
}

// mayOnlyRead reports whether the system lets this user read a state and not write to it.
func mayOnlyRead(path string) bool {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_ = file.Close() // nothing was written
	}
	return errors.Is(err, fs.ErrPermission)
}

// besideState is the advice for a note beside a state. A user who only reads the state is given nothing: that would be taken
// from the user who pays.
func besideState(denied sqlite.Denied, isReader bool, name string) string {
	if isReader && denied.Owner != os.Geteuid() {
		return fmt.Sprintf("Leave it as it is: this user may only read the state, and each apply of %s reads the note", ownerName(denied.Owner))
	}
	return giveBack(denied, name)
}

// giveBack is the advice for a note that is denied.
func giveBack(denied sqlite.Denied, name string) string {
	switch {
	case denied.Owner == os.Geteuid():
		return "Allow it: chmod " + denied.Mode + " " + shell.Word(denied.Path)
	case denied.Owner >= 0:
		return "Have it given back: sudo chown -R " + shell.Word(name) + " " + shell.Word(denied.Path)
	}
	return "Have it allowed"
}

// isDenied reports whether the state itself can't be read, which an error says.
func isDenied(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return true
	}
	_ = file.Close() // it was only looked at
	return false
}

// isOwn reports whether a path is in the home of the user, or is or is in the directory of the notes: where it is another's, that was a slip.
func isOwn(path, notes string) bool {
	isIn := func(dir string) bool {
		from, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(from)
	}
	account, err := user.Current()
	return isIn(notes) || err == nil && account.HomeDir != path && isIn(account.HomeDir)
}

// ownerName is the name of a user of this machine.
func ownerName(id int) string {
	if id < 0 {
		return "somebody else"
	}
	if account, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return account.Username
	}
	return fmt.Sprintf("the user with the ID %d", id)
}
