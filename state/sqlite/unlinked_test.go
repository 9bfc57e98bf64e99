package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"remit/internal/files/filelock"
	"remit/state/sqlite"
	"remit/state/statetest"
)

// TestALockFileThatOthersDoNotSeeIsNoLock has somebody remove or replace the file beside the state between the moment at which it
// is locked and the one at which its holder signs it: the next one locks another file, so this lock keeps nobody out.
func TestALockFileThatOthersDoNotSeeIsNoLock(t *testing.T) {
	remove := func(path string) error { return filelock.Remove(path + ".lock") }
	for name, test := range map[string]struct {
		meanwhile func(path string) error
		isLock    bool
	}{
		"nobody touches it": {func(string) error { return nil }, true},
		"it is removed":     {remove, false},
		"it is replaced": {func(path string) error {
			return errors.Join(remove(path), os.WriteFile(path+".lock", nil, 0o600))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "remit.db")
			isLock, release, err := sqlite.LockBeside(path, statetest.Holder("apply"), func() error { return test.meanwhile(path) })
			if err != nil || isLock != test.isLock {
				t.Fatalf("it is a lock: %t, %v", isLock, err)
			}
			if isLock {
				if err := release(); err != nil {
					t.Fatal(err)
				}
			}
			again, release, err := sqlite.LockBeside(path, statetest.Holder("apply"), func() error { return nil })
			if err != nil || !again {
				t.Fatalf("the next one has the lock: %t, %v", again, err)
			}
			if err := release(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
