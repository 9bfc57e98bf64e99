package postgres

import (
	"context"
	"fmt"
	"iter"
	"time"

	"remit/state"
	"remit/state/storage"
)

// Jumps implements [state.Snapshot]. A state of a schema that has no list of them kept times that
// never go back.
func (s *snapshot) Jumps(ctx context.Context) iter.Seq2[state.Jump, error] {
	return func(yield func(state.Jump, error) bool) {
		jumps, err := s.allJumps(ctx)
		if err != nil {
			yield(state.Jump{}, err)
			return
		}
		for _, jump := range jumps {
			if !yield(jump, nil) {
				return
			}
		}
	}
}

func (s *snapshot) allJumps(ctx context.Context) ([]state.Jump, error) {
	isListed, err := s.keepsClocks(ctx)
	if err != nil || !isListed {
		return nil, err
	}
	var jumps []state.Jump
	err = s.query(ctx, func(c *columns) error {
		jump := state.Jump{Seq: c.number(), Kind: state.Kind(c.text()), At: c.time()}
		jump.Back = time.Duration(c.number()) * time.Millisecond
		jump.Settled = c.boolean()
		jumps = append(jumps, jump)
		return c.damage("jump of the clock at event", jump.Seq)
	}, `SELECT seq, kind, time_ms, back_ms, seq <= coalesce((SELECT max(seq) FROM events WHERE kind = 'clock'), 0)
		FROM jumps JOIN events USING (seq) ORDER BY seq DESC`)
	return jumps, err
}

// keepsClocks reports whether the schema is one that knows of wrong clocks.
func (s *snapshot) keepsClocks(ctx context.Context) (is bool, err error) {
	err = s.query(ctx, func(c *columns) error {
		is = c.boolean()
		return c.err
	}, `SELECT to_regclass('jumps') IS NOT NULL`)
	return is, err
}

// Clocks implements [state.Snapshot].
func (s *snapshot) Clocks(ctx context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		areKept, err := s.keepsClocks(ctx)
		var lines []storage.StoredEvent
		if err == nil && areKept {
			lines, err = s.someLines(ctx, `SELECT `+eventColumns+` FROM events WHERE kind = 'clock' ORDER BY seq DESC`)
		}
		if err != nil {
			yield(state.Event{}, err)
			return
		}
		for _, l := range lines {
			if !yield(l.Event, nil) {
				return
			}
		}
	}
}

// isTold finds the outcomes by a person's word, in the very terms of their index. A schema without that is read through.
const isTold = `kind = 'outcome' AND run_id = '' AND position('"source":"person"'::bytea IN data) > 0`

// Told implements [state.Snapshot].
func (s *snapshot) Told(ctx context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		lines, err := s.someLines(ctx, `SELECT `+eventColumns+` FROM events WHERE `+isTold+` ORDER BY seq DESC`)
		if err != nil {
			yield(state.Event{}, err)
			return
		}
		for _, l := range lines {
			if !yield(l.Event, nil) {
				return
			}
		}
	}
}

// ServerTime implements [state.Timekeeper].
func (s *snapshot) ServerTime(ctx context.Context) (now time.Time, err error) {
	err = s.query(ctx, func(c *columns) error {
		now = c.time()
		return c.err
	}, `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint`)
	return now, err
}

// ServerTime implements [state.Timekeeper].
func (j *journal) ServerTime(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, waitAnswer)
	defer cancel()
	var now time.Time
	err := patiently(ctx, func() error {
		return j.store.read.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock of the PostgreSQL server: %w", awayOr(j.store.hide(explain(err))))
	}
	return now.UTC(), nil
}
