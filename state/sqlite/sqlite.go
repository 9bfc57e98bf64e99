// Package sqlite keeps a state in one SQLite file.
//
// Its one invariant: what an Append returned for is in the file's journal and stays there,
// whatever dies afterwards; the rows of transfers are a fold of the journal that may lag
// behind it, and every reader adds what they lack.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"

	"remit/internal/files/wholefile"
	"remit/internal/syserror"
	"remit/state"
	"remit/state/storage"
)

// Store is a state in a file. It is safe for concurrent use.
type Store struct {
	named      string      // absolute, as it was given
	path       string      // the one behind every link
	file       seen        // when it was opened
	own        *descriptor // of the file; opened before SQLite opens it, released after
	size       size        // of the file
	now        func() time.Time
	sleep      func(context.Context, time.Duration) error // nil is storage.Sleep
	migrations fs.FS
	wanted     int // version of the schema that this program writes
	readable   int // the oldest that it reads as it is
	pace       pace
	notes      storage.Notebook // of the user
	free       func(path string) (bytes int64, known bool)

	read  *sql.DB
	write *sql.DB // nil where the store was opened for reading
}

var _ state.Store = (*Store)(nil)

// Create makes a state at path and opens it for writing. Its first event is created. The
// file appears whole or not at all, with mode 0600; its directory must exist. It returns an
// error wrapped around [state.ErrExists], and changes nothing, where path is a file that is
// not empty or where a write-ahead log was left there by another state, and a
// *[state.LockedError] while someone holds a lock there.
func Create(ctx context.Context, path string, created state.Created, opts Options) (*Store, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	lock, err := locking{path: path, holder: created.By}.acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("create state %s: %w", path, err)
	}
	err = errors.Join(create(ctx, path, embeddedMigrations(), func(conn *sql.Conn) error {
		return begin(ctx, conn, created, opts.Now)
	}), lock.release())
	if err != nil {
		return nil, fmt.Errorf("create state %s: %w", path, err)
	}
	return Open(ctx, path, opts)
}

// create makes the file with the schema of the migrations, and has put write the state into it.
// The caller holds the lock of path, so a file with the temporary name was left there by one
// that was killed.
func create(ctx context.Context, path string, migrations fs.FS, put func(*sql.Conn) error) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Size() > 0 || !info.Mode().IsRegular():
		return state.ErrExists
	}
	if hasWAL(path) {
		return fmt.Errorf("%s-wal was left by another state and may hold its newest events; keep it with that state: %w", path, state.ErrExists)
	}
	if kind := SharedFS(path); kind != "" {
		return fmt.Errorf("it would be on a file system that machines share, of the kind %s: %w", kind, state.ErrNoLocks)
	}
	temp := unfinished(path)
	remove := func() {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			_ = os.Remove(temp + suffix) // it may not be there
		}
	}
	remove()
	defer remove()
	file, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := fill(ctx, temp, migrations, put); err != nil {
		return explain(err)
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	return wholefile.Move(temp, path)
}

// unfinished is the name of a state that is being made at path.
func unfinished(path string) string {
	return filepath.Join(filepath.Dir(path), ".remit-new-"+filepath.Base(path))
}

// fill makes the schema in an empty file, has put write the state, and closes it again.
func fill(ctx context.Context, path string, migrations fs.FS, put func(*sql.Conn) error) (err error) {
	db := forWriting(path)
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := migrate(ctx, db, migrations); err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := immediately(ctx, conn, func() error { return put(conn) }); err != nil {
		return err
	}
	return emptyLog(ctx, conn)
}

// emptyLog moves the whole write-ahead log into the file, which is about to get another name without it. SQLite does so
// as well when the last connection is closed, but says nothing where it can't: on a full disk a part of the state stays in the log.
func emptyLog(ctx context.Context, conn *sql.Conn) error {
	var isBusy, pages, moved int
	if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&isBusy, &pages, &moved); err != nil {
		return fmt.Errorf("move its write-ahead log into the file: %w", err)
	}
	if isBusy != 0 || moved != pages {
		return fmt.Errorf("move its write-ahead log into the file: another process keeps it open, and %d of %d pages were moved", moved, pages)
	}
	return nil
}

// begin writes the first event of a state.
func begin(ctx context.Context, conn *sql.Conn, created state.Created, now func() time.Time) error {
	meta, first, err := storage.First(created, now())
	if err != nil {
		return err
	}
	if err := insertMeta(ctx, conn, meta, ""); err != nil {
		return err
	}
	return insertEvent(ctx, conn, first)
}

// Open opens a state for writing. It never makes one: the error is wrapped around
// [state.ErrMissing], [state.ErrEmpty], [state.ErrNotFile], [state.ErrForeign], [state.ErrNewer] or
// [state.ErrDamaged] where there is none that can be used. A state of an older schema is
// migrated by Lock; until then it is read as it is, or, where that can't be, Snapshot returns
// [state.ErrOlder].
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	return open(ctx, path, opts, embeddedMigrations())
}

func open(ctx context.Context, path string, opts Options, migrations fs.FS) (*Store, error) {
	// Looked at through a connection that can't write: a file that is no state stays as it is.
	s, err := openReadOnly(ctx, path, migrations)
	if err != nil {
		return nil, err
	}
	s.now, s.sleep = opts.Now, opts.Sleep
	if err := s.checkLocks(); err != nil {
		return nil, errors.Join(fmt.Errorf("open state %s: %w", s.path, err), s.Close())
	}
	s.write = forWriting(s.path)
	conn, err := s.write.Conn(ctx)
	if err == nil {
		err = errors.Join(assertDurable(ctx, conn), conn.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open state %s: %w", s.path, explain(noFileBeside(s.path, err))), s.Close())
	}
	return s, nil
}

// OpenReadOnly opens a state for Snapshot and Verify alone, as Open does. It takes no lock,
// makes no state and migrates nothing, and works while another process writes.
//
// SQLite shares pages that are being written through two side files, so the directory must be
// writable or hold them already. Where it is not and does not, and the last writer closed
// the state properly, the file is read as one that nobody changes meanwhile.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	return openReadOnly(ctx, path, embeddedMigrations())
}

func openReadOnly(ctx context.Context, path string, migrations fs.FS) (*Store, error) {
	named, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if path, err = realPath(named); err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	s := &Store{
		named: named, path: path, migrations: migrations,
		wanted: schemaVersion(migrations), readable: schemaReadable, pace: pace{foldAt, foldStep}, free: freeAt,
	}
	if s.file, err = checkFile(path); err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	if s.own, err = openDescriptor(path, false); err != nil {
		return nil, fmt.Errorf("open state %s: %w", path, err)
	}
	if err := s.openReading(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open state %s: %w", path, err), s.own.release())
	}
	return s, nil
}

// openReading opens the pool for reading, and looks whether there is a state that can be read.
func (s *Store) openReading(ctx context.Context) (err error) {
	for _, immutable := range []bool{false, true} {
		s.read = forReading(s.path, immutable)
		if _, err = checkSchema(ctx, s.read, s.wanted); err == nil {
			err = s.checkLog(ctx)
		}
		if err == nil {
			return nil
		}
		s.read.Close()
		if !needsSideFiles(err) {
			return err
		}
		if hasWAL(s.path) {
			return fmt.Errorf("%s-wal holds its newest events, which can only be read where %s can be written to: %w", s.path, filepath.Dir(s.path), err)
		}
	}
	return err
}

// needsSideFiles reports whether SQLite failed because it could not make its side files.
func needsSideFiles(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCantOpen || e.Code == sqlite3.ErrReadonly)
}

// noFileBeside returns the reason why no file can be made beside a state. SQLite hides it: it tries in several ways, and its error is
// that of the last one. Where a file can be made, it returns err.
func noFileBeside(path string, err error) error {
	if !needsSideFiles(err) {
		return err
	}
	f, why := os.CreateTemp(filepath.Dir(path), ".remit-*")
	switch {
	case why == nil:
		_, _ = f.Close(), os.Remove(f.Name()) // a try
		return err
	case syserror.IsNoRoom(why):
		return kept{why, state.ErrNoRoom}
	case syserror.IsReadOnly(why), errors.Is(why, fs.ErrPermission):
		return kept{why, state.ErrNoAccess}
	}
	return err
}

// Close releases the file. A journal must be unlocked before.
func (s *Store) Close() error {
	var err error
	if s.read != nil {
		err = s.read.Close()
	}
	if s.write != nil {
		err = errors.Join(err, s.write.Close())
	}
	return errors.Join(err, s.own.release())
}

// immediately runs do in a transaction that holds the write lock from its start.
// Once begun it is not interrupted, so that the connection is never left inside of one.
func immediately(ctx context.Context, conn *sql.Conn, do func() error) error {
	ctx = context.WithoutCancel(ctx)
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return explain(err)
	}
	if err := do(); err != nil {
		_, back := conn.ExecContext(ctx, "ROLLBACK")
		return errors.Join(explain(err), back)
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		// SQLite leaves some failed commits open; where it did not, this fails in vain.
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		return explain(err)
	}
	return nil
}
