package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"

	"remit/state"
	"remit/state/storage"
)

// commit returns an error for each call, nil for those that are durable. Where the second
// result is not nil, the calls without an error of their own may or may not be durable.
func (j *journal) commit(calls []*storage.Call) ([]error, error) {
	ctx := context.Background()
	var answers []error
	var all *storage.Stage
	var folded int
	err := immediately(ctx, j.conn, func() error {
		if err := j.checkFence(ctx); err != nil {
			return err
		}
		loaded, err := j.load(ctx, calls)
		if err != nil {
			return err
		}
		all = storage.NewStage(j.head.Tip, loaded, stored{j}, j.store.now)
		if answers, err = all.TakeAll(calls); err != nil {
			return err
		}
		if err := j.write(ctx, all); err != nil {
			return err
		}
		folded, err = j.foldSome(ctx, max(j.store.pace.step, 2*len(all.Events)))
		return err
	})
	if harm := j.unharmed(); harm != nil { // durable events are gone; what SQLite makes of the file says less
		err = harm
	}
	if err != nil {
		return answers, err
	}
	j.adopt(all, folded)
	j.noteNewest(slices.ContainsFunc(all.Events, func(e storage.StoredEvent) bool { return e.Kind == state.KindIntent }))
	return answers, nil
}

// write puts the lines of a stage into the transaction.
func (j *journal) write(ctx context.Context, all *storage.Stage) error {
	err := j.insert.run(ctx, j.conn, func(exec func([]driver.Value) error) error {
		var values []driver.Value
		for i := range all.Events {
			l := &all.Events[i]
			values = appendLine(values[:0], l)
			if err := exec(values); err != nil {
				return fmt.Errorf("write event %d: %w", l.Seq, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range all.Events {
		if l.Kind == state.KindBegun || l.Kind == state.KindEnded {
			if err := writeRun(ctx, j.conn, l); err != nil {
				return err
			}
		}
	}
	if err := j.writeNames(ctx, all); err != nil {
		return err
	}
	if all.Tip.Service != j.head.Service || all.Tip.Environment != j.head.Environment {
		return updateBinding(ctx, j.conn, all.Tip.Meta)
	}
	return nil
}

func (j *journal) checkFence(ctx context.Context) error {
	var fence int64
	if err := j.conn.QueryRowContext(ctx, `SELECT fence FROM meta`).Scan(&fence); err != nil {
		return err
	}
	if fence != j.lock.fence {
		return j.taken(ctx, j.conn)
	}
	return nil
}

// load returns the newest rows of all ref_ids of the calls: those of the table under those
// that are not folded yet. It reads who has the records and the group_ids that the calls
// store, too.
func (j *journal) load(ctx context.Context, calls []*storage.Call) (*storage.Overlay, error) {
	bottom := j.rows
	if j.folding != nil {
		bottom = j.folding.rows
	}
	bottom.Under = nil // what an earlier commit read may have been folded since
	var missing, records, groups []string
	for _, c := range calls {
		for _, d := range c.Drafts {
			refID, _ := d.Entry.Subject()
			if _, ok := j.rows.Row(refID); !ok && refID != "" {
				missing = append(missing, refID)
			}
			if id := d.RecordID(); id != "" {
				records = append(records, id)
			}
			if groupID := d.ClaimsGroup(); groupID != "" {
				groups = append(groups, groupID)
			}
		}
	}
	bottom.Under = storage.NewOverlay(nil)
	if err := loadRows(ctx, j.conn, missing, bottom.Under.Put); err != nil {
		return nil, err
	}
	var err error
	if j.owners, err = loadOwners(ctx, j.conn, records); err != nil {
		return nil, err
	}
	j.groups, err = loadGroups(ctx, j.conn, groups)
	return j.rows, err
}

// stored is the journal's connection, in the transaction of a commit.
type stored struct{ *journal }

// Owner implements [storage.Stored].
func (s stored) Owner(recordID string) (string, error) {
	refID, known := s.owners[recordID]
	if !known {
		panic(fmt.Sprintf("sqlite: a commit stores the record %q, which no entry of it has", recordID))
	}
	return refID, nil
}

// GroupOwners implements [storage.Stored].
func (s stored) GroupOwners(groupID string) ([2]string, error) { return s.groups[groupID], nil }

// Run implements [storage.Stored]. It returns a run as far as it is known, from this lock or
// the journal.
func (s stored) Run(runID string) (state.Run, error) {
	if run, ok := s.runs[runID]; ok {
		return run, nil
	}
	return readRun(context.Background(), s.conn, runID)
}

// adopt takes over what a commit made durable.
func (j *journal) adopt(all *storage.Stage, folded int) {
	j.head.Tip = all.Tip
	j.rows.Absorb(all.Rows)
	maps.Copy(j.runs, all.Runs)
	j.folded(folded)
	j.room.follow(all.Events)
	if j.folding == nil && len(j.rows.Rows) >= j.store.pace.at {
		j.freeze()
	}
}
