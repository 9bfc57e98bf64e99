package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/mattn/go-sqlite3"

	"remit/internal/files/address"
	"remit/internal/syserror"
	"remit/state"
)

// applicationID marks a file as a state of remit: the letters "remt" in SQLite's header.
const applicationID = 1919249780

// waitBusy is how long one statement waits for another process's transaction. Transactions
// are short: a commit, a fold of a few thousand rows.
const waitBusy = 10 * time.Second

// sizeWAL is, in pages of 4 KiB, how much the write-ahead log collects before a commit moves
// it into the database.
const sizeWAL = 4096

// statements is how many compiled statements a connection keeps. A command runs the same few dozen again and
// again; on a small state, to compile them takes most of its time.
const statements = 64

//go:embed migrations/*.sql
var embedded embed.FS

// Options are what a store takes from its surroundings.
type Options struct {
	// Now is the clock that dates events and backups.
	Now func() time.Time
	// Sleep waits for a holder of the lock; nil is [storage.Sleep].
	Sleep func(context.Context, time.Duration) error
}

// pool is a pool whose connections all have these settings.
func pool(path string, settings url.Values) *sql.DB {
	settings.Set("_busy_timeout", fmt.Sprint(waitBusy.Milliseconds()))
	settings.Set("_stmt_cache_size", fmt.Sprint(statements))
	return sql.OpenDB(connector{address.SQLite(path) + "?" + settings.Encode()})
}

// connector opens connections of a pool.
type connector struct{ dsn string }

// Driver makes each connection sync through.
func (connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{ConnectHook: syncThrough} }

// Connect opens one more connection.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.dsn) }

// syncThrough has SQLite wait until the disk itself has the bytes. On macOS fsync(2) waits for less; on
// other systems the setting changes nothing.
func syncThrough(conn *sqlite3.SQLiteConn) error {
	_, err := conn.Exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON", nil)
	return err
}

// forWriting opens a pool whose commits are durable when they return.
func forWriting(path string) *sql.DB {
	return pool(path, url.Values{
		"mode":          {"rw"},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_txlock":       {"immediate"},
	})
}

// forReading opens a pool that can't write.
func forReading(path string, immutable bool) *sql.DB {
	settings := url.Values{"mode": {"ro"}, "_query_only": {"true"}}
	if immutable {
		settings.Set("immutable", "1")
	}
	return pool(path, settings)
}

// assertDurable refuses a connection whose commits might be lost with the power, whatever
// the driver made of its settings.
func assertDurable(ctx context.Context, conn *sql.Conn) error {
	var synchronous, through int
	var journal string
	if err := conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA fullfsync").Scan(&through); err != nil {
		return err
	}
	if synchronous != 2 || journal != "wal" || through != 1 {
		return fmt.Errorf("the database would not be durable: synchronous is %d instead of 2 (FULL), journal_mode is %q instead of \"wal\", fullfsync is %d instead of 1",
			synchronous, journal, through)
	}
	return nil
}

// checkSchema refuses a file that is not a state, that holds none, or that a newer program
// wrote. It reports the version of its schema, which may be older than wanted.
func checkSchema(ctx context.Context, db *sql.DB, wanted int) (version int, err error) {
	var id int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return 0, explain(err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, explain(err)
	}
	switch {
	case id != applicationID:
		return 0, state.ErrForeign
	case version > wanted:
		return 0, fmt.Errorf("its schema is %d, this program knows %d: %w", version, wanted, state.ErrNewer)
	case version < 1:
		return 0, state.ErrEmpty
	}
	var count int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM events JOIN meta ON seq = 1)").Scan(&count); err != nil {
		return 0, explain(err)
	}
	if count != 1 {
		return 0, state.ErrEmpty
	}
	return version, nil
}

// explain wraps what SQLite says of a damaged, foreign or busy file, and of one that the system keeps it
// from, into the state's own errors.
func explain(err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) || errors.Is(err, state.ErrDamaged) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrCorrupt:
		return fmt.Errorf("%w: %w", state.ErrDamaged, err)
	case sqlite3.ErrNotADB:
		return fmt.Errorf("%w: %w", state.ErrForeign, err)
	case sqlite3.ErrBusy:
		return fmt.Errorf("%w: %w", state.ErrBusy, err)
	case sqlite3.ErrFull:
		return kept{err, state.ErrNoRoom}
	case sqlite3.ErrPerm, sqlite3.ErrAuth:
		return kept{err, state.ErrNoAccess}
	case sqlite3.ErrReadonly:
		if e.ExtendedCode != sqlite3.ErrReadonlyDbMoved {
			return kept{err, state.ErrNoAccess}
		}
	case sqlite3.ErrIoErr, sqlite3.ErrCantOpen:
		if syserror.IsNoRoom(e.SystemErrno) {
			return kept{err, state.ErrNoRoom}
		}
		if errors.Is(e.SystemErrno, fs.ErrPermission) || syserror.IsReadOnly(e.SystemErrno) {
			return kept{err, state.ErrNoAccess}
		}
	}
	return err
}

// kept is an error of SQLite, in its own words, that is one of the state's as well.
type kept struct{ err, is error }

func (k kept) Error() string { return k.err.Error() }

func (k kept) Unwrap() []error { return []error{k.err, k.is} }

// hasWAL reports whether the write-ahead log of path holds anything.
func hasWAL(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// syncFile makes the bytes of a file durable.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Version is the release of the SQLite library in this program, such as "3.50.4".
func Version() string {
	version, _, _ := sqlite3.Version()
	return version
}
