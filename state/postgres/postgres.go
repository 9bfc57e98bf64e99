// Package postgres keeps a state in one schema of a PostgreSQL database, which several
// machines share.
//
// Its one invariant: what an Append returned for is in the journal and durable, and nothing
// is written by anyone but the holder of the lock: each commit asks the server itself, in its
// own transaction, whether the lock's session still lives and whether the fence is still the
// holder's.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"remit/state"
	"remit/state/storage"
)

// Options are what a store takes from its configuration and its surroundings.
type Options struct {
	// URL is where the database is, as libpq reads it: postgres://user@host:port/database?sslmode=…
	// What it leaves out comes from PGHOST, PGPASSWORD, PGPASSFILE and their kin. No error has its
	// password.
	URL string

	// Schema is where the state is in the database.
	Schema string

	// Notes is a directory of this user for the notes of which events were durable last; "" for none. It is made
	// where it is missing, and a directory that can't be written to has no notes.
	Notes string

	// Now is the clock that dates events.
	Now func() time.Time
}

// Bounds of time. A server that does not answer is as good as one that is gone.
const (
	waitConnect = 10 * time.Second // for a connection, where the URL does not say
	waitAnswer  = 30 * time.Second // for the answer to what a commit sends
	waitLocked  = 10 * time.Second // for another's transaction
	waitReading = 2 * time.Minute  // for a word of a server that is only read
)

// readersMax is how many connections snapshots and checks have at most. A command has one or
// two snapshots at a time.
const readersMax = 32

// Store is a state in a schema. It is safe for concurrent use.
type Store struct {
	address
	now      func() time.Time
	wanted   int // version of the schema that this program writes
	readOnly bool

	read  *pgxpool.Pool
	notes string                   // directory; "" for none
	known atomic.Pointer[constant] // once it was asked for
}

var _ state.Store = (*Store)(nil)

// Create makes a state and opens it for writing. Its first event is created. The schema is
// made where it is missing, and appears with its tables or not at all. The error is wrapped
// around [state.ErrExists], and nothing changes, where the schema holds anything.
func Create(ctx context.Context, created state.Created, opts Options) (*Store, error) {
	if err := create(ctx, created, opts, schemaVersion()); err != nil {
		return nil, err
	}
	return Open(ctx, opts)
}

// create makes a state with the schema of a version.
func create(ctx context.Context, created state.Created, opts Options, version int) error {
	meta, first, err := storage.First(created, opts.Now())
	if err != nil {
		return err
	}
	s, err := newStore(opts, false)
	if err != nil {
		return err
	}
	s.wanted = version
	err = s.withConn(ctx, func(conn *pgx.Conn) error {
		return s.make(ctx, conn, func(tx pgx.Tx) error {
			if err := insertMeta(ctx, tx, meta, s.wanted, ""); err != nil {
				return err
			}
			return sendBatch(ctx, tx, func(b *pgx.Batch) {
				insertLines(b, []storage.StoredEvent{first})
				markFolded(b, s.wanted, first.Seq)
			})
		})
	})
	if err != nil {
		return s.wrap("make", err)
	}
	return nil
}

// make makes the schema and its tables, and has fill put the state into them, all in one
// transaction.
func (s *Store) make(ctx context.Context, conn *pgx.Conn, fill func(pgx.Tx) error) error {
	return atLeisure(conn, func() error { return s.makeIn(ctx, conn, fill) })
}

func (s *Store) makeIn(ctx context.Context, conn *pgx.Conn, fill func(pgx.Tx) error) error {
	system, err := systemOf(ctx, conn)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Of two that make it at the same time the second one waits, and finds it.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, 0)`, s.lockClass()); err != nil {
			return err
		}
		found, err := look(ctx, tx, s.schema)
		switch {
		case err != nil:
			return err
		case found.tables > 0:
			return state.ErrExists
		case !found.schema:
			if _, err := tx.Exec(ctx, `CREATE SCHEMA `+s.quotedSchema()); err != nil {
				return err
			}
		}
		if err := migrate(ctx, tx, 0, s.wanted); err != nil {
			return err
		}
		if err := fill(tx); err != nil || s.wanted < schemaHome {
			return err
		}
		return settle(ctx, tx, system)
	})
}

// Open opens a state for writing. It never makes one: the error is wrapped around
// [state.ErrMissing], [state.ErrEmpty], [state.ErrForeign] or [state.ErrNewer] where there is
// none that can be used. A state of an older schema is migrated by Lock; until then it is read
// as it is, or, where that can't be, Snapshot returns [state.ErrOlder].
func Open(ctx context.Context, opts Options) (*Store, error) { return open(ctx, opts, false) }

// OpenReadOnly opens a state for Snapshot and Verify alone. It takes no lock and writes
// nothing, and a role that may only SELECT will do; a copy that follows its server, too.
func OpenReadOnly(ctx context.Context, opts Options) (*Store, error) { return open(ctx, opts, true) }

func open(ctx context.Context, opts Options, readOnly bool) (*Store, error) {
	s, err := newStore(opts, readOnly)
	if err != nil {
		return nil, err
	}
	return opened(ctx, s)
}

// opened opens the pool of a new store.
func opened(ctx context.Context, s *Store) (*Store, error) {
	var err error
	config := s.pool.Copy()
	config.MaxConns = readersMax
	config.AfterConnect = s.prepareSession
	// A session that was ended since it was last used is replaced by another one.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	if s.read, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.wrap("open", err)
	}
	if err := s.check(ctx); err != nil {
		s.read.Close()
		return nil, s.wrap("open", err)
	}
	return s, nil
}

// check refuses tables that are no state that this program can use.
func (s *Store) check(ctx context.Context) error {
	conn, err := s.read.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := s.refusePooler(ctx, conn.Conn()); err != nil {
		return err
	}
	found, err := look(ctx, conn, s.schema)
	if err != nil {
		return err
	}
	_, err = found.usable(ctx, conn, s.wanted)
	return err
}

func newStore(opts Options, readOnly bool) (*Store, error) {
	address, err := parseAddress(opts.URL, opts.Schema)
	if err != nil {
		return nil, err
	}
	patience := waitAnswer
	if readOnly {
		patience = waitReading
	}
	address.pool.ConnConfig.AfterNetConnect = withPatience(patience)
	return &Store{address: address, notes: opts.Notes, now: opts.Now, wanted: schemaVersion(), readOnly: readOnly}, nil
}

// Close gives the connections back. Snapshots must be closed, and a journal unlocked, before.
func (s *Store) Close() error {
	s.read.Close()
	return nil
}

// withConn runs do on a connection of its own.
func (s *Store) withConn(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), closeConn(conn))
}

// connect opens a connection that is none of the pool's.
func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.ConnConfig.Copy())
	if err != nil {
		return nil, err
	}
	if err := s.prepareSession(ctx, conn); err != nil {
		return nil, errors.Join(orSilent(conn, err), closeConn(conn))
	}
	return conn, nil
}

// pauseFull is between two attempts to have a connection of a server that has none left.
const pauseFull = 200 * time.Millisecond

// patiently calls do, which may need a connection, for a command that is under way: again while the
// server has none left, until ctx ends.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if code(err) != codeTooMany || storage.Sleep(ctx, pauseFull) != nil {
			return err
		}
	}
}

// reconnect is connect for a command that is under way, see [patiently].
func (s *Store) reconnect(ctx context.Context) (conn *pgx.Conn, err error) {
	err = patiently(ctx, func() error {
		conn, err = s.connect(ctx)
		return err
	})
	return conn, err
}

// closeConn says good-bye, for a moment at most, to a server that may be gone.
func closeConn(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // all that was to be durable is
	return nil
}

// wrap names the operation and the state, without a word of the password.
func (s *Store) wrap(what string, err error) error {
	return fmt.Errorf("%s state %s: %w", what, s.String(), awayOr(s.hide(s.aboutCertificate(s.aboutPrivileges(advised(explain(err)))))))
}
