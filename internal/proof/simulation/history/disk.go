//go:build unix

package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"remit/state"
	"remit/state/sqlite"
)

// Store is a state that is open.
type Store interface {
	state.Store
	Verify(ctx context.Context, head string) (state.Meta, error)
}

// Disk is what the states of histories are kept in.
type Disk interface {
	// Create makes a state at a path, whose directory is there.
	Create(path string, created state.Created, now func() time.Time) error
	Open(path string, now func() time.Time) (Store, error)

	// Copy returns the bytes of a state, by names that Restore knows: the bytes that outlive a
	// process. It is called while the writing process waits.
	Copy(path string) (map[string][]byte, error)
	Restore(path string, parts map[string][]byte) error

	// Remove removes every state below a directory.
	Remove(dir string) error
}

// Files keeps states in SQLite files.
type Files struct{}

// Create implements [Disk].
func (Files) Create(path string, created state.Created, now func() time.Time) error {
	store, err := sqlite.Create(context.Background(), path, created, sqlite.Options{Now: now})
	if err != nil {
		return err
	}
	return store.Close()
}

// Open implements [Disk].
func (Files) Open(path string, now func() time.Time) (Store, error) {
	store, err := sqlite.Open(context.Background(), path, sqlite.Options{Now: now, Sleep: noWait})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// noWait is a wait in which nobody does anything: the processes of a history take turns.
func noWait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// Copy implements [Disk].
func (Files) Copy(path string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err == nil {
			files[suffix] = text
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return files, nil
}

// Restore implements [Disk].
func (Files) Restore(path string, files map[string][]byte) error {
	for suffix, text := range files {
		if err := os.WriteFile(path+suffix, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Remove implements [Disk].
func (Files) Remove(dir string) error { return os.RemoveAll(filepath.Clean(dir)) }
