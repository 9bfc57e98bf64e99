package sqlite_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"remit/internal/files/filelock"
	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

// TestEachPathLeadsToOneLock locks a state by one path and tries it by others.
func TestEachPathLeadsToOneLock(t *testing.T) {
	s, path := create(t)
	elsewhere := t.TempDir()
	link, dir := filepath.Join(elsewhere, "state.db"), filepath.Join(elsewhere, "dir")
	for target, name := range map[string]string{path: link, filepath.Dir(path): dir} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for name, other := range map[string]string{
		"a symbolic link to the file":      link,
		"a symbolic link to its directory": filepath.Join(dir, "remit.db"),
		"the same path":                    path,
	} {
		t.Run(name, func(t *testing.T) {
			there := reopen(t, other)
			j := lock(t, s)
			add(t, j, statetest.Intent(name, "run", "10.00"))
			refused(t, there, statetest.Holder("apply"))
			if len(rows(t, there)) != len(rows(t, s)) {
				t.Error("it does not show what was written last")
			}
			unlock(t, j)
			j = lock(t, there)
			refused(t, s, statetest.Holder("apply"))
			unlock(t, j)
		})
	}
}

// refused tries to lock, and looks who is said to hold the lock.
func refused(t *testing.T, s *sqlite.Store, want state.Holder) {
	t.Helper()
	var locked *state.LockedError
	if _, err := s.Lock(t.Context(), statetest.Holder("other"), 0); !errors.As(err, &locked) {
		t.Fatalf("two hold the lock: %v", err)
	}
	if diff := cmp.Diff(want, locked.Holder); diff != "" {
		t.Errorf("the holder that is named: %s", diff)
	}
	if got, held := holder(t, s); !held || got != want {
		t.Errorf("a snapshot names %v, %v", got, held)
	}
}

// TestNobodyDeletesALock removes, and replaces, the file beside the state. The holder has the lock
// still, and is known by the run that it began.
func TestNobodyDeletesALock(t *testing.T) {
	t.Parallel()
	s, path := create(t)
	other := reopen(t, path)
	j := lock(t, s)
	want := statetest.Holder("apply")
	add(t, j, state.Begun{RunID: "run", By: want})
	want.RunID = "run"
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	refused(t, other, want)
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, other, want)
	if err := j.Check(t.Context()); err != nil {
		t.Errorf("the holder lost its lock: %v", err)
	}
	add(t, j, statetest.Intent("a", "run", "10.00"))
	unlock(t, j)
	unlock(t, lock(t, other))
}

// TestAHolderIsNamedAfterOneThatDied has the file beside the state say who was killed, at more length than the next holder does.
func TestAHolderIsNamedAfterOneThatDied(t *testing.T) {
	s, path := create(t)
	died := statetest.Holder("apply --auto-approve --must-be-declared --parallelism=64")
	content, err := json.Marshal(died)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".lock", append(content, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	j := lock(t, s)
	refused(t, reopen(t, path), statetest.Holder("apply"))
	unlock(t, j)
}

// TestAnOlderCopyOverItsFileTakesNoLockAway writes a backup over the file of a live holder, whose
// number is higher than the next one's.
func TestAnOlderCopyOverItsFileTakesNoLockAway(t *testing.T) {
	t.Parallel()
	s, path := create(t)
	closed(t, s)
	backup, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s = reopen(t, path)
	for range 3 {
		unlock(t, lock(t, s))
	}
	closed(t, s)
	cmd, _ := start(t, path)
	defer func() { _ = errors.Join(cmd.Process.Kill(), cmd.Wait()) }() // it was killed
	suite.Freeze(t, cmd.Process)
	for _, side := range []string{"-wal", "-shm", ".lock"} {
		if err := os.Remove(path + side); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, path)
	refused(t, s, state.Holder{}) // the copy knows of no run
	if err := s.ForceUnlock(t.Context(), statetest.Holder("force-unlock"), state.Clocks{}, "it hangs"); err != nil {
		t.Fatal(err)
	}
	unlock(t, lock(t, s))
}

// TestAStateHasOneName refuses a file with another hard link, however it is opened, and lets
// nobody lock it where the link came later.
func TestAStateHasOneName(t *testing.T) {
	s, path := create(t)
	second := filepath.Join(t.TempDir(), "second.db")
	if err := os.Link(path, second); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, second} {
		if _, err := sqlite.Open(t.Context(), name, options); !errors.Is(err, state.ErrLinked) {
			t.Errorf("writing: got %v", err)
		}
		if _, err := sqlite.OpenReadOnly(t.Context(), name); !errors.Is(err, state.ErrLinked) {
			t.Errorf("reading: got %v", err)
		}
	}
	if _, err := s.Lock(t.Context(), statetest.Holder("apply"), 0); !errors.Is(err, state.ErrLinked) {
		t.Errorf("locking: got %v", err)
	}
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	unlock(t, lock(t, s))
}

// TestALinkThatIsTurnedAwayIsNoticed turns the link by which a state was opened to another file.
func TestALinkThatIsTurnedAwayIsNoticed(t *testing.T) {
	_, path := create(t)
	_, other := create(t)
	link := filepath.Join(t.TempDir(), "remit.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, link)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	if err := errors.Join(os.Remove(link), os.Symlink(other, link)); err != nil {
		t.Fatal(err)
	}
	if err := j.Check(t.Context()); !errors.Is(err, state.ErrReplaced) {
		t.Errorf("check got %v", err)
	}
	_ = j.Unlock() // it says the same
}

// TestSQLiteKeepsItsLocks looks for SQLite's lock on the file while a store is open, after all that
// a process does with others: who is not seen to use the file has its log deleted by the next one
// that leaves.
func TestSQLiteKeepsItsLocks(t *testing.T) {
	s, path := create(t)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	killed := filepath.Join(t.TempDir(), "remit.db")
	copyState(t, path, killed, "", "-wal")
	unlock(t, j)

	probe, err := os.OpenFile(killed, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close() // after all stores are closed
	again := reopen(t, killed)
	kept := func(after string) {
		t.Helper()
		const sharedFirst, sharedSize = 1<<30 + 2, 510 // of SQLite's file format
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: sharedFirst, Len: sharedSize}
		if err := unix.FcntlFlock(probe.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
			t.Fatal(err)
		}
		if lock.Type == unix.F_UNLCK {
			t.Errorf("after %s SQLite has no lock on the file", after)
		}
	}
	kept("it was opened with the log of one that was killed")
	j = lock(t, again)
	kept("a lock")
	beside, err := sqlite.OpenReadOnly(t.Context(), killed)
	if err != nil {
		t.Fatal(err)
	}
	rows(t, beside)
	closed(t, beside)
	kept("another store of this process was closed")
	holder(t, again)
	add(t, j, statetest.Intent("b", "run", "10.00"))
	unlock(t, j)
	kept("an unlock")
}

// TestALockThatNobodySignedIsWaitedFor: the lock was let go of, and a process that is being started has the file for a moment
// longer than its parent.
func TestALockThatNobodySignedIsWaitedFor(t *testing.T) {
	s, path := create(t)
	file, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if had, err := filelock.TryExclusive(file); err != nil || !had {
		t.Fatal(had, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = file.Close() })
	j, err := s.Lock(t.Context(), state.Holder{Command: "remit apply"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	unlock(t, j)
}
