package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"remit/state/storage"
)

// foldLot is how many rows one transaction folds at most when nothing else is to be done.
const foldLot = 4096

// folding is a fold under way: rows that changed up to an event, on their way into the
// table transfers. They go there in the order of ref_id, a part with each commit, because a
// whole fold would hold the callers up; each row says by its last event how far it is, so a
// crash between two parts leaves nothing wrong.
type folding struct {
	rows  *storage.Overlay
	order []string // their ref_ids, sorted
	done  int      // how many of order are in the table
	upTo  int64    // the event at which the rows were frozen
}

// freeze begins a fold of all rows that changed. None may be under way.
func (j *journal) freeze() {
	j.rows.Under = nil
	j.folding = &folding{rows: j.rows, order: j.rows.Sorted(), upTo: j.head.Serial}
	j.rows = storage.NewOverlay(j.folding.rows)
}

// foldSome writes the next rows, at most n, of the fold under way within a transaction, and
// returns how many. With the last one the fold is marked as done.
func (j *journal) foldSome(ctx context.Context, n int) (int, error) {
	f := j.folding
	if f == nil {
		return 0, nil
	}
	part := f.order[f.done:min(f.done+n, len(f.order))]
	err := j.fold.run(ctx, j.conn, func(exec func([]driver.Value) error) error {
		var values []driver.Value
		for _, refID := range part {
			values = appendRow(values[:0], f.rows.Rows[refID])
			if err := exec(values); err != nil {
				return fmt.Errorf("fold ref_id %q: %w", refID, err)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if f.done+len(part) < len(f.order) {
		return len(part), nil
	}
	_, err = j.conn.ExecContext(ctx, `UPDATE meta SET folded = ?`, f.upTo)
	return len(part), err
}

// folded takes note that n more rows are durable in the table.
func (j *journal) folded(n int) {
	f := j.folding
	if f == nil {
		return
	}
	f.done += n
	if f.done == len(f.order) {
		j.head.folded = f.upTo
		j.rows.Under = nil
		j.folding = nil
	}
}

// foldAll folds everything, in transactions of at most foldLot rows.
func (j *journal) foldAll() error {
	ctx := context.Background()
	for j.folding != nil || j.head.folded < j.head.Serial {
		if j.folding == nil {
			j.freeze()
		}
		var n int
		if err := j.unharmed(); err != nil {
			return err
		}
		err := immediately(ctx, j.conn, func() error {
			err := j.checkFence(ctx)
			if err == nil {
				n, err = j.foldSome(ctx, j.room.foldsAtOnce())
			}
			return err
		})
		if err != nil {
			return err
		}
		j.folded(n)
	}
	return nil
}
