package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"remit/config"
	"remit/internal/cli/host"
	"remit/internal/text/shell"
	"remit/state"
	"remit/state/postgres"
	"remit/state/sqlite"
	"remit/state/storage"
)

// Backend is the storage of a state: it makes, opens and names it. Its errors are those of package state.
type Backend interface {
	// String names it for people.
	String() string
	// Look reports whether anything is there, state or not.
	Look(ctx context.Context) (bool, error)
	// Create makes a state that has the one event. It returns [state.ErrExists], and changes nothing, where one is there.
	Create(ctx context.Context, created state.Created) error
	// Open opens the state for reading and writing. The caller closes it.
	Open(ctx context.Context) (state.Store, error)
	// OpenReadOnly opens the state for reading alone: it makes none, and migrates nothing. The caller closes it.
	OpenReadOnly(ctx context.Context) (ReadStore, error)
	// Receive makes a state of a journal that is being moved there. No run can use it before Arrive.
	Receive(ctx context.Context, from state.Contents, by state.Holder) error
	// Arrive ends a move: the state is in use from then on.
	Arrive(ctx context.Context, by state.Holder) error
	// Backup makes a copy of the state as it is now, a SQLite file, at a path where nothing is.
	// Others may read and write meanwhile.
	Backup(ctx context.Context, path string, by state.Holder) error
	// Notes are the files of this machine that say which event of the state was its newest.
	Notes(meta state.Meta) []string
	// Gone is what notes of this machine say of a state that was there, and is another one than that of the lineage.
	Gone(lineage string) (sqlite.Gone, bool)
	// Files are the names that belong to the state on this machine.
	Files() []string
	// PutAway is the command that keeps it elsewhere, under the name or, where that is taken, the next one that is free, so that another can
	// take its place.
	PutAway(name string) string
	// Advice has the words of messages about it.
	Advice() Advice
}

// Advice has the words of a backend in messages that say what to do.
type Advice struct {
	Kept     string // the files or the schema to copy before anything else
	freed    string // how its lock may end without force
	argument string // the argument that says where it is
	replaced string // the message where it was replaced under a run
	Holds    string // where the events of that run are
}

// ReadStore is a state that is open for reading.
type ReadStore interface {
	// Snapshot is that of [state.Store]. The caller closes it.
	Snapshot(ctx context.Context) (state.Snapshot, error)
	// Verify checks the chain of the journal, that it has the hash head unless that is "", and each row against the journal. Its errors
	// are [state.ErrDamaged] and those of [state.Verify].
	Verify(ctx context.Context, head string) (state.Meta, error)
	// Close releases what the store holds open.
	Close() error
}

// SQLite is a state in a file of SQLite.
type SQLite struct {
	path    string
	options sqlite.Options
	notes   storage.Notebook // of this user
	isIn    bool             // some directory of its notes is that of the state, which may be restored whole
}

// String is the path of the file.
func (f SQLite) String() string { return f.path }

// Look implements [Backend].
func (f SQLite) Look(context.Context) (bool, error) {
	_, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Create implements [Backend].
func (f SQLite) Create(ctx context.Context, created state.Created) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	store, err := sqlite.Create(ctx, f.path, created, f.options)
	if err != nil {
		return err
	}
	return store.Close()
}

// Open implements [Backend].
func (f SQLite) Open(ctx context.Context) (state.Store, error) {
	store, err := sqlite.Open(ctx, f.path, f.options)
	if err != nil {
		return nil, err
	}
	store.NoteIn(f.notes)
	return store, nil
}

// OpenReadOnly implements [Backend].
func (f SQLite) OpenReadOnly(ctx context.Context) (ReadStore, error) {
	store, err := sqlite.OpenReadOnly(ctx, f.path)
	if err != nil {
		return nil, err
	}
	store.NoteIn(f.notes)
	return store, nil
}

// Receive implements [Backend].
func (f SQLite) Receive(ctx context.Context, from state.Contents, by state.Holder) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return sqlite.Receive(ctx, f.path, from, by)
}

// Arrive implements [Backend].
func (f SQLite) Arrive(ctx context.Context, by state.Holder) error {
	return sqlite.Arrive(ctx, f.path, by, f.notes, f.options)
}

// Backup implements [Backend].
func (f SQLite) Backup(ctx context.Context, path string, _ state.Holder) error {
	store, err := sqlite.OpenReadOnly(ctx, f.path)
	if err != nil {
		return err
	}
	return errors.Join(store.Backup(ctx, path), store.Close())
}

// Files implements [Backend].
func (f SQLite) Files() []string {
	var names []string
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
		names = append(names, f.path+suffix)
	}
	return append(names, sqlite.NewestNote(f.path), sqlite.NewestNote(f.path)+storage.BranchSuffix)
}

// Notes implements [Backend].
func (f SQLite) Notes(meta state.Meta) []string {
	all := slices.Concat([]string{sqlite.NewestNote(f.path)}, sqlite.SeenNotes(f.notes.All(), f.path), sqlite.LineageNotes(f.notes.All(), meta.Lineage))
	for _, path := range slices.Clone(all) {
		all = append(all, path+storage.BranchSuffix)
	}
	return all
}

// Gone implements [Backend].
func (f SQLite) Gone(lineage string) (sqlite.Gone, bool) {
	return sqlite.GoneFrom(f.notes.All(), f.path, lineage)
}

// PutAway implements [Backend]: it moves the file, and those that SQLite keeps beside it, into a new directory next to them.
func (f SQLite) PutAway(name string) string {
	dir := filepath.Join(filepath.Dir(f.path), name)
	for _, other := range namesLike(dir, "-") {
		if _, err := os.Lstat(other); errors.Is(err, fs.ErrNotExist) {
			dir = other
			break
		}
	}
	return fmt.Sprintf("mkdir %[1]s && mv %[2]s* %[1]s/", shell.Word(dir), shell.Word(f.path))
}

// namesLike are the name and others of which one is free: NAME, NAME-2 and so on.
func namesLike(name, between string) []string {
	const most = 1000
	names := []string{name}
	for n := 2; n <= most; n++ {
		names = append(names, fmt.Sprint(name, between, n))
	}
	return names
}

// Advice implements [Backend].
func (f SQLite) Advice() Advice {
	return Advice{
		Kept:     "the file and its -wal file",
		freed:    "the file was overwritten",
		argument: "the path in the state block",
		replaced: "the file of the state " + f.path + " was replaced or removed while this run used it",
		Holds: "is in the file that stood there, not in the one that may stand there now. " +
			"Put that one back, with its -wal file, before anything else, or restore the state from a backup.",
	}
}

// Postgres is a state in a schema of a PostgreSQL database.
type Postgres struct{ options postgres.Options }

// String is the place of the database, without a password.
func (d Postgres) String() string {
	if name := postgres.Place(d.options.URL, d.options.Schema); name != "" {
		return name
	}
	return d.options.Schema
}

// Look implements [Backend].
func (d Postgres) Look(ctx context.Context) (bool, error) {
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

// Create implements [Backend].
func (d Postgres) Create(ctx context.Context, created state.Created) error {
	store, err := postgres.Create(ctx, created, d.options)
	if err != nil {
		return err
	}
	return store.Close()
}

// Open implements [Backend].
func (d Postgres) Open(ctx context.Context) (state.Store, error) {
	store, err := postgres.Open(ctx, d.options)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// OpenReadOnly implements [Backend].
func (d Postgres) OpenReadOnly(ctx context.Context) (ReadStore, error) {
	store, err := postgres.OpenReadOnly(ctx, d.options)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// Receive implements [Backend].
func (d Postgres) Receive(ctx context.Context, from state.Contents, _ state.Holder) error {
	return postgres.Receive(ctx, from, d.options)
}

// Arrive implements [Backend].
func (d Postgres) Arrive(ctx context.Context, _ state.Holder) error {
	return postgres.Arrive(ctx, d.options)
}

// Backup implements [Backend].
func (d Postgres) Backup(ctx context.Context, path string, by state.Holder) error {
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
	return sqlite.Arrive(ctx, path, by, storage.Notebook{}, sqlite.Options{Now: d.options.Now})
}

// Notes implements [Backend].
func (d Postgres) Notes(meta state.Meta) []string {
	if path := postgres.NotePath(d.options.Notes, meta.Lineage); path != "" {
		return []string{path, path + storage.BranchSuffix}
	}
	return nil
}

// Gone implements [Backend]: notes of such a state are by its lineage, and not by its place.
func (d Postgres) Gone(string) (sqlite.Gone, bool) { return sqlite.Gone{}, false }

// Files implements [Backend].
func (d Postgres) Files() []string { return nil }

// PutAway implements [Backend]: it gives the schema another name.
func (d Postgres) PutAway(name string) string {
	ctx := context.Background() // a server that does not answer is given up after a while
	names := namesLike(d.options.Schema+"_"+name, "_")
	free, err := postgres.FreeSchema(ctx, d.options, names)
	if err != nil {
		free = names[0] // the server says so where it is taken
	}
	return `psql "$DATABASE_URL" -c ` + shell.Word(fmt.Sprintf("ALTER SCHEMA %s RENAME TO %s", d.options.Schema, free))
}

// Advice implements [Backend].
func (d Postgres) Advice() Advice {
	return Advice{
		Kept:     "the schema",
		freed:    "the server ended the session that held the lock",
		argument: "url and schema in the state block",
		replaced: "the state " + d.String() + " no longer has what this run wrote last, as where another server took the place of the first before it had everything",
		Holds: "was in the database, and may be gone from it. " +
			"Bring back the server that has it, or restore a backup, before anything else.",
	}
}

// BackendOf is the backend that the state block names.
func BackendOf(loaded *config.Configuration, dir *Directory, h *host.Host) Backend {
	s := loaded.State
	if s.Kind == config.StatePostgres {
		return NewPostgres(s.URL, s.Schema, h)
	}
	return noted(dir.Within(s.Path), h)
}

// noted is a file of SQLite, of which this user has notes. A directory that has the state itself is restored with it, so a note
// is made there only where there is no other place.
func noted(path string, h *host.Host) SQLite {
	f := SQLite{path: path, options: sqlite.Options{Now: h.Now}}
	var within []string
	for _, dir := range h.StateDirs() {
		switch {
		case dir.IsKept && sqlite.IsWithin(path, dir.Base):
			within, f.isIn = append(within, dir.Path()), true
		case dir.IsKept:
			f.notes.Kept = append(f.notes.Kept, dir.Path())
		default:
			f.notes.Read = append(f.notes.Read, dir.Path())
		}
	}
	if !slices.ContainsFunc(f.notes.Kept, sqlite.CanKeep) {
		f.notes.Kept = append(f.notes.Kept, within...)
		return f
	}
	f.isIn, f.notes.Read = false, append(f.notes.Read, within...)
	return f
}

// MovedBackend is a file of SQLite, relative to the directory of the configuration, to which a state is moved.
func MovedBackend(dir *Directory, path string, h *host.Host) Backend {
	return noted(dir.Within(path), h)
}

// FileBackend is a file of SQLite, relative to the directory of the configuration.
func FileBackend(dir *Directory, path string, now func() time.Time) Backend {
	return NewSQLite(dir.Within(path), now)
}

// NewSQLite is a file of SQLite of which nothing is noted but beside it.
func NewSQLite(path string, now func() time.Time) Backend {
	return SQLite{path: path, options: sqlite.Options{Now: now}}
}

// NewPostgres is a schema of a database.
func NewPostgres(url, schema string, h *host.Host) Backend {
	return Postgres{postgres.Options{URL: url, Schema: schema, Now: h.Now, Notes: h.StateDir()}}
}
