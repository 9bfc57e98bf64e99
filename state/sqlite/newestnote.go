package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"remit/internal/files/filelock"
)

// newestNote is the file beside a state that says which event of it was durable last. The state itself cannot say that a
// part of it is gone: an older copy of a state, and one whose write-ahead log was emptied, are whole.
type newestNote struct {
	file    *os.File
	lineage string
}

// noted is what a note says. The zero value is that of a note that is missing or can't be read.
type noted struct {
	lineage string
	seq     int64
	hash    string
}

// noteLayout is one line of always the same length, so that a write leaves nothing of an earlier one.
const noteLayout = "%-36s %019d %-64s"

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

func (n noted) String() string {
	line := fmt.Sprintf(noteLayout, n.lineage, n.seq, n.hash)
	return fmt.Sprintf("%s %08x\n", line, crc32.ChecksumIEEE([]byte(line)))
}

// readNote reads the note of the state at path.
func readNote(path string) noted {
	content, err := readBounded(notePath(path))
	if err != nil {
		return noted{}
	}
	var n noted
	if _, err := fmt.Sscanf(string(content), "%s %d %s", &n.lineage, &n.seq, &n.hash); err != nil || n.String() != string(content) {
		return noted{}
	}
	return n
}

// lacks returns the number of the noted event, where the state does not have it. A note of another lineage is about a
// state that was here before.
func (n noted) lacks(ctx context.Context, conn *sql.Conn, h head) (int64, error) {
	if n.lineage != h.Lineage || n.seq == h.Serial && n.hash == h.Head {
		return 0, nil
	}
	var hash []byte
	err := conn.QueryRowContext(ctx, `SELECT hash FROM events WHERE seq = ?`, n.seq).Scan(&hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return n.seq, nil
	case err != nil:
		return 0, explain(err)
	case hex.EncodeToString(hash) != n.hash:
		return n.seq, nil
	}
	return 0, nil
}

// openNote opens the note of the state at path for writing, and makes it where there is none.
func openNote(path, lineage string) (*newestNote, error) {
	file, err := filelock.Open(notePath(path), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &newestNote{file, lineage}, nil
}

// write notes an event that is durable. Where that fails, the note names an earlier event, of which it is true as well.
// For the same reason nothing waits for the disk: the note is for a file that was changed, and not for a lost power.
func (n *newestNote) write(seq int64, hash string) {
	if n != nil {
		_, _ = n.file.WriteAt([]byte(noted{n.lineage, seq, hash}.String()), 0)
	}
}

func (n *newestNote) close() error {
	if n == nil {
		return nil
	}
	return n.file.Close()
}
