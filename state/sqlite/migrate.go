package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pressly/goose/v3"

	"remit/internal/files/wholefile"
)

// embeddedMigrations are the migrations that the program carries, numbered from 1 without
// gaps. Each sets user_version to its own number.
func embeddedMigrations() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return sub
}

// schemaReadable is the oldest schema that is read as the newest one is: later migrations changed
// only what the tables refuse and how assets and UUIDs are spelled in twins, and added display names and an index. So who upgrades can look at a plan before an apply migrates.
const schemaReadable = 1

// schemaVersion is the number of the newest migration.
func schemaVersion(migrations fs.FS) int {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		panic(err) // the pattern is well formed
	}
	return len(names)
}

// migrate brings the schema to the newest version, each migration in its own transaction.
// The caller holds the lock, or owns a file that nobody knows yet.
func migrate(ctx context.Context, db *sql.DB, migrations fs.FS) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, migrations,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// migrateLocked migrates an older state after writing a backup of it beside it. The caller
// holds the lock.
func (s *Store) migrateLocked(ctx context.Context) error {
	version, err := checkSchema(ctx, s.write, s.wanted)
	if err != nil || version == s.wanted {
		return err
	}
	backup := fmt.Sprintf("%s.schema-%d.%s.backup", s.path, version, s.now().UTC().Format("20060102T150405.000Z"))
	if err := s.Backup(ctx, backup); err != nil {
		return fmt.Errorf("back up before migrating: %w", err)
	}
	if version < schemaSpelled {
		if err := respell(ctx, s.write); err != nil {
			return err
		}
	}
	return migrate(ctx, s.write, s.migrations)
}

// Backup writes a copy of the state as it is now to the file to, with mode 0600, while
// others may write. It returns an error wrapped around [fs.ErrExist] where to exists, and
// leaves nothing behind where it fails.
func (s *Store) Backup(ctx context.Context, to string) (err error) {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("back up state %s: %w", s.path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(to)
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if err := s.copyInto(ctx, to); err != nil {
		return fmt.Errorf("back up state %s: %w", s.path, explain(err))
	}
	return errors.Join(syncFile(to), wholefile.SyncName(to))
}

// copyInto has SQLite write a consistent copy. A pool for reading would refuse the command,
// although it changes nothing of the state.
func (s *Store) copyInto(ctx context.Context, to string) error {
	db := s.write
	if db == nil {
		db = pool(s.path, map[string][]string{"mode": {"ro"}})
		defer db.Close()
	}
	_, err := db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}
