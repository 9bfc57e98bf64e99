package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"remit/state"
	"remit/state/storage"
)

// foldLot is how many rows one statement folds where a whole state is written.
const foldLot = 4096

// Receive makes a state out of the journal and the names of another one, from which it is being moved: it
// can't be used before [Arrive]. The schema appears whole or not at all. It holds every row in
// memory. It returns what Create does where something is there, and the error of what it reads as it is.
func Receive(ctx context.Context, from state.Contents, opts Options) error {
	s, err := newStore(opts, false)
	if err != nil {
		return err
	}
	err = s.withConn(ctx, func(conn *pgx.Conn) error {
		return s.make(ctx, conn, func(tx pgx.Tx) error {
			if err := insertMeta(ctx, tx, from.Meta, s.wanted, state.Arriving); err != nil {
				return err
			}
			if err := receive(ctx, tx, s.wanted, from.Events); err != nil {
				return err
			}
			return receiveNames(ctx, tx, from.Names)
		})
	})
	if err != nil {
		return s.wrap("make", err)
	}
	return nil
}

func receive(ctx context.Context, tx pgx.Tx, version int, events iter.Seq2[state.Event, error]) error {
	folded := storage.NewRefold()
	var lines []storage.StoredEvent
	var last int64
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		err := sendBatch(ctx, tx, func(b *pgx.Batch) { insertLines(b, lines) })
		lines = lines[:0]
		return err
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		l, err := folded.Follow(e)
		if err != nil {
			return err
		}
		last = l.Seq
		if lines = append(lines, l); len(lines) == chunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for rows := range folded.Rows(foldLot) {
		if err := sendBatch(ctx, tx, func(b *pgx.Batch) { foldRows(b, rows) }); err != nil {
			return err
		}
	}
	return sendBatch(ctx, tx, func(b *pgx.Batch) { markFolded(b, version, last) })
}

// Arrive has a state that [Receive] made be in use. It leaves one that is in use as it is, and
// returns *[state.MovedError] for one that was moved away.
func Arrive(ctx context.Context, opts Options) error {
	s, err := Open(ctx, opts)
	if err != nil {
		return err
	}
	err = s.withConn(ctx, func(conn *pgx.Conn) error {
		var moved string
		_, err := conn.Exec(ctx, `UPDATE meta SET moved = '' WHERE moved = $1`, state.Arriving)
		if err == nil {
			err = conn.QueryRow(ctx, `SELECT moved FROM meta`).Scan(&moved)
		}
		if err == nil && moved != "" {
			err = &state.MovedError{To: moved}
		}
		return err
	})
	if err != nil {
		err = s.wrap("use", err)
	}
	return errors.Join(err, s.Close())
}

var _ state.Mover = (*journal)(nil)

// Move implements [state.Mover].
func (j *journal) Move(ctx context.Context, to string) error {
	err := j.Close()
	if errors.Is(err, state.ErrUnlocked) {
		return err
	}
	if err == nil {
		err = withoutWarning(j.conn, func() error {
			return pgx.BeginFunc(ctx, j.conn, func(tx pgx.Tx) error {
				if err := j.lock.held(tx.QueryRow(ctx, heldSQL+` FOR UPDATE`, j.lock.arguments()...)); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, `UPDATE meta SET moved = $1`, to)
				return err
			})
		})
	}
	if err = errors.Join(j.taken(err), j.close()); err != nil {
		return j.store.wrap("mark as moved", fmt.Errorf("moved to %s: %w", to, err))
	}
	return nil
}
