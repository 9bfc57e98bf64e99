//go:build unix

package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"remit/internal/files/filelock"
)

// TestAnUnlockedFileIsFreeWhileAChildHasItOpen has a second descriptor of the opening, as a child has between fork and exec.
func TestAnUnlockedFileIsFreeWhileAChildHasItOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	file, err := filelock.Open(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if had, err := filelock.TryExclusive(file); !had || err != nil {
		t.Fatalf("the lock of a new file: %v, %v", had, err)
	}
	child, err := unix.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(child) }() // it was only open
	other, err := filelock.Open(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }() // it was only locked
	if had, err := filelock.TryShared(other); had || err != nil {
		t.Fatalf("a locked file: %v, %v", had, err)
	}
	if err := filelock.Unlock(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if had, err := filelock.TryExclusive(other); !had || err != nil {
		t.Errorf("an unlocked file: %v, %v", had, err)
	}
}
