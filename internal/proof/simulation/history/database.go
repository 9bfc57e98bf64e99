//go:build unix

package history

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
)

// Database keeps states in schemas of a PostgreSQL server, one for each path.
type Database struct {
	server *pgtest.Server

	mu      sync.Mutex
	schemas map[string]string // by path
}

// NewDatabase returns one on a server.
func NewDatabase(server *pgtest.Server) *Database {
	return &Database{server: server, schemas: make(map[string]string)}
}

func (d *Database) options(path string, now func() time.Time) postgres.Options {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.schemas[path] == "" {
		d.schemas[path] = d.server.Schema()
	}
	return postgres.Options{URL: d.server.URL(), Schema: d.schemas[path], Now: now}
}

// Create implements [Disk].
func (d *Database) Create(path string, created state.Created, now func() time.Time) error {
	store, err := postgres.Create(context.Background(), created, d.options(path, now))
	if err != nil {
		return err
	}
	return store.Close()
}

// Open implements [Disk].
func (d *Database) Open(path string, now func() time.Time) (Store, error) {
	store, err := postgres.Open(context.Background(), d.options(path, now))
	if err != nil {
		return nil, err
	}
	return store, nil
}

// Copy implements [Disk].
func (d *Database) Copy(path string) (map[string][]byte, error) {
	return d.server.Dump(context.Background(), d.options(path, epoch).Schema)
}

// Restore implements [Disk]. As after a restore of the server's own files, the state is at home where it is: its tables
// keep the names that a dump would not keep, and no machine has a note.
func (d *Database) Restore(path string, parts map[string][]byte) error {
	if err := d.Create(path, created("to be replaced", false), epoch); err != nil {
		return err
	}
	schema := d.options(path, epoch).Schema
	if err := d.server.Load(context.Background(), schema, parts); err != nil {
		return err
	}
	_, err := d.server.TryExec(context.Background(), schema, "UPDATE meta SET home = ''")
	return err
}

// Remove implements [Disk].
func (d *Database) Remove(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	for path, schema := range d.schemas {
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			_, dropping := d.server.TryExec(context.Background(), "public", "DROP SCHEMA "+schema+" CASCADE")
			err = errors.Join(err, dropping)
			delete(d.schemas, path)
		}
	}
	return err
}
