package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
	"remit/state/storage"
)

// copyState copies the file of a state and, where it has one, its write-ahead log.
func copyState(t *testing.T, from, to string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		content, err := os.ReadFile(from + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestABackupBesideAnotherLogIsRefused restores a backup, as anyone would, over the file of a
// state whose last holder was killed and left its write-ahead log. SQLite would lay that log
// over the backup: a mixture of both, in which transfers that were made are missing.
func TestABackupBesideAnotherLogIsRefused(t *testing.T) {
	s, path := create(t)
	fill := func(name string, count int) {
		t.Helper()
		j := lock(t, s)
		for i := range count {
			refID := fmt.Sprintf("%s-%03d", name, i)
			add(t, j, statetest.Intent(refID, name, "10.00"))
			add(t, j, statetest.Outcome(refID, name, state.SourceAnswer, state.Recorded))
		}
		unlock(t, j)
	}
	dir := t.TempDir()
	backup, killed := filepath.Join(dir, "backup.db"), filepath.Join(dir, "killed.db")
	fill("before", 40)
	closed(t, s)
	copyState(t, path, backup, "")
	s = reopen(t, path)
	fill("between", 60)
	closed(t, s)
	s = reopen(t, path)
	j := lock(t, s)
	for i := range 20 {
		add(t, j, statetest.Intent(fmt.Sprintf("after-%03d", i), "after", "10.00"))
	}
	copyState(t, path, killed, "", "-wal")
	copyState(t, path, backup, "-wal")
	unlock(t, j)

	t.Run("as it was left", func(t *testing.T) {
		again := reopen(t, killed)
		if got := len(rows(t, again)); got != 120 {
			t.Errorf("%d ref_ids, want 120", got)
		}
		if _, err := again.Verify(t.Context(), ""); err != nil {
			t.Error(err)
		}
	})
	t.Run("restored", func(t *testing.T) {
		if restored, err := sqlite.OpenReadOnly(t.Context(), backup); !errors.Is(err, state.ErrDamaged) {
			if err == nil {
				t.Errorf("it shows %d of 120 ref_ids", len(rows(t, restored)))
			}
			t.Errorf("reading: got %v, want %v", err, state.ErrDamaged)
		}
		if _, err := sqlite.Open(t.Context(), backup, sqlite.Options{}); !errors.Is(err, state.ErrDamaged) {
			t.Errorf("writing: got %v, want %v", err, state.ErrDamaged)
		}
	})
}

// TestALinkThatIsLedElsewhereNamesNoOtherNote leads the link of a state to another state while an older copy of the first one is made
// complete: the notes are those of the state that was opened, by its own path and by that of the link.
func TestALinkThatIsLedElsewhereNamesNoOtherNote(t *testing.T) {
	first, path := create(t)
	closed(t, first)
	other, elsewhere := create(t)
	closed(t, other)
	link, notes, older := filepath.Join(t.TempDir(), "linked.db"), t.TempDir(), filepath.Join(t.TempDir(), "older.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no links can be made here:", err)
	}
	open := func() (*sqlite.Store, state.Journal) {
		t.Helper()
		s := reopen(t, link)
		s.NoteIn(storage.Notebook{Kept: []string{notes}})
		return s, lock(t, s)
	}
	copyState(t, path, older, "")
	s, j := open()
	add(t, j, statetest.Intent("r-1", "run", "10.00"))
	unlock(t, j)
	closed(t, s)
	copyState(t, older, path, "")

	s, j = open()
	if err := errors.Join(os.Remove(link), os.Symlink(elsewhere, link)); err != nil {
		t.Fatal(err)
	}
	if err := j.(state.Completer).Complete(); err != nil {
		t.Fatal(err)
	}
	_ = j.Unlock() // it says that the link leads elsewhere
	closed(t, s)
	if made, err := filepath.Glob(filepath.Join(notes, "newest-file-*")); err != nil || len(made) != 2 {
		t.Errorf("there are the notes %v, %v", made, err)
	}
}
