package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"remit/state"
)

// overlay are rows that are newer than those below it, by ref_id. The lowest overlay lies
// on the table transfers.
type overlay struct {
	under   *overlay          // nil for the lowest
	rows    map[string]*row   // a row is not changed once it is there
	records map[string]string // the ref_id of each record of rows, by its id
}

func newOverlay(under *overlay) *overlay {
	return &overlay{under: under, rows: make(map[string]*row), records: make(map[string]string)}
}

// row returns the newest row of a ref_id, if one of the overlays has it.
func (o *overlay) row(refID string) (row, bool) {
	for ; o != nil; o = o.under {
		if r, ok := o.rows[refID]; ok {
			return *r, true
		}
	}
	return row{}, false
}

// owner returns the ref_id under which a record is stored, if one of the overlays knows. A
// stored record never leaves its ref_id, so any overlay may say so.
func (o *overlay) owner(recordID string) (string, bool) {
	for ; o != nil; o = o.under {
		if refID, ok := o.records[recordID]; ok {
			return refID, true
		}
	}
	return "", false
}

func (o *overlay) put(r row) {
	o.rows[r.RefID] = &r
	if r.RecordID != "" {
		o.records[r.RecordID] = r.RefID
	}
}

// absorb takes the rows of a newer overlay over.
func (o *overlay) absorb(newer *overlay) {
	maps.Copy(o.rows, newer.rows)
	maps.Copy(o.records, newer.records)
}

// sorted returns the ref_ids in byte order.
func (o *overlay) sorted() []string { return slices.Sorted(maps.Keys(o.rows)) }

// chunk is how many ref_ids or events one statement asks for, or one pass of a replay reads.
const chunk = 512

// loadRows puts the table's rows of the given ref_ids, in any number, into o.
func loadRows(ctx context.Context, conn *sql.Conn, refIDs []string, o *overlay) error {
	var scanner rowScanner
	for part := range slices.Chunk(refIDs, chunk) {
		list, err := json.Marshal(part)
		if err != nil {
			panic(err) // a list of strings
		}
		err = query(ctx, conn, func(rows *sql.Rows) error {
			r, err := scanner.scan(rows)
			if err == nil {
				o.put(r)
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
func replay(ctx context.Context, conn *sql.Conn, h head) (*overlay, error) {
	tail := newOverlay(nil)
	for from := h.folded; from < h.Serial; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var lines []line
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

func replayLines(ctx context.Context, conn *sql.Conn, tail *overlay, lines []line) error {
	var missing []string
	for _, l := range lines {
		if _, ok := tail.rows[l.RefID]; !ok && l.RefID != "" {
			missing = append(missing, l.RefID)
		}
	}
	if err := loadRows(ctx, conn, missing, tail); err != nil {
		return err
	}
	for _, l := range lines {
		r, _ := tail.row(l.RefID)
		if l.RefID == "" || l.Seq <= r.last {
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
		tail.put(row{next, l.Seq})
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
