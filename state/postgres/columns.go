package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/storage"
)

// columns are those of one row of an answer, in PostgreSQL's binary format, in which the driver
// asks for all types but text, whose two formats are the same; they are read one after the
// other. The driver's own way, through reflection, costs several times as much, which
// shows with a million rows.
type columns struct {
	raw [][]byte
	at  int
	err error // of the first column that is not what it should be
}

// readAll hands each row of a statement's answer to each. It returns when all were read, so
// that the connection is free.
func readAll(ctx context.Context, conn *pgx.Conn, each func(*columns) error, text string, args ...any) error {
	rows, err := conn.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return readRows(rows, each)
}

func readRows(rows pgx.Rows, each func(*columns) error) error {
	for rows.Next() {
		if err := each(&columns{raw: rows.RawValues()}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// damage says that the read bytes differ from the written ones; nil where they agree.
func (c *columns) damage(what string, which any) error {
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("read %s %v: %w: %w", what, which, state.ErrDamaged, c.err)
}

func (c *columns) next() []byte {
	if c.at >= len(c.raw) {
		c.fail("it has %d columns", len(c.raw))
		return nil
	}
	c.at++
	return c.raw[c.at-1]
}

func (c *columns) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("column %d: "+format, append([]any{c.at}, args...)...)
	}
}

// sized returns a column of n bytes; zeroes where it has another length.
func (c *columns) sized(n int) []byte {
	raw := c.next()
	if len(raw) != n {
		c.fail("it has %d bytes instead of %d", len(raw), n)
		return make([]byte, n)
	}
	return raw
}

// bytes returns bytes; none for null.
func (c *columns) bytes() []byte { return bytes.Clone(c.next()) }

// text returns a text or bytes; "" for null.
func (c *columns) text() string { return string(c.next()) }

// interned returns a text or bytes that repeat from row to row.
func (c *columns) interned(t *storage.Texts) string { return t.InternBytes(c.next()) }

func (c *columns) digest(into []byte) { copy(into, c.sized(len(into))) }

func (c *columns) boolean() bool { return c.sized(1)[0] != 0 }

func (c *columns) small() int16 { return int16(binary.BigEndian.Uint16(c.sized(2))) }

func (c *columns) status() state.Status {
	n := c.small()
	status, isStatus := state.StatusOf(int64(n))
	if !isStatus {
		c.fail("there is no status %d", n)
	}
	return status
}

func (c *columns) number() int64 { return int64(binary.BigEndian.Uint64(c.sized(8))) }

// time reads milliseconds since 1970, or null for the zero time.
func (c *columns) time() time.Time {
	if c.at < len(c.raw) && c.raw[c.at] == nil {
		c.at++
		return time.Time{}
	}
	return time.UnixMilli(c.number()).UTC()
}

func (c *columns) amount() transfer.Amount {
	amount, err := transfer.ParseAmount(c.text())
	if err != nil {
		c.fail("%w", err)
	}
	return amount
}
