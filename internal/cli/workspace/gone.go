package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	"remit/internal/cli/exit"
	"remit/internal/text/english"
	"remit/internal/text/shell"
	"remit/state"
	"remit/state/sqlite"
)

// GoneError says what to do where notes say that a state was here, and neither it nor the lock file is left.
func (s *State) GoneError(gone sqlite.Gone) error {
	had := "a state with " + english.Plural(int(gone.Events), "event")
	if gone.Events == 1 {
		had = "one that was made in place of another"
	}
	return exit.WithHint(fmt.Errorf("there is neither a state (%s) nor %s, and %s was here until %s; nothing was sent. "+
		"Restore both, the state from a backup. Where that state was a trial, and nothing counts that was sent from it, remove %s, from which that is known, and init again. "+
		"Only where no backup exists, make a new one on purpose: every transfer is then looked up before it is sent, "+
		"where the service can look up, and else nothing is sent before you import the service's export of transfer records with --complete",
		s.Name, s.dir.LockName(), had, gone.Until.UTC().Format(time.RFC3339), english.List(gone.Notes)),
		s.dir.Command("init --new-state"))
}

// CutOff says what to do about a state that init --new-state made, where that was cut off.
func (s *State) CutOff() error {
	return exit.WithHint(fmt.Errorf("the state %s was made by init --new-state, which was cut off before it bound this directory to it; "+
		"nothing was sent. The same command finishes that", s.Name), s.dir.Command("init --new-state"))
}

// notesThere are the notes of the state that are there, as far as this user can tell.
func (s *State) notesThere(meta state.Meta) []string {
	return slices.DeleteFunc(s.Backend.Notes(meta), func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// warnOfNotes says once which notes of the state this user can't use: without them nothing tells that the state is older than it was.
func warnOfNotes(s *State) {
	if s.toldNotes || s.dir.Sandbox {
		return
	}
	s.toldNotes = true
	const without = "Without it, nothing tells that the state is older than what was paid, where its whole directory is restored. "
	notes := s.Backend.Notes(state.Meta{Lineage: s.Binding.Lineage})
	if _, isFile := s.Backend.(SQLite); isFile { // the first is beside the state
		if _, err := os.ReadFile(notes[0]); errors.Is(err, fs.ErrPermission) && !isDenied(s.Backend.String()) {
			warn(s.streams, "A note of the state can't be used", "The user %s may not read %s. It says which event of the state was its newest. Without it, nothing tells that the state is older than what was paid. "+
				"Have it given back: sudo chown %[1]s %[2]s", shell.Word(s.host.Holder("").User), shell.Word(notes[0]))
		}
		notes = notes[1:]
	}
	for _, path := range notes {
		denied, is := sqlite.NoteDenied(path)
		if !is || !isOwn(denied.Path, filepath.Dir(path)) { // as a unit of systemd is kept from all homes
			continue
		}
		advice := "Have it allowed"
		switch {
		case denied.Owner == os.Geteuid():
			advice = "Allow it: chmod " + denied.Mode + " " + shell.Word(denied.Path)
		case denied.Owner >= 0:
			advice = "Have it given back: sudo chown -R " + shell.Word(s.host.Holder("").User) + " " + shell.Word(denied.Path)
		}
		warn(s.streams, "A note of the state can't be used", "The user %s may not %s %s, which belongs to %s. There is a note, or should be, of which event of the state was its newest. "+without+"%s",
			s.host.Holder("").User, denied.Right, denied.Path, ownerName(denied.Owner), advice)
		break
	}
	if there, isFile := s.Backend.(SQLite); isFile && there.isIn {
		warn(s.streams, "The notes of the state are where the state is", "The only directory that the environment names for what this user has seen has the state in it, and comes back with it. "+
			"A note elsewhere says which event of the state was its newest. "+without+"With systemd, write a second directory into the unit: StateDirectory=remit/%%i remit-seen/%%i. Elsewhere, set XDG_STATE_HOME to another one")
	}
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
