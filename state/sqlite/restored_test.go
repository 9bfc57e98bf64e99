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
