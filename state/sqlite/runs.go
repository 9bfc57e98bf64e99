package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"remit/state"
	"remit/state/storage"
)

// writeRun notes where a run begins, or ends, in the journal.
func writeRun(ctx context.Context, conn *sql.Conn, l storage.StoredEvent) error {
	text := `INSERT INTO runs (begun_seq, run_id) VALUES (?, ?)`
	if l.Kind == state.KindEnded {
		text = `UPDATE runs SET ended_seq = ? WHERE run_id = ?`
	}
	if _, err := conn.ExecContext(ctx, text, l.Seq, l.RunID); err != nil {
		return fmt.Errorf("note event %d of run %q: %w", l.Seq, l.RunID, err)
	}
	return nil
}

// readRun returns one run, the zero Run where the state does not know it.
func readRun(ctx context.Context, conn *sql.Conn, runID string) (state.Run, error) {
	var run state.Run
	err := query(ctx, conn, func(rows *sql.Rows) error {
		l, err := scanEvent(rows)
		if err == nil {
			run, err = storage.ApplyRun(run, l)
		}
		return err
	}, `SELECT `+eventColumns+` FROM events WHERE seq IN (
			SELECT begun_seq FROM runs WHERE run_id = ?1 UNION SELECT ended_seq FROM runs WHERE run_id = ?1)
		ORDER BY seq`, runID)
	return run, err
}

// Runs implements [state.Snapshot].
func (s *snapshot) Runs(ctx context.Context) iter.Seq2[state.Run, error] {
	return storage.NewestFirst(func() ([]state.Run, error) { return s.allRuns(ctx) })
}

func (s *snapshot) allRuns(ctx context.Context) ([]state.Run, error) {
	return storage.Runs(func(yield func(storage.StoredEvent, error) bool) {
		stream(ctx, s.conn, yield, scanEvent, `SELECT `+eventColumns+` FROM events WHERE seq IN (
			SELECT begun_seq FROM runs UNION SELECT ended_seq FROM runs)
		ORDER BY seq`)
	})
}

// Jumps implements [state.Snapshot]. A state of a schema that has no list of them kept times that
// never go back.
func (s *snapshot) Jumps(ctx context.Context) iter.Seq2[state.Jump, error] {
	return func(yield func(state.Jump, error) bool) {
		isListed, err := s.keepsClocks(ctx)
		if err != nil {
			yield(state.Jump{}, err)
			return
		}
		if !isListed {
			return
		}
		stream(ctx, s.conn, yield, scanJump, `SELECT seq, kind, time_ms, back_ms,
			seq <= ifnull((SELECT max(seq) FROM events WHERE kind = 'clock'), 0)
			FROM jumps JOIN events USING (seq) ORDER BY seq DESC`)
	}
}

// keepsClocks reports whether the schema is one that knows of wrong clocks.
func (s *snapshot) keepsClocks(ctx context.Context) (bool, error) {
	var is bool
	err := s.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'jumps')`).Scan(&is)
	return is, explain(err)
}

// Clocks implements [state.Snapshot].
func (s *snapshot) Clocks(ctx context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		switch areKept, err := s.keepsClocks(ctx); {
		case err != nil:
			yield(state.Event{}, err)
			return
		case !areKept:
			return
		}
		one := func(l storage.StoredEvent, err error) bool { return yield(l.Event, err) }
		stream(ctx, s.conn, one, scanEvent, `SELECT `+eventColumns+` FROM events WHERE kind = 'clock' ORDER BY seq DESC`)
	}
}

// isTold finds the outcomes by a person's word, in the very terms of their index. A schema without that is read through.
const isTold = `kind = 'outcome' AND run_id = '' AND instr(data, '"source":"person"') > 0`

// Told implements [state.Snapshot].
func (s *snapshot) Told(ctx context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		one := func(l storage.StoredEvent, err error) bool { return yield(l.Event, err) }
		stream(ctx, s.conn, one, scanEvent, `SELECT `+eventColumns+` FROM events WHERE `+isTold+` ORDER BY seq DESC`)
	}
}

func scanJump(rows *sql.Rows) (state.Jump, error) {
	var jump state.Jump
	var at, back int64
	if err := rows.Scan(&jump.Seq, &jump.Kind, &at, &back, &jump.Settled); err != nil {
		return state.Jump{}, fmt.Errorf("read a jump of the clock: %w", err)
	}
	jump.At, jump.Back = time.UnixMilli(at).UTC(), time.Duration(back)*time.Millisecond
	return jump, nil
}
