package postgres

import (
	"context"
	"errors"

	"remit/state"
	"remit/state/storage"
)

// Verify reads the whole state and returns what it says of itself, or the first thing that
// is wrong:
//
//   - a break of the journal's chain, or a head that it does not have, as [state.Verify]
//     names it;
//   - a row, a run, a jump of the clock or the state's word on itself that is not what the journal makes of it,
//     wrapped around [state.ErrDamaged].
//
// It writes nothing and holds every row in memory. A state that was moved away is verified as
// any other.
func (s *Store) Verify(ctx context.Context, head string) (state.Meta, error) {
	snap, err := s.snapshot(ctx, true)
	if err != nil {
		return state.Meta{}, s.wrap("verify", err)
	}
	if err := errors.Join(snap.verify(ctx, head), snap.Close()); err != nil {
		return state.Meta{}, s.wrap("verify", err)
	}
	return snap.tip.Meta, nil
}

func (s *snapshot) verify(ctx context.Context, head string) error {
	again, err := storage.Verify(s.lines(ctx, 0), head)
	if err != nil {
		return err
	}
	runs, err := s.allRuns(ctx)
	if err != nil {
		return err
	}
	rows := s.allRows(ctx)
	if s.version < schemaSpelled {
		rows = again.InOneSpelling(rows)
	}
	if err := again.Compare(s.tip.Meta, rows, runs); err != nil {
		return err
	}
	if err := again.CompareJumps(s.Jumps(ctx)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return checkNewest(ctx, s.conn, s.tip)
}
