package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"remit/state/storage"
)

// notePath is where the note of the state at path is, which is no link.
func notePath(path string) string {
	return filepath.Join(filepath.Dir(path), ".remit-newest-"+filepath.Base(path))
}

// NewestNote is the file beside the state at path that says which event of it was durable last.
func NewestNote(path string) string {
	if info, err := os.Lstat(path); err != nil || info.Mode().IsRegular() {
		return notePath(path)
	}
	if behind, err := realPath(path); err == nil {
		path = behind
	}
	return notePath(path)
}

// lacks returns the number of the noted event, where the state does not have it. A note of another lineage is about a
// state that was here before.
func lacks(ctx context.Context, conn *sql.Conn, n storage.Noted, h head) (int64, error) {
	return n.Lacks(h.Tip, func(seq int64) (string, error) {
		var hash []byte
		err := conn.QueryRowContext(ctx, `SELECT hash FROM events WHERE seq = ?`, seq).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return hex.EncodeToString(hash), explain(err)
	})
}
