package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"remit/state"
)

// taken makes a *[state.TakenError] of the error of a journal whose fence was passed: who has its
// lock, and why, as far as the server can be asked. A runner that was taken for lost because the server ended its session has
// lost its connection, and may join again. Any other error stays as it is.
func (j *journal) taken(err error) error {
	_, known := errors.AsType[*state.TakenError](err)
	if known || !errors.Is(err, state.ErrFenced) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitAnswer)
	defer cancel()
	if errors.Is(err, state.ErrTakenForLost) {
		var held bool
		asked := j.store.read.QueryRow(ctx, sessionSQL, int64(j.lock.class), int32(j.lock.pid)).Scan(&held)
		if asked == nil && !held {
			return fmt.Errorf("%w: the server ended it", state.ErrLost)
		}
		return err
	}
	by, asked := j.taker(ctx)
	if asked != nil {
		return err // that it was taken is certain; by whom is not
	}
	return by
}

// sessionSQL asks whether the session $2 holds a lock of the class $1, whoever has forced that open.
const sessionSQL = `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE pid = $2 AND locktype = 'advisory' AND granted AND classid = $1::bigint::oid AND objsubid = 2
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

func (j *journal) taker(ctx context.Context) (*state.TakenError, error) {
	var number int32
	var text string
	if err := j.store.read.QueryRow(ctx, `SELECT lock, holder FROM meta`).Scan(&number, &text); err != nil {
		return nil, err
	}
	if number != j.lock.number { // each force-unlock counts it up, and journals who did it
		return j.store.forced(ctx)
	}
	// Nobody forced it: the server ended the session, and another one locked.
	var by state.TakenError
	_ = json.Unmarshal([]byte(text), &by.By) // '' where nobody has it by now
	return &by, nil
}

// forced is what the journal says of the newest time that a lock was taken away.
func (s *Store) forced(ctx context.Context) (*state.TakenError, error) {
	conn, err := s.read.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	by := &state.TakenError{}
	err = readAll(ctx, conn.Conn(), func(c *columns) error {
		l, err := readLine(c)
		if err != nil {
			return err
		}
		entry, err := l.Entry()
		if unlocked, ok := entry.(state.Unlocked); ok {
			by.By, by.Reason = unlocked.By, unlocked.Reason
		}
		return err
	}, `SELECT `+eventColumns+` FROM events WHERE kind = $1 ORDER BY seq DESC LIMIT 1`, string(state.KindUnlocked))
	return by, err
}
