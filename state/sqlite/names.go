package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"iter"

	"remit/state"
	"remit/state/storage"
)

// schemaNames is the first schema that has display names.
const schemaNames = 6

const insertNameSQL = `INSERT INTO names (seq, ref_id, name) VALUES (?, ?, ?)`

// writeNames puts what a stage says of names into the transaction.
func (j *journal) writeNames(ctx context.Context, all *storage.Stage) error {
	if all.Erased {
		// Pages that are let go of are overwritten at once.
		if _, err := j.conn.ExecContext(ctx, `PRAGMA secure_delete = ON; DELETE FROM names`); err != nil {
			return fmt.Errorf("remove the display names: %w", err)
		}
	}
	if len(all.Names) == 0 {
		return nil
	}
	insert := direct{text: insertNameSQL}
	err := insert.run(ctx, j.conn, func(exec func([]driver.Value) error) error {
		for _, n := range all.Names {
			if err := exec([]driver.Value{n.Seq, n.RefID, n.Text}); err != nil {
				return fmt.Errorf("write the display name of %q: %w", n.RefID, err)
			}
		}
		return nil
	})
	if closing := insert.close(j.conn); err == nil {
		err = closing
	}
	return err
}

// receiveNames writes the names of another state.
func receiveNames(ctx context.Context, conn *sql.Conn, names iter.Seq2[state.Name, error]) error {
	for n, err := range names {
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, insertNameSQL, n.Seq, n.RefID, n.Text); err != nil {
			return fmt.Errorf("write the display name of %q: %w", n.RefID, err)
		}
	}
	return nil
}

// CountNames implements [storage.Stored].
func (s stored) CountNames() (int, error) {
	var count int
	err := s.conn.QueryRowContext(context.Background(), `SELECT count(*) FROM names`).Scan(&count)
	return count, err
}

// Names implements [state.Snapshot].
func (s *snapshot) Names(ctx context.Context) iter.Seq2[state.Name, error] {
	return func(yield func(state.Name, error) bool) {
		if s.version < schemaNames {
			return
		}
		stream(ctx, s.conn, yield, func(rows *sql.Rows) (state.Name, error) {
			var n state.Name
			err := rows.Scan(&n.Seq, &n.RefID, &n.Text)
			return n, err
		}, `SELECT seq, ref_id, name FROM names ORDER BY seq`)
	}
}

// nameDetails gives details their names.
func (s *snapshot) nameDetails(ctx context.Context, details []state.Detail) error {
	hasNames, err := s.hasNames(ctx)
	if err != nil || !hasNames {
		return err
	}
	bySeq := make(map[int64]*state.Detail, len(details))
	seqs := make([]int64, 0, len(details))
	for i := range details {
		bySeq[details[i].IntentSeq] = &details[i]
		seqs = append(seqs, details[i].IntentSeq)
	}
	list, err := json.Marshal(seqs)
	if err != nil {
		panic(err) // a list of numbers
	}
	return query(ctx, s.conn, func(rows *sql.Rows) error {
		var seq int64
		var name string
		err := rows.Scan(&seq, &name)
		bySeq[seq].Intent.DisplayName = name
		return err
	}, `SELECT seq, name FROM names WHERE seq IN (SELECT value FROM json_each(?))`, string(list))
}

// hasNames asks once whether there is any name: most states have none.
func (s *snapshot) hasNames(ctx context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == nil && s.version >= schemaNames {
		var has bool
		if err := s.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM names)`).Scan(&has); err != nil {
			return false, explain(err)
		}
		s.named = &has
	}
	return s.named != nil && *s.named, nil
}

var _ state.Scrubber = (*journal)(nil)

// Scrub implements [state.Scrubber]: the file is written anew, without its free pages, and its
// write-ahead log is cut.
func (j *journal) Scrub(ctx context.Context) error {
	if err := j.scrub(ctx); err != nil {
		return fmt.Errorf("scrub state %s: %w", j.store.path, explain(err))
	}
	return nil
}

func (j *journal) scrub(ctx context.Context) error {
	if err := j.Check(ctx); err != nil {
		return err
	}
	// Not in memory: the state may be larger than that. The copy is a file without a name, and it is made
	// of the rest.
	if _, err := j.conn.ExecContext(ctx, `PRAGMA secure_delete = ON; PRAGMA temp_store = FILE; VACUUM`); err != nil {
		return err
	}
	var busy, inLog, moved int
	if err := j.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &inLog, &moved); err != nil {
		return err
	}
	// The files are smaller than they were, by this very process.
	j.store.size.max.Store(0)
	for i := range j.sides.sizes {
		j.sides.sizes[i].max.Store(0)
	}
	if busy != 0 {
		return fmt.Errorf("its write-ahead log still has them while somebody reads the state: %w", state.ErrBusy)
	}
	return nil
}
