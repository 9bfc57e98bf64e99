package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"remit/state"
)

// Verify reads the whole state and returns what it says of itself, or the first thing that
// is wrong:
//
//   - what SQLite's own check finds, wrapped around [state.ErrDamaged];
//   - a break of the journal's chain, or a head that it does not have, as [state.Verify]
//     names it;
//   - a row, a run or the state's word on itself that is not what the journal makes of it,
//     wrapped around [state.ErrDamaged].
//
// It writes nothing and holds every row in memory.
func (s *Store) Verify(ctx context.Context, head string) (state.Meta, error) {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return state.Meta{}, fmt.Errorf("verify state %s: %w", s.path, err)
	}
	err = errors.Join(snap.verify(ctx, head), snap.Close())
	if err != nil {
		return state.Meta{}, fmt.Errorf("verify state %s: %w", s.path, err)
	}
	return snap.head.Meta, nil
}

func (s *snapshot) verify(ctx context.Context, head string) error {
	var complaints []string
	err := query(ctx, s.conn, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		complaints = append(complaints, text)
		return err
	}, `PRAGMA integrity_check(20)`)
	if err != nil {
		return err
	}
	if !slices.Equal(complaints, []string{"ok"}) {
		return fmt.Errorf("%w: %s", state.ErrDamaged, strings.Join(complaints, "; "))
	}
	again := refold{rows: make(map[string]row), runs: make(map[string]state.Run)}
	if err := state.Verify(again.through(s.lines(ctx)), head); err != nil {
		return err
	}
	if again.err != nil {
		return fmt.Errorf("%w: %w", state.ErrDamaged, again.err)
	}
	return s.compare(ctx, again)
}

func (s *snapshot) lines(ctx context.Context) iter.Seq2[line, error] {
	return linesFrom(ctx, s.conn, 1)
}

// linesFrom yields the journal from the event first on.
func linesFrom(ctx context.Context, conn *sql.Conn, first int64) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		stream(ctx, conn, yield, scanEvent, `SELECT `+eventColumns+` FROM events WHERE seq >= ? ORDER BY seq`, first)
	}
}

// refold is what the journal makes of a state, from its first event on.
type refold struct {
	meta state.Meta
	rows map[string]row
	runs map[string]state.Run
	err  error // of the first event that broke a rule
}

// through applies each line as it passes, so that the chain is checked before it is used.
func (f *refold) through(lines iter.Seq2[line, error]) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for l, err := range lines {
			if !yield(l.Event, err) {
				return
			}
			if err == nil && f.err == nil {
				f.err = f.apply(l)
			}
		}
	}
}

func (f *refold) apply(l line) error {
	draft, err := l.Draft()
	if err != nil {
		return err
	}
	if f.meta, err = f.meta.Apply(draft, l.Seq, l.Time); err != nil {
		return fmt.Errorf("event %d breaks a rule: %w", l.Seq, err)
	}
	f.meta.Head = l.Hash
	if l.previous != f.rows[l.RefID].last {
		return fmt.Errorf("event %d names event %d as the one before it of its ref_id, which is %d", l.Seq, l.previous, f.rows[l.RefID].last)
	}
	switch l.Kind {
	case state.KindIntent, state.KindOutcome:
		t, err := f.rows[l.RefID].Apply(draft, l.Seq, l.Time)
		if err != nil {
			return fmt.Errorf("event %d breaks a rule: %w", l.Seq, err)
		}
		f.rows[l.RefID] = row{t, l.Seq}
	case state.KindBegun, state.KindEnded:
		if f.runs[l.RunID], err = f.runs[l.RunID].Apply(draft, l.Time); err != nil {
			return fmt.Errorf("event %d breaks a rule: %w", l.Seq, err)
		}
	case state.KindCreated, state.KindUnlocked, state.KindRebound:
	}
	return nil
}

// compare holds what is stored against what the journal makes of it.
func (s *snapshot) compare(ctx context.Context, want refold) error {
	want.meta.Fence = s.head.Fence // the lock's own, in no event
	if s.head.Meta != want.meta {
		return fmt.Errorf("what the state says of itself is not what its journal makes of it: %w", state.ErrDamaged)
	}
	for r, err := range s.allRows(ctx) {
		if err != nil {
			return err
		}
		if r != want.rows[r.RefID] {
			return fmt.Errorf("the row of ref_id %q is not what its events make of it: %w", r.RefID, state.ErrDamaged)
		}
		delete(want.rows, r.RefID)
	}
	if missing := slices.Sorted(maps.Keys(want.rows)); len(missing) > 0 {
		return fmt.Errorf("the row of ref_id %q is missing: %w", missing[0], state.ErrDamaged)
	}
	runs, err := s.allRuns(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if !reflect.DeepEqual(run, want.runs[run.Begun.RunID]) {
			return fmt.Errorf("run %q is not what its events make of it: %w", run.Begun.RunID, state.ErrDamaged)
		}
		delete(want.runs, run.Begun.RunID)
	}
	if missing := slices.Sorted(maps.Keys(want.runs)); len(missing) > 0 {
		return fmt.Errorf("run %q is missing: %w", missing[0], state.ErrDamaged)
	}
	return nil
}
