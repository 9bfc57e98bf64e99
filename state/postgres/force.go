package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"remit/state"
	"remit/state/storage"
)

// ForceUnlock implements [state.Store]. The holder's session keeps a lock on a number that
// nobody asks for any more.
func (s *Store) ForceUnlock(ctx context.Context, by state.Holder, clocks state.Clocks, reason string) error {
	if err := s.forceUnlock(ctx, by, clocks, reason); err != nil {
		return s.wrap("unlock by force", err)
	}
	return nil
}

func (s *Store) forceUnlock(ctx context.Context, by state.Holder, clocks state.Clocks, reason string) error {
	if s.readOnly {
		return errors.New("it was opened for reading")
	}
	return s.withConn(ctx, func(conn *pgx.Conn) error {
		// A holder that hangs in the middle of a commit is waited for until the server ends that.
		if _, err := conn.Exec(ctx, fmt.Sprintf(`SET lock_timeout = %d`, 2*waitStopped.Milliseconds())); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			var version int
			var moved string
			if err := tx.QueryRow(ctx, `SELECT version, moved FROM meta FOR UPDATE`).Scan(&version, &moved); err != nil {
				return err
			}
			if moved != "" {
				return &state.MovedError{To: moved}
			}
			from, _, err := s.holderOf(ctx, tx)
			if err != nil {
				return err
			}
			if err := tx.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&clocks.Server); err != nil {
				return err
			}
			clocks.Server = clocks.Server.UTC().Truncate(time.Millisecond)
			draft, err := state.NewDraft(state.Unlocked{From: from, By: by, Reason: reason, Clocks: clocks})
			if err != nil {
				return err
			}
			tip, err := readTip(ctx, tx)
			if err != nil {
				return err
			}
			if err := checkNewest(ctx, tx, tip); err != nil {
				return err
			}
			if err := tellRefilled(ctx, tx, version); err != nil {
				return err
			}
			return sendBatch(ctx, tx, func(b *pgx.Batch) {
				b.Queue(`UPDATE meta SET fence = fence + 1, lock = lock + 1, holder_pid = 0, holder = ''`)
				next := tip.Next(draft, s.now())
				insertLines(b, []storage.StoredEvent{{Event: next}})
				markFolded(b, version, next.Seq)
			})
		})
	})
}
