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

// noted reads all notes.
func (s *Store) noted() []storage.Noted {
	all := []storage.Noted{storage.ReadNote(notePath(s.path))}
	for _, path := range seenNotes(s.notes.All(), s.path, s.named) {
		all = append(all, storage.ReadNote(path))
	}
	return all
}

// lacksAny is lacks for the newest event that one of the notes names, and for what the state itself says that it lacks.
func lacksAny(ctx context.Context, conn *sql.Conn, notes []storage.Noted, h head) (missing int64, err error) {
	if h.Told {
		return h.Lacks, nil
	}
	for _, n := range notes {
		seq, err := lacks(ctx, conn, n, h)
		if err != nil {
			return 0, err
		}
		missing = max(missing, seq)
	}
	return missing, nil
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
