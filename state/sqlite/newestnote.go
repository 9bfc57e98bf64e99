package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"remit/state/storage"
)

// notePath is where the note of the state at path is, which is no link.
func notePath(path string) string {
	return filepath.Join(filepath.Dir(path), ".remit-newest-"+filepath.Base(path))
}

// NewestNote is the file beside the state at path that says which event of it was durable last.
func NewestNote(path string) string {
	if info, err := os.Lstat(path); err != nil || info.Mode().IsRegular() {
		return notePath(path)
	}
	if behind, err := realPath(path); err == nil {
		path = behind
	}
	return notePath(path)
}

// SeenNotes are the files in notes, directories of this user, that say the same of the state at path: one by the path behind
// all links, and one by path where that leads over a link, which may lead to an older copy tomorrow. There are none without directories.
func SeenNotes(notes []string, path string) []string {
	named, err := filepath.Abs(path)
	if err != nil {
		named = path
	}
	behind, err := realPath(named)
	if err != nil {
		behind = named
	}
	return seenNotes(notes, behind, named)
}

// seenNotes are the files in notes of a state by its paths. A store asks by those that it was opened with: a link may lead elsewhere by now.
func seenNotes(notes []string, paths ...string) []string {
	var all []string
	paths = slices.Compact(paths)
	for _, dir := range notes {
		for _, path := range paths {
			sum := sha256.Sum256([]byte(path))
			all = append(all, filepath.Join(dir, "newest-file-"+hex.EncodeToString(sum[:16])))
		}
	}
	return all
}

// IsWithin reports whether the state at path is in the directory dir, behind all links.
func IsWithin(path, dir string) bool {
	behind, err := realPath(path)
	if err != nil {
		return false
	}
	if whole, err := filepath.EvalSymlinks(dir); err == nil {
		dir = whole
	}
	from, err := filepath.Rel(dir, behind)
	return err == nil && filepath.IsLocal(from)
}

// NoteIn has the store note its newest event in directories of the user as well, and believe the notes there as it believes the one
// beside the state, which comes back with the state where its whole directory is restored. It is called before Lock and
// Snapshot.
func (s *Store) NoteIn(notes storage.Notebook) { s.notes = notes }

// Gone is what notes say of a state that was at a path.
type Gone struct {
	Events int64     // that it had at least
	Until  time.Time // when the last of them was noted
	Notes  []string  // the files that say so
}

// GoneFrom reads what the notes, those in the directories notes included, say of a state at path that is another one than that of
// the lineage. It reports false where they say nothing, and for a state that had its first event alone.
func GoneFrom(notes []string, path, lineage string) (Gone, bool) {
	var gone Gone
	for _, file := range append([]string{NewestNote(path)}, SeenNotes(notes, path)...) {
		n := storage.ReadNote(file)
		if n.Lineage == lineage || !n.HadMore() {
			continue
		}
		gone.Events, gone.Notes = max(gone.Events, n.Seq), append(gone.Notes, file)
		if info, err := os.Lstat(file); err == nil && info.ModTime().After(gone.Until) {
			gone.Until = info.ModTime()
		}
	}
	return gone, len(gone.Notes) > 0
}

// LineageNotes are the files in notes, directories of this user, that say with which event of a lineage a payment was begun last: a copy of
// the state, under any path, does not have it. A copy that pays nothing leaves them as they are.
func LineageNotes(notes []string, lineage string) []string {
	if uuid.Validate(lineage) != nil { // which names no file
		return nil
	}
	var all []string
	for _, dir := range notes {
		all = append(all, storage.LineageNote(dir, lineage))
	}
	return all
}

// noteNames are the notes of the state, but for those of a branch: of its path, beside it and in directories, and of its lineage.
func (s *Store) noteNames(lineage string) (ofPath, ofLineage []string) {
	return append([]string{notePath(s.path)}, seenNotes(s.notes.All(), s.path, s.named)...), LineageNotes(s.notes.All(), lineage)
}

// noted is a note, and its kind.
type noted struct {
	storage.Noted
	isOfPath, isBranch bool
}

// noted reads all notes.
func (s *Store) noted(lineage string) []noted {
	var all []noted
	read := func(paths []string, isOfPath bool) {
		for _, path := range paths {
			all = append(all, noted{storage.ReadNote(path), isOfPath, false}, noted{storage.ReadNote(path + storage.BranchSuffix), isOfPath, true})
		}
	}
	ofPath, ofLineage := s.noteNames(lineage)
	read(ofPath, true)
	read(ofLineage, false)
	return all
}

// removeBranches removes the notes of branches of a state that lacks nothing of them, as far as it can.
func (s *Store) removeBranches(lineage string) error {
	var all []error
	ofPath, ofLineage := s.noteNames(lineage)
	for _, path := range slices.Concat(ofPath, ofLineage) {
		if isEmpty(path+storage.BranchSuffix) || storage.ReadNote(path+storage.BranchSuffix).Lineage == lineage {
			all = append(all, os.Remove(path+storage.BranchSuffix))
		}
	}
	return errors.Join(all...)
}

// isEmpty reports whether a note is there that says nothing.
func isEmpty(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// noteFiles are the notes of a state by its path, open for writing. The zero value is that of a state that has none.
type noteFiles struct {
	beside   *storage.NoteFile
	seen     []*storage.NoteFile // in directories of the user
	isBranch bool
}

// openNotes opens the notes that isTaken takes, and makes those that a state has of its own. Those that fail are told to failed.
func (s *Store) openNotes(lineage, suffix string, failed *storage.Unnoted, isTaken func(path string) bool) (n noteFiles, err error) {
	n.isBranch = suffix != ""
	if path := notePath(s.path) + suffix; isTaken(path) {
		if n.beside, err = storage.OpenNote(path, lineage, failed); err != nil {
			return noteFiles{}, err
		}
	}
	open := func(dirs []string, isKept bool) {
		for _, path := range seenNotes(dirs, s.path, s.named) {
			if isTaken(path + suffix) {
				n.seen = append(n.seen, storage.OpenSeen(path+suffix, lineage, isKept, failed))
			}
		}
	}
	open(s.notes.Kept, true)
	open(s.notes.Read, false)
	return n, nil
}

func (n *noteFiles) close() error {
	all := []error{n.beside.Close()}
	for _, file := range n.seen {
		all = append(all, file.Close())
	}
	*n = noteFiles{}
	return errors.Join(all...)
}

// compare finds the newest event that one of the notes names and the state does not have. The word of the state itself
// counts before all notes.
func (h *head) compare(ctx context.Context, conn *sql.Conn, notes []noted) error {
	if h.Told {
		return nil
	}
	isForked, isOfPath := false, false
	for _, n := range notes {
		seq, err := lacks(ctx, conn, n.Noted, *h)
		if err != nil {
			return err
		}
		h.Lacks = max(h.Lacks, seq)
		isOfPath = isOfPath || n.isOfPath && seq > 0
		isForked = isForked || n.isBranch && n.Lineage == h.Lineage
	}
	h.Forked, h.Elsewhere = isForked && h.Lacks > 0, !isOfPath && h.Lacks > 0
	return nil
}

// lacks returns the number of the noted event, where the state does not have it. A note of another lineage is about a
// state that was here before.
func lacks(ctx context.Context, conn *sql.Conn, n storage.Noted, h head) (int64, error) {
	return n.Lacks(h.Tip, func(seq int64) (string, error) {
		var hash []byte
		err := conn.QueryRowContext(ctx, `SELECT hash FROM events WHERE seq = ?`, seq).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return hex.EncodeToString(hash), explain(err)
	})
}
