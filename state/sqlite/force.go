package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"remit/internal/files/filelock"
	"remit/state"
	"remit/state/storage"
)

// ForceUnlock implements [state.Store].
func (s *Store) ForceUnlock(ctx context.Context, by state.Holder, clocks state.Clocks, reason string) error {
	if s.write == nil {
		return fmt.Errorf("unlock state %s: it was opened for reading", s.path)
	}
	if err := s.forceUnlock(ctx, by, clocks, reason); err != nil {
		return fmt.Errorf("unlock state %s by force: %w", s.path, err)
	}
	return nil
}

func (s *Store) forceUnlock(ctx context.Context, by state.Holder, clocks state.Clocks, reason string) (err error) {
	fence, err := s.readFence(ctx, s.read)
	if err != nil {
		return err
	}
	from, _, err := s.holder(ctx, fence)
	if err != nil {
		return err
	}
	draft, err := state.NewDraft(state.Unlocked{From: from, By: by, Reason: reason, Clocks: clocks})
	if err != nil {
		return err
	}
	if _, err := checkSchema(ctx, s.read, s.wanted); err != nil {
		return err
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = immediately(ctx, conn, func() error {
		if err := s.passHolders(ctx, conn); err != nil {
			return err
		}
		h, err := readHead(ctx, conn)
		if err != nil {
			return err
		}
		if err := checkTips(ctx, conn, h); err != nil {
			return err
		}
		if h.moved != "" {
			return &state.MovedError{To: h.moved}
		}
		if err := s.checkDeparted(h); err != nil {
			return err
		}
		err = insertEvent(ctx, conn, storage.StoredEvent{Event: h.Next(draft, s.now())})
		return err
	})
	if err != nil {
		return err
	}
	// The fence is durable; only now may another one lock.
	return removeLock(s.path)
}

// passHolders raises the fence over those of all who have a lock: there is more than one number
// to pass where an older copy was written over the file of a live holder.
func (s *Store) passHolders(ctx context.Context, conn *sql.Conn) error {
	fence, err := s.readFence(ctx, conn)
	if err != nil {
		return err
	}
	for at, held := fence, true; held; {
		fence = at + 1
		if at, held, err = s.own.heldFrom(fence); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, "UPDATE meta SET fence = ?", fence)
	return err
}

// removeLock lets others lock the file beside: its holder keeps a file that has no name.
func removeLock(path string) error {
	if err := filelock.Remove(lockPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
