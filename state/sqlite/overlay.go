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

// loadRows hands the table's rows of the given ref_ids, in any number, to put.
func loadRows(ctx context.Context, conn *sql.Conn, refIDs []string, put func(storage.Row)) error {
	var scanner rowScanner
	return eachChunk(refIDs, func(list string) error {
		return query(ctx, conn, func(rows *sql.Rows) error {
			r, err := scanner.scan(rows)
			if err == nil {
				put(r)
			}
			return err
		}, `SELECT `+rowColumns+` FROM transfers WHERE ref_id IN (SELECT value FROM json_each(?))`, list)
	})
}

// eachChunk hands over the texts of lists, as JSON.
func eachChunk(texts []string, do func(list string) error) error {
	for part := range slices.Chunk(texts, chunk) {
		list, err := json.Marshal(part)
		if err != nil {
			panic(err) // a list of strings
		}
		if err := do(string(list)); err != nil {
			return err
		}
	}
	return nil
}

// loadOwners returns the ref_ids under which the table has records, by their ids: "" for
// those that it does not have.
func loadOwners(ctx context.Context, conn *sql.Conn, recordIDs []string) (map[string]string, error) {
	owners := make(map[string]string, len(recordIDs))
	for _, id := range recordIDs {
		owners[id] = ""
	}
	err := eachChunk(recordIDs, func(list string) error {
		return query(ctx, conn, func(rows *sql.Rows) error {
			var recordID, refID string
			err := rows.Scan(&recordID, &refID)
			owners[recordID] = refID
			return err
		}, `SELECT record_id, ref_id FROM transfers WHERE record_id IN (SELECT value FROM json_each(?))`, list)
	})
	return owners, err
}

// loadGroups returns the ref_ids that the table has with group_ids, the first and the last of each.
func loadGroups(ctx context.Context, conn *sql.Conn, groupIDs []string) (map[string][2]string, error) {
	owners := make(map[string][2]string)
	err := eachChunk(groupIDs, func(list string) error {
		return query(ctx, conn, func(rows *sql.Rows) error {
			var groupID string
			var refIDs [2]string
			err := rows.Scan(&groupID, &refIDs[0], &refIDs[1])
			owners[groupID] = refIDs
			return err
		}, `SELECT group_id, min(ref_id), max(ref_id) FROM transfers
			WHERE group_id IN (SELECT value FROM json_each(?)) AND group_id <> '' GROUP BY group_id`, list)
	})
	return owners, err
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
		var lines []storage.StoredEvent
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

func replayLines(ctx context.Context, conn *sql.Conn, tail *storage.Overlay, lines []storage.StoredEvent) error {
	var missing []string
	for _, l := range lines {
		if _, ok := tail.Rows[l.RefID]; !ok && l.RefID != "" {
			missing = append(missing, l.RefID)
		}
	}
	if err := loadRows(ctx, conn, missing, tail.Put); err != nil {
		return err
	}
	for _, l := range lines {
		r, _ := tail.Row(l.RefID)
		if l.RefID == "" || l.Seq <= r.Last {
			continue
		}
		next, err := storage.ApplyRow(r, l)
		if err != nil {
			return err
		}
		tail.Put(next)
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
