package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a full disk, or beside a reader, SQLite leaves the newest pages in the write-ahead log when the last connection is
// closed, without a word. The log stays behind when the file gets its name.
func TestStateThatIsMadeHasNothingInALog(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "remit.db")
	var reader *sql.DB
	err := create(ctx, path, embeddedMigrations(), func(conn *sql.Conn) error {
		reader = forReading(unfinished(path), false)
		var count int
		tx, err := reader.Begin() // what it reads keeps later pages in the log; its Close ends it
		if err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM events").Scan(&count); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)")
		return err
	})
	t.Cleanup(func() { _ = reader.Close() })
	if err == nil || !strings.Contains(err.Error(), "write-ahead log") {
		t.Errorf("create returned %v, want an error about the write-ahead log", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) > 0 {
		t.Errorf("create left %v (%v), want nothing", left, err)
	}
}
