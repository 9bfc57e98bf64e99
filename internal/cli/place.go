package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"remit/config"
	"remit/internal/text/shell"
	"remit/state"
	"remit/state/postgres"
	"remit/state/sqlite"
)

// place is where a state is: what makes, opens and names it. Its errors are those of package
// state.
type place interface {
	// String names it for people.
	String() string
	// Look reports whether anything is there, state or not.
	Look(ctx context.Context) (bool, error)
	Create(ctx context.Context, created state.Created) error
	Open(ctx context.Context) (state.Store, error)
	OpenReadOnly(ctx context.Context) (readStore, error)
	// Receive makes a state of a journal that is being moved there, and Arrive has it be in use.
	Receive(ctx context.Context, from state.Contents, by state.Holder) error
	Arrive(ctx context.Context, by state.Holder) error
	// Backup makes a copy of the state as it is now, a SQLite file, at a path where nothing is.
	// Others may read and write meanwhile.
	Backup(ctx context.Context, path string, by state.Holder) error
	// Files are the names that belong to the state on this machine.
	Files() []string
	// Words are those of advice about it.
	Words() placeWords
}

// placeWords are what advice calls things at a place.
type placeWords struct {
	kept     string // what a copy is kept of before anything else
	putAway  string // the command that keeps a damaged one elsewhere, so that another can take its place
	freed    string // how its lock may end without force
	argument string // what says where it is
	replaced string // what happened to one that was replaced under a run
	holds    string // what then has what was written
}

// readStore is a state that is open for reading.
type readStore interface {
	Snapshot(ctx context.Context) (state.Snapshot, error)
	Verify(ctx context.Context, head string) (state.Meta, error)
	Close() error
}

// file is a state in a SQLite file.
type file struct {
	path    string
	options sqlite.Options
}

func (f file) String() string { return f.path }

func (f file) Look(context.Context) (bool, error) {
	_, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (f file) Create(ctx context.Context, created state.Created) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	store, err := sqlite.Create(ctx, f.path, created, f.options)
	if err != nil {
		return err
	}
	return store.Close()
}

func (f file) Open(ctx context.Context) (state.Store, error) {
	store, err := sqlite.Open(ctx, f.path, f.options)
	if err != nil {
		return nil, err
	}
	return store, nil
}

func (f file) OpenReadOnly(ctx context.Context) (readStore, error) {
	store, err := sqlite.OpenReadOnly(ctx, f.path)
	if err != nil {
		return nil, err
	}
	return store, nil
}

func (f file) Receive(ctx context.Context, from state.Contents, by state.Holder) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return sqlite.Receive(ctx, f.path, from, by)
}

func (f file) Arrive(ctx context.Context, by state.Holder) error {
	return sqlite.Arrive(ctx, f.path, by, f.options)
}

func (f file) Backup(ctx context.Context, path string, _ state.Holder) error {
	store, err := sqlite.OpenReadOnly(ctx, f.path)
	if err != nil {
		return err
	}
	return errors.Join(store.Backup(ctx, path), store.Close())
}

func (f file) Files() []string {
	var names []string
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
		names = append(names, f.path+suffix)
	}
	return names
}

func (f file) Words() placeWords {
	return placeWords{
		kept:     "the file and its -wal file",
		putAway:  fmt.Sprintf("mkdir %[1]s && mv %[2]s* %[1]s/", shell.Word(filepath.Join(filepath.Dir(f.path), "damaged")), shell.Word(f.path)),
		freed:    "the file was overwritten",
		argument: "the path in the state block",
		replaced: "the file of the state " + f.path + " was replaced or removed while this run used it",
		holds: "is in the file that stood there, not in the one that may stand there now. " +
			"Put that one back, with its -wal file, before anything else, or restore the state from a backup.",
	}
}

// database is a state in a schema of a PostgreSQL database.
type database struct{ options postgres.Options }

func (d database) String() string {
	if name := postgres.Place(d.options.URL, d.options.Schema); name != "" {
		return name
	}
	return d.options.Schema
}

func (d database) Look(ctx context.Context) (bool, error) {
	store, err := postgres.OpenReadOnly(ctx, d.options)
	switch {
	case err == nil:
		return true, store.Close()
	case errors.Is(err, state.ErrMissing):
		return false, nil
	case errors.Is(err, state.ErrEmpty), errors.Is(err, state.ErrForeign), errors.Is(err, state.ErrNewer):
		return true, nil
	}
	return false, err
}

func (d database) Create(ctx context.Context, created state.Created) error {
	store, err := postgres.Create(ctx, created, d.options)
	if err != nil {
		return err
	}
	return store.Close()
}

func (d database) Open(ctx context.Context) (state.Store, error) {
	store, err := postgres.Open(ctx, d.options)
	if err != nil {
		return nil, err
	}
	return store, nil
}

func (d database) OpenReadOnly(ctx context.Context) (readStore, error) {
	store, err := postgres.OpenReadOnly(ctx, d.options)
	if err != nil {
		return nil, err
	}
	return store, nil
}

func (d database) Receive(ctx context.Context, from state.Contents, _ state.Holder) error {
	return postgres.Receive(ctx, from, d.options)
}

func (d database) Arrive(ctx context.Context, _ state.Holder) error {
	return postgres.Arrive(ctx, d.options)
}

func (d database) Backup(ctx context.Context, path string, by state.Holder) error {
	store, err := postgres.OpenReadOnly(ctx, d.options)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // it was only read
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }()
	if err := sqlite.Receive(ctx, path, state.ContentsOf(ctx, snapshot), by); err != nil {
		return err
	}
	return sqlite.Arrive(ctx, path, by, sqlite.Options{Now: d.options.Now})
}

func (d database) Files() []string { return nil }

func (d database) Words() placeWords {
	return placeWords{
		kept:     "the schema",
		putAway:  `psql "$DATABASE_URL" -c ` + shell.Word(fmt.Sprintf("ALTER SCHEMA %[1]s RENAME TO %[1]s_damaged", d.options.Schema)),
		freed:    "the server ended the session that held the lock",
		argument: "url and schema in the state block",
		replaced: "the state " + d.String() + " no longer has what this run wrote last, as where another server took the place of the first before it had everything",
		holds: "was in the database, and may be gone from it. " +
			"Bring back the server that has it, or restore a backup, before anything else.",
	}
}

// statePlace is where the state block says the state is.
func (w *workspace) statePlace() place {
	s := w.config.State
	if s.Kind == config.StatePostgres {
		return database{postgres.Options{URL: s.URL, Schema: s.Schema, Now: w.host.Now}}
	}
	return w.filePlace(s.Path)
}

// filePlace is a SQLite file, relative to the directory of the configuration.
func (w *workspace) filePlace(path string) place {
	return file{w.within(path), sqlite.Options{Now: w.host.Now}}
}
