package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"remit/state"
)

// next makes the event of draft after h: numbered, dated, never earlier than the one before
// it, and chained.
func (h head) next(draft state.Draft, now time.Time) state.Event {
	refID, runID := draft.Entry.Subject()
	e := state.Event{
		Seq: h.Serial + 1, Time: now.UTC().Truncate(time.Millisecond),
		Kind: draft.Entry.Kind(), RefID: refID, RunID: runID, Data: draft.Data,
	}
	if e.Time.Before(h.at) {
		e.Time = h.at
	}
	e.Hash = e.Chain(h.Head)
	return e
}

// stage is what a commit is about to change. Nothing of it counts before the commit.
type stage struct {
	head  head
	rows  *overlay
	runs  map[string]state.Run
	lines []line
	undo  []undo // of the call that is being taken
}

// undo is a row or a run as it was before a call.
type undo struct {
	refID, runID string
	row          row
	run          state.Run
	known        bool   // there was one in the stage
	recordID     string // that the call stored
}

// put changes a row of the stage.
func (s *stage) put(r row) {
	before, known := s.rows.rows[r.RefID]
	u := undo{refID: r.RefID, known: known}
	if known {
		u.row = *before
	}
	if _, stored := s.rows.records[r.RecordID]; !stored {
		u.recordID = r.RecordID
	}
	s.undo = append(s.undo, u)
	s.rows.put(r)
}

// putRun changes a run of the stage.
func (s *stage) putRun(runID string, run state.Run) {
	before, known := s.runs[runID]
	s.undo = append(s.undo, undo{runID: runID, run: before, known: known})
	s.runs[runID] = run
}

// revert takes back what a call changed.
func (s *stage) revert(to head, lines int) {
	s.head, s.lines = to, s.lines[:lines]
	for _, u := range slices.Backward(s.undo) {
		switch {
		case u.runID != "" && u.known:
			s.runs[u.runID] = u.run
		case u.runID != "":
			delete(s.runs, u.runID)
		case u.known:
			s.rows.rows[u.refID] = &u.row
		default:
			delete(s.rows.rows, u.refID)
		}
		delete(s.rows.records, u.recordID)
	}
}

// commit writes what it can of the calls in one transaction and answers each of them: with
// its own error where it breaks a rule, which changes nothing for the others.
func (j *journal) commit(calls []*call) {
	j.mu.RLock()
	broken := j.broken
	j.mu.RUnlock()
	var answers []error
	if broken == nil {
		answers, broken = j.transact(calls)
		if broken != nil {
			j.mu.Lock()
			j.broken = broken
			j.mu.Unlock()
		}
	}
	for i, c := range calls {
		switch {
		case broken != nil && (answers == nil || answers[i] == nil):
			c.done <- broken
		default:
			c.done <- answers[i]
		}
	}
}

// transact returns an error for each call, nil for those that are durable. Where the second
// result is not nil, the calls without an error of their own may or may not be durable.
func (j *journal) transact(calls []*call) ([]error, error) {
	if err := j.store.sameFile(); err != nil {
		return nil, err
	}
	ctx := context.Background()
	answers := make([]error, len(calls))
	var all stage
	var folded int
	err := immediately(ctx, j.conn, func() error {
		if err := j.checkFence(ctx); err != nil {
			return err
		}
		loaded, err := j.load(ctx, calls)
		if err != nil {
			return err
		}
		all = stage{head: j.head, rows: newOverlay(loaded), runs: make(map[string]state.Run)}
		for i, c := range calls {
			answers[i], err = j.take(ctx, &all, c)
			if err != nil {
				return err
			}
		}
		if err := j.write(ctx, all); err != nil {
			return err
		}
		folded, err = j.foldSome(ctx, max(j.store.pace.step, 2*len(all.lines)))
		return err
	})
	if err != nil {
		return answers, err
	}
	j.adopt(all, folded)
	return answers, nil
}

// write puts the lines of a stage into the transaction.
func (j *journal) write(ctx context.Context, all stage) error {
	for _, l := range all.lines {
		if _, err := j.insert.ExecContext(ctx, l.arguments()...); err != nil {
			return fmt.Errorf("write event %d: %w", l.Seq, err)
		}
		if l.Kind == state.KindBegun || l.Kind == state.KindEnded {
			if err := writeRun(ctx, j.conn, l); err != nil {
				return err
			}
		}
	}
	if all.head.Service != j.head.Service {
		return updateService(ctx, j.conn, all.head.Service)
	}
	return nil
}

func (j *journal) checkFence(ctx context.Context) error {
	var fence int64
	if err := j.fenced.QueryRowContext(ctx).Scan(&fence); err != nil {
		return err
	}
	if fence != j.fence {
		return state.ErrFenced
	}
	return nil
}

// load returns the newest rows of all ref_ids of the calls: those of the table under those
// that are not folded yet.
func (j *journal) load(ctx context.Context, calls []*call) (*overlay, error) {
	bottom := j.rows
	if j.folding != nil {
		bottom = j.folding.rows
	}
	bottom.under = nil // what an earlier commit read may have been folded since
	var missing []string
	for _, c := range calls {
		for _, d := range c.drafts {
			refID, _ := d.Entry.Subject()
			if _, ok := j.rows.row(refID); !ok && refID != "" {
				missing = append(missing, refID)
			}
		}
	}
	bottom.under = newOverlay(nil)
	return j.rows, loadRows(ctx, j.conn, missing, bottom.under)
}

// take applies a call to all: whole, or not at all where it returns an answer. The second
// error is the storage's.
func (j *journal) take(ctx context.Context, all *stage, c *call) (answer, err error) {
	if err := c.ctx.Err(); err != nil {
		return err, nil //nolint:nilerr // the caller's context is the caller's business
	}
	all.undo = all.undo[:0]
	before, lines := all.head, len(all.lines)
	for _, d := range c.drafts {
		answer, err := j.apply(ctx, all, d)
		if answer != nil || err != nil {
			all.revert(before, lines)
			return answer, err
		}
	}
	return nil, nil
}

// apply applies one entry to a stage.
func (j *journal) apply(ctx context.Context, own *stage, d state.Draft) (answer, err error) {
	l := line{Event: own.head.next(d, j.store.now())}
	meta, answer := own.head.Apply(d, l.Seq, l.Time)
	if answer != nil {
		return answer, nil
	}
	switch d.Entry.(type) {
	case state.Intent, state.Outcome:
		r, _ := own.rows.row(l.RefID)
		next, answer := r.Apply(d, l.Seq, l.Time)
		if answer != nil {
			return answer, nil
		}
		if next.RecordID != r.RecordID {
			answer, err := j.checkRecord(ctx, own.rows, next)
			if answer != nil || err != nil {
				return answer, err
			}
		}
		l.previous = r.last
		own.put(row{next, l.Seq})
	case state.Begun, state.Ended:
		run, err := j.findRun(ctx, own, l.RunID)
		if err != nil {
			return nil, err
		}
		if run, answer = run.Apply(d, l.Time); answer != nil {
			return answer, nil
		}
		own.putRun(l.RunID, run)
	case state.Created, state.Unlocked, state.Rebound:
	}
	meta.Head = l.Hash
	own.head.Meta, own.head.at = meta, l.Time
	own.lines = append(own.lines, l)
	return nil, nil
}

// checkRecord answers with a *DuplicateRecordError where the record of t is another's.
func (j *journal) checkRecord(ctx context.Context, rows *overlay, t state.Transfer) (answer, err error) {
	refID, ok := rows.owner(t.RecordID)
	if !ok {
		err := j.owner.QueryRowContext(ctx, t.RecordID).Scan(&refID)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if refID == t.RefID {
		return nil, nil
	}
	return fmt.Errorf("record outcome of %q: %w", t.RefID, &state.DuplicateRecordError{RecordID: t.RecordID, RefID: refID}), nil
}

// findRun returns a run as far as it is known: from this commit, this lock, or the journal.
func (j *journal) findRun(ctx context.Context, own *stage, runID string) (state.Run, error) {
	for _, runs := range []map[string]state.Run{own.runs, j.runs} {
		if run, ok := runs[runID]; ok {
			return run, nil
		}
	}
	return readRun(ctx, j.conn, runID)
}

// adopt takes over what a commit made durable.
func (j *journal) adopt(all stage, folded int) {
	all.head.folded = j.head.folded
	j.head = all.head
	j.rows.absorb(all.rows)
	maps.Copy(j.runs, all.runs)
	j.folded(folded)
	if j.folding == nil && len(j.rows.rows) >= j.store.pace.at {
		j.freeze()
	}
}
