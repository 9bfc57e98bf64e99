package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"remit/state"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationNames are the migrations that the program carries, in their order.
func migrationNames() []string {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is well formed
	}
	return names
}

// schemaReadable is the oldest schema that is read as the newest one is: later migrations changed
// only what the tables refuse and how assets and UUIDs are spelled in twins, and added display names and an index. So who upgrades can look at a plan before an apply migrates.
const schemaReadable = 2

// schemaVersion is the number of the newest migration.
func schemaVersion() int { return len(migrationNames()) }

// migrate brings a schema from one version to another within a transaction of the caller, who
// holds the lock of the state, or has just made the schema: it is whole, or it was not done.
// That is why no library does it, which would commit each migration by itself.
func migrate(ctx context.Context, tx pgx.Tx, from, to int) error {
	for i, name := range migrationNames()[from:to] {
		text, err := migrations.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		if _, err := tx.Conn().PgConn().Exec(ctx, string(text)).ReadAll(); err != nil {
			return fmt.Errorf("migrate to version %d: %w", from+i+1, err)
		}
	}
	if from > 0 && from < schemaSpelled {
		return respell(ctx, tx)
	}
	return nil
}

// querier is a connection, a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// found describes the schema where a state should be.
type found struct {
	schema bool
	tables int      // of any kind
	state  bool     // the table meta is a state's
	names  []string // of the tables
}

// laterTables are those that came with a migration after the first, by its number.
var laterTables = map[int][]string{
	2: {"shares", "runners", "parts", "share_plans", "rates", "permits"},
	4: {"tallies"},
	5: {"jumps"},
	9: {"names"},
}

// checkTables returns [state.ErrDamaged] where a table of a schema's version is gone, as after a
// restore that was cut off.
func (f found) checkTables(version int) error {
	for since, names := range laterTables {
		for _, name := range names {
			if since <= version && !slices.Contains(f.names, name) {
				return fmt.Errorf("its table %s is gone: %w", name, state.ErrDamaged)
			}
		}
	}
	return nil
}

func look(ctx context.Context, q querier, schema string) (found, error) {
	var f found
	err := q.QueryRow(ctx, `SELECT
		EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1),
		(SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')),
		(SELECT count(*) = 4 FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1
			AND relkind = 'r' AND relname IN ('meta', 'events', 'transfers', 'runs')),
		ARRAY (SELECT relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relkind = 'r')`,
		schema).Scan(&f.schema, &f.tables, &f.state, &f.names)
	return f, err
}

// FreeSchema is the first of names that no schema of the database has, and the first of all where each has one.
func FreeSchema(ctx context.Context, opts Options, names []string) (free string, err error) {
	s, err := newStore(opts, true)
	if err != nil {
		return "", err
	}
	err = s.withConn(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS names (name, place)
			ORDER BY EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = name), place LIMIT 1`, names).Scan(&free)
	})
	if err != nil {
		return "", s.wrap("find a free name beside", err)
	}
	return free, nil
}

// usable refuses a schema that is no state, that holds none, that a newer program wrote, and that
// was moved away. It reports the version of the schema, which may be older than wanted.
func (f found) usable(ctx context.Context, q querier, wanted int) (version int, err error) {
	switch {
	case f.tables == 0: // an administrator may have made the schema
		return 0, state.ErrMissing
	case !f.state:
		return 0, state.ErrForeign
	}
	var first, more bool
	err = q.QueryRow(ctx, `SELECT coalesce(max(version), 0), EXISTS (SELECT 1 FROM events WHERE seq = 1),
		EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM transfers) OR EXISTS (SELECT 1 FROM runs) FROM meta`).
		Scan(&version, &first, &more)
	switch {
	case code(err) == codeNoColumn:
		return 0, state.ErrForeign
	case code(err) == codeNoTable: // which is there
		return 0, fmt.Errorf("%w: %w", errNoUsage, err)
	case err != nil:
		return 0, err
	case version > wanted:
		return 0, fmt.Errorf("its schema is %d, this program knows %d: %w", version, wanted, state.ErrNewer)
	case version == 0 && more:
		return 0, fmt.Errorf("what it says of itself is gone: %w", state.ErrDamaged)
	case !first && more:
		return 0, fmt.Errorf("its first event is gone: %w", state.ErrDamaged)
	case version == 0 || !first:
		return 0, state.ErrEmpty
	}
	return version, f.checkTables(version)
}

// Codes of the server's errors, of the appendix A of PostgreSQL's manual.
const (
	codeNoAuthorization = "28000"
	codeWrongPassword   = "28P01"
	codeNoPrivilege     = "42501"
	codeNoColumn        = "42703"
	codeNoTable         = "42P01"
	codeNoDatabase      = "3D000"
	codeNoStatement     = "26000"
	codeTwoStatements   = "42P05"
	codeSerialization   = "40001"
	codeDeadlock        = "40P01"
	codeLockTimeout     = "55P03"
	codeTooMany         = "53300"
	codeNotYet          = "57P03"
	codeDataCorrupted   = "XX001"
	codeIndexCorrupt    = "XX002"
)

// errNoUsage says that the role doesn't see the tables of the schema.
var errNoUsage = errors.New("the role has no USAGE on the schema")

// code is what the server calls an error; "" where it is not the server's.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// explain wraps what the server says into the state's own errors.
func explain(err error) error {
	switch code(err) {
	case codeNoDatabase:
		return fmt.Errorf("%w: %w", state.ErrMissing, err)
	case codeLockTimeout:
		return fmt.Errorf("%w: %w", state.ErrBusy, err)
	case codeNoStatement, codeTwoStatements: // that this session prepared itself, or did not
		return fmt.Errorf("%w: %w", errPooled, err)
	case codeDataCorrupted, codeIndexCorrupt:
		return fmt.Errorf("%w: %w", state.ErrDamaged, err)
	}
	return err
}
