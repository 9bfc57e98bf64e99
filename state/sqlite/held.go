package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"remit/state"
)

// querier is a connection or a pool.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readFence reads the fence of the latest lock.
func (s *Store) readFence(ctx context.Context, from querier) (fence int64, err error) {
	err = from.QueryRowContext(ctx, "SELECT fence FROM meta").Scan(&fence)
	return fence, explain(err)
}

// readLineage reads the lineage, which the state has for ever.
func (s *Store) readLineage(ctx context.Context) (lineage string, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT lineage FROM meta").Scan(&lineage)
	return lineage, explain(err)
}

// take takes the lock itself, unless somebody alive has it, and raises the fence, so that an
// earlier holder can't write any more.
func (s *Store) take(ctx context.Context, conn *sql.Conn, into *heldLock) (bool, error) {
	// Asked for first without a transaction, for which a holder in the middle of a commit would be waited for.
	fence, err := s.readFence(ctx, conn)
	if err != nil {
		return false, err
	}
	if _, held, err := s.own.heldFrom(fence); held || err != nil {
		return false, err
	}
	if err := errors.Join(s.sameFile(), checkAlone(s.path)); err != nil {
		return false, err
	}
	own, err := openDescriptor(s.path, true)
	if err != nil {
		return false, err
	}
	taken := false
	err = immediately(ctx, conn, func() error {
		fence, err := s.readFence(ctx, conn)
		if err != nil {
			return err
		}
		if _, held, err := own.heldFrom(fence); held || err != nil {
			return err
		}
		if taken, err = own.lock(fence + 1); !taken || err != nil {
			return err
		}
		into.own, into.fence = own, fence+1
		_, err = conn.ExecContext(ctx, "UPDATE meta SET fence = ?", into.fence)
		return err
	})
	if err != nil {
		err = fmt.Errorf("raise the fence: %w", err)
	}
	if !taken || err != nil {
		return false, errors.Join(err, own.release())
	}
	return true, nil
}

// holder says who holds the lock, if anyone alive has one with this fence or a higher one.
func (s *Store) holder(ctx context.Context, fence int64) (state.Holder, bool, error) {
	_, held, err := s.own.heldFrom(fence)
	if err != nil {
		return state.Holder{}, false, fmt.Errorf("look for a lock of %s: %w", s.path, err)
	}
	if held {
		return readHolder(ctx, lockPath(s.path)), true, nil
	}
	return holderBeside(ctx, s.path)
}

// who names the holder: by the file beside the state, or, where somebody removed that, by the
// newest run.
func (s *Store) who(ctx context.Context, conn *sql.Conn, signed state.Holder) state.Holder {
	holder, err := begunBy(ctx, conn, signed)
	if err != nil {
		return signed // the lock is held, by any process
	}
	return holder
}

// begunBy returns holder or, where that says nothing, who began the newest run, unless that has
// ended.
func begunBy(ctx context.Context, conn *sql.Conn, holder state.Holder) (state.Holder, error) {
	if holder != (state.Holder{}) {
		return holder, nil
	}
	run, err := newestRun(ctx, conn)
	if err != nil || run.Ended != nil || run.Begun.RunID == "" {
		return holder, err
	}
	run.Begun.By.RunID = run.Begun.RunID
	return run.Begun.By, nil
}

// newestRun is the run that began last; the zero Run where there is none.
func newestRun(ctx context.Context, conn *sql.Conn) (state.Run, error) {
	var runID string
	err := conn.QueryRowContext(ctx, "SELECT run_id FROM runs ORDER BY begun_seq DESC LIMIT 1").Scan(&runID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return state.Run{}, nil
	case err != nil:
		return state.Run{}, explain(err)
	}
	return readRun(ctx, conn, runID)
}

// checkLocks returns an error wrapped around [state.ErrNoLocks] where locks would not keep others
// out: on a file system that several machines share, whatever it says of them, and where a lock is
// tried in vain.
func (s *Store) checkLocks() error {
	if kind := SharedFS(s.path); kind != "" {
		return fmt.Errorf("it is on a file system that machines share, of the kind %s: %w", kind, state.ErrNoLocks)
	}
	return s.own.hasLocks(s.path)
}

// unlockedAfter is the newest event after the given one by which a lock was taken away; nil where
// there is none.
func unlockedAfter(ctx context.Context, conn *sql.Conn, seq int64) (*state.Unlocked, error) {
	var forced *state.Unlocked
	err := query(ctx, conn, func(rows *sql.Rows) error {
		l, err := scanEvent(rows)
		if err != nil {
			return err
		}
		entry, err := l.Entry()
		if unlocked, ok := entry.(state.Unlocked); ok {
			forced = &unlocked
		}
		return err
	}, `SELECT `+eventColumns+` FROM events WHERE seq > ? AND kind = ? ORDER BY seq DESC LIMIT 1`, seq, state.KindUnlocked)
	return forced, err
}
