package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"remit/state"
	"remit/state/storage"
)

// chunk is how many ref_ids or events one statement asks for, or one pass of a replay reads.
const chunk = 512

// loadRows puts the table's rows of the given ref_ids, in any number, into o.
func loadRows(ctx context.Context, conn *sql.Conn, refIDs []string, o *storage.Overlay) error {
	var scanner rowScanner
	for part := range slices.Chunk(refIDs, chunk) {
		list, err := json.Marshal(part)
		if err != nil {
			panic(err) // a list of strings
		}
		err = query(ctx, conn, func(rows *sql.Rows) error {
			r, err := scanner.scan(rows)
			if err == nil {
				o.Put(r)
			}
			return err
		}, `SELECT `+rowColumns+` FROM transfers WHERE ref_id IN (SELECT value FROM json_each(?))`, string(list))
		if err != nil {
			return err
		}
	}
	return nil
}

// replay returns the rows that the events after h.folded change, as they are at h. Some of
// these events may be in the table's rows already, since rows are folded a part at a time:
// each row says how far it is.
func replay(ctx context.Context, conn *sql.Conn, h head) (*storage.Overlay, error) {
	tail := storage.NewOverlay(nil)
	for from := h.folded; from < h.Serial; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var lines []storage.Line
		err := query(ctx, conn, func(rows *sql.Rows) error {
			l, err := scanEvent(rows)
			lines = append(lines, l)
			return err
		}, `SELECT `+eventColumns+` FROM events WHERE seq > ? ORDER BY seq LIMIT ?`, from, chunk)
		if err != nil {
			return nil, err
		}
		if len(lines) == 0 {
			return nil, fmt.Errorf("event %d is missing: %w", from+1, state.ErrDamaged)
		}
		if err := replayLines(ctx, conn, tail, lines); err != nil {
			return nil, err
		}
		from = lines[len(lines)-1].Seq
	}
	return tail, nil
}

func replayLines(ctx context.Context, conn *sql.Conn, tail *storage.Overlay, lines []storage.Line) error {
	var missing []string
	for _, l := range lines {
		if _, ok := tail.Rows[l.RefID]; !ok && l.RefID != "" {
			missing = append(missing, l.RefID)
		}
	}
	if err := loadRows(ctx, conn, missing, tail); err != nil {
		return err
	}
	for _, l := range lines {
		r, _ := tail.Row(l.RefID)
		if l.RefID == "" || l.Seq <= r.Last {
			continue
		}
		draft, err := l.Draft()
		if err != nil {
			return fmt.Errorf("%w: %w", state.ErrDamaged, err)
		}
		next, err := r.Apply(draft, l.Seq, l.Time)
		if err != nil {
			return fmt.Errorf("event %d breaks a rule: %w: %w", l.Seq, state.ErrDamaged, err)
		}
		tail.Put(storage.Row{Transfer: next, Last: l.Seq})
	}
	return nil
}

// query runs a statement to its end and hands each row to each. It is not interrupted by
// ctx: the driver would interrupt every statement of the connection.
func query(ctx context.Context, conn *sql.Conn, each func(*sql.Rows) error, text string, args ...any) error {
	rows, err := conn.QueryContext(context.WithoutCancel(ctx), text, args...)
	if err != nil {
		return explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return explain(errors.Join(rows.Err(), rows.Close()))
}
