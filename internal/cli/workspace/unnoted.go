package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"remit/internal/syserror"
	"remit/internal/text/english"
	"remit/internal/text/shell"
	"remit/state"
	"remit/state/sqlite"
	"remit/state/storage"
)

// errEmpty is the obstacle of a note that was made, and not written.
var errEmpty = errors.New("it is empty, as a full disk leaves it")

// stale are the notes that a look shows to be behind a state, and that no command can write now. One that can be written is brought up to
// date by the next command that writes to the state.
func stale(there Backend, meta state.Meta) []state.Unnoted {
	var all []state.Unnoted
	var ofPayments []string // which may be behind: other events are not noted there
	notes := slices.DeleteFunc(there.Notes(meta), func(path string) bool { return strings.HasSuffix(path, storage.BranchSuffix) })
	seen := notes
	if file, isFile := there.(SQLite); isFile {
		ofPayments, seen = sqlite.LineageNotes(file.notes.All(), meta.Lineage), notes[1:] // the first is beside the state
	}
	isNoted := slices.ContainsFunc(seen, func(path string) bool {
		note := storage.ReadNote(path)
		return note.Lineage == meta.Lineage && note.Seq == meta.Serial
	})
	for _, path := range notes {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if info.Size() == 0 {
			all = append(all, state.Unnoted{Path: path, Err: errEmpty})
			continue
		}
		note := storage.ReadNote(path)
		if isNoted || note.Lineage != meta.Lineage || note.Seq >= meta.Serial || slices.Contains(ofPayments, path) {
			continue
		}
		if err := tryWrite(path); syserror.IsReadOnly(err) {
			all = append(all, state.Unnoted{Path: path, Err: err})
		}
	}
	return all
}

// tryWrite opens a file that is there for writing, and closes it again.
func tryWrite(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// behind says, in sentences, which notes are behind a state, but for those that are among told already, and adds them to it.
func behind(all []state.Unnoted, told *[]string) (texts []string) {
	paths := map[string][]string{}
	var reasons []error
	for _, note := range all {
		if slices.Contains(*told, note.Path) || note.IsMissing && syserror.IsReadOnly(note.Err) && !hasHome(note.Path) {
			continue
		}
		*told = append(*told, note.Path)
		reason := note.Err
		if inside, is := errors.AsType[*fs.PathError](reason); is {
			reason = inside.Err // the path is named
		}
		if paths[reason.Error()] == nil {
			reasons = append(reasons, reason)
		}
		paths[reason.Error()] = append(paths[reason.Error()], shell.Word(note.Path))
	}
	for _, reason := range reasons {
		names := paths[reason.Error()]
		verb := "does"
		if len(names) > 1 {
			verb = "do"
		}
		texts = append(texts, english.List(names)+" "+verb+" not name the newest event of the state: "+reason.Error()+". "+withoutNote+writeAnew(reason))
	}
	return texts
}

// writeAnew is the advice for a note that could not be written.
func writeAnew(reason error) string {
	switch {
	case syserror.IsReadOnly(reason):
		return "Have it written to, or name a directory elsewhere: set XDG_STATE_HOME, or in a unit of systemd StateDirectory=remit/%i remit-seen/%i. Each apply writes the note"
	case errors.Is(reason, errEmpty), syserror.IsNoRoom(reason):
		return "Make room there. Each apply writes the note anew"
	}
	return "Mend that. Each apply writes the note anew"
}

// hasHome reports whether the home is there in which a note would be, unless the note would be in no home. A container, or a unit of
// systemd with a user of its own, has none, or the root of all files.
func hasHome(path string) bool {
	dir := filepath.Dir(path)
	home, isHome := strings.CutSuffix(dir, filepath.Join(string(filepath.Separator)+".local", "state", "remit"))
	if !isHome {
		return true
	}
	info, err := os.Stat(home)
	return err == nil && info.IsDir() // "" is the root, which is nobody's home
}
