package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

// asNobody runs do as a user to whom permissions apply, even where root runs the tests.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	root, err := unix.SetfsuidRetUid(65534)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setfsuid(root); err != nil {
			t.Fatal(err)
		}
	}()
	do()
}

// sealed lets anybody look into a directory and nobody write to it, until the test ends.
func sealed(t *testing.T, dir string) {
	t.Helper()
	for dir, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o555} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Error(err)
		}
	})
}

func TestOpenReadOnlyInADirectoryWithoutWritePermission(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	unlock(t, j)
	closed(t, s)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	sealed(t, filepath.Dir(path))
	asNobody(t, func() {
		if err := os.WriteFile(path+"-shm", nil, 0o600); err == nil {
			t.Fatal("the directory can be written to")
		}
		reader, err := sqlite.OpenReadOnly(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if got := rows(t, reader); len(got) != 1 {
			t.Errorf("%d rows", len(got))
		}
		closed(t, reader)
	})
	if diff := len(listing(t, path)); diff != 1 {
		t.Errorf("%d files", diff)
	}
}

// TestALockFileThatNobodyMayReadIsHeld: the one who has it may be of a version that locks nothing else, with a request in flight.
func TestALockFileThatNobodyMayReadIsHeld(t *testing.T) {
	s, path := create(t)
	unlock(t, lock(t, s))
	closed(t, s)
	for name, mode := range map[string]os.FileMode{path: 0o444, path + ".lock": 0} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	sealed(t, filepath.Dir(path))
	asNobody(t, func() {
		reader, err := sqlite.OpenReadOnly(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if got, held := holder(t, reader); !held || got != (state.Holder{}) {
			t.Errorf("held: %t, by %v, want by somebody unknown", held, got)
		}
		closed(t, reader)
	})
}

// TestOpenReadOnlyLeavesNoLogOut: to read the file alone, as one that nobody changes, would
// lose the events of a writer that crashed.
func TestOpenReadOnlyLeavesNoLogOut(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	crashed := filepath.Join(t.TempDir(), "remit.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(crashed+suffix, content, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	unlock(t, j)
	sealed(t, filepath.Dir(crashed))
	asNobody(t, func() {
		reader, err := sqlite.OpenReadOnly(t.Context(), crashed)
		if err == nil {
			closed(t, reader)
			t.Fatal("read without the log")
		}
		if !strings.Contains(err.Error(), "remit.db-wal holds its newest events") {
			t.Errorf("got %v", err)
		}
	})
	if err := os.Chmod(filepath.Dir(crashed), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(crashed, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := sqlite.OpenReadOnly(t.Context(), crashed)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(t, reader); len(got) != 1 {
		t.Errorf("%d rows where the directory can be written to", len(got))
	}
	closed(t, reader)
}
