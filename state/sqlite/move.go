package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"remit/internal/files/wholefile"
	"remit/state"
	"remit/state/storage"
)

// Receive makes a state at path out of the journal and the names of another one, from which it is being
// moved: it can't be used before [Arrive]. The file appears whole or not at all. It returns
// what Create does where something is there, and the error of what it reads as it is.
func Receive(ctx context.Context, path string, from state.Contents, by state.Holder) error {
	path, err := realPath(path)
	if err != nil {
		return err
	}
	lock, err := locking{path: path, holder: by}.acquire(ctx)
	if err != nil {
		return fmt.Errorf("make state %s: %w", path, err)
	}
	err = errors.Join(create(ctx, path, embeddedMigrations(), func(conn *sql.Conn) error {
		return receive(ctx, conn, from)
	}), lock.release())
	if err != nil {
		return fmt.Errorf("make state %s: %w", path, err)
	}
	return nil
}

// receive writes the journal; the next lock folds it.
func receive(ctx context.Context, conn *sql.Conn, from state.Contents) error {
	if err := insertMeta(ctx, conn, from.Meta, state.Arriving); err != nil {
		return err
	}
	newest := make(map[string]int64)
	for e, err := range from.Events {
		if err != nil {
			return err
		}
		l := storage.StoredEvent{Event: e, Previous: newest[e.RefID]}
		if err := insertEvent(ctx, conn, l); err != nil {
			return fmt.Errorf("write event %d: %w", e.Seq, err)
		}
		if e.RefID != "" {
			newest[e.RefID] = e.Seq
		}
		if e.Kind == state.KindBegun || e.Kind == state.KindEnded {
			if err := writeRun(ctx, conn, l); err != nil {
				return err
			}
		}
	}
	return receiveNames(ctx, conn, from.Names)
}

// departed is the name of a note beside a state that was moved away: a backup of before the move that
// is put in its place has no mark, and would pay again what the moved one has paid since.
func departed(path string) string {
	return filepath.Join(filepath.Dir(path), ".remit-moved-"+filepath.Base(path))
}

// departure is what the note says.
type departure struct {
	Lineage string `json:"lineage"`
	To      string `json:"to"`
	Seq     int64  `json:"seq,omitempty"` // of the newest event then; an earlier program wrote none
}

// seenDepartures are the files in the directories notes that say the same, one for each path of the state. They do not come back
// with a directory that is restored whole.
func seenDepartures(notes []string, paths ...string) []string {
	var all []string
	for _, path := range seenNotes(notes, paths...) {
		all = append(all, filepath.Join(filepath.Dir(path), strings.Replace(filepath.Base(path), "newest", "moved", 1)))
	}
	return all
}

// noteDeparture leaves the notes. That beside the state is enough where the user has no others.
func (s *Store) noteDeparture(d departure) error {
	write := func(w io.Writer) error { return json.NewEncoder(w).Encode(d) }
	for _, path := range seenDepartures(s.notes.Kept, s.path, s.named) {
		_ = wholefile.Replace(path, 0o600, write)
	}
	return wholefile.Replace(departed(s.path), 0o600, write)
}

// checkDeparted returns a *[state.MovedError] where a note says that this one was
// moved away. A note that can't be read says nothing: the mark of the state counts then. One of the user counts as long as
// the state has no later events, as it has where it came back.
func (s *Store) checkDeparted(h head) error {
	for i, path := range append([]string{departed(s.path)}, seenDepartures(s.notes.All(), s.path, s.named)...) {
		content, err := readBounded(path)
		var d departure
		if err == nil && json.Unmarshal(content, &d) == nil && d.Lineage == h.Lineage && (i == 0 || h.Serial <= d.Seq) {
			return &state.MovedError{To: d.To, Mark: path}
		}
	}
	return nil
}

// forgetDeparture removes the notes: a state that comes back to where it was moved away from is no backup of then.
func (s *Store) forgetDeparture() error {
	var all error
	for _, path := range append([]string{departed(s.path)}, seenDepartures(s.notes.All(), s.path, s.named)...) {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// Arrive has a state that [Receive] made be in use. It leaves one that is in use as it is, and
// returns *[state.MovedError] for one that was moved away. The notes are those of [Store.NoteIn].
func Arrive(ctx context.Context, path string, by state.Holder, notes storage.Notebook, opts Options) error {
	s, err := Open(ctx, path, opts)
	if err != nil {
		return err
	}
	s.NoteIn(notes)
	back := s.forgetDeparture()
	_, err = s.write.ExecContext(ctx, `UPDATE meta SET moved = '' WHERE moved = ?`, state.Arriving)
	err = errors.Join(back, err)
	var journal state.Journal
	if err == nil {
		journal, err = s.Lock(ctx, by, 0) // which folds
	}
	if err == nil {
		err = journal.Unlock()
	}
	return errors.Join(err, s.Close())
}

var _ state.Mover = (*journal)(nil)

// Move implements [state.Mover].
func (j *journal) Move(ctx context.Context, to string) error {
	err := j.Close()
	if errors.Is(err, state.ErrUnlocked) {
		return err
	}
	if err == nil {
		err = j.foldAll()
	}
	if err == nil {
		err = j.store.noteDeparture(departure{j.head.Lineage, to, j.head.Serial})
	}
	if err == nil {
		err = immediately(ctx, j.conn, func() error {
			if err := j.checkFence(ctx); err != nil {
				return err
			}
			_, err := j.conn.ExecContext(ctx, `UPDATE meta SET moved = ?`, to)
			return err
		})
	}
	if err = errors.Join(err, j.close(), j.lock.release()); err != nil {
		return fmt.Errorf("mark state %s as moved: %w", j.store.path, err)
	}
	return nil
}
