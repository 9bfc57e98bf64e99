package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"remit/state"
	"remit/state/storage"
)

// ForceUnlock implements [state.Store].
func (s *Store) ForceUnlock(ctx context.Context, by state.Holder, reason string) error {
	if s.write == nil {
		return fmt.Errorf("unlock state %s: it was opened for reading", s.path)
	}
	if err := s.forceUnlock(ctx, by, reason); err != nil {
		return fmt.Errorf("unlock state %s by force: %w", s.path, err)
	}
	return nil
}

func (s *Store) forceUnlock(ctx context.Context, by state.Holder, reason string) (err error) {
	from, _, err := holderOf(ctx, s.path)
	if err != nil {
		return err
	}
	draft, err := state.NewDraft(state.Unlocked{From: from, By: by, Reason: reason})
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
		if _, err := conn.ExecContext(ctx, "UPDATE meta SET fence = fence + 1"); err != nil {
			return err
		}
		h, err := readHead(ctx, conn)
		if err != nil {
			return err
		}
		if h.moved != "" {
			return &state.MovedError{To: h.moved}
		}
		err = insertEvent(ctx, conn, storage.Line{Event: h.Next(draft, s.now())})
		return err
	})
	if err != nil {
		return err
	}
	// The fence is durable; only now may another one lock.
	return removeLock(s.path)
}

// removeLock lets others lock: whoever holds the file keeps a file that has no name.
func removeLock(path string) error {
	if err := os.Remove(lockPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
