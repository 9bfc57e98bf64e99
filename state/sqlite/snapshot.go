package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sync"

	"remit/state"
	"remit/state/storage"
)

// checkEvery is after how many rows a reader asks whether it is still wanted.
const checkEvery = 1024

// snapshot is a transaction that only reads, on a connection of its own.
type snapshot struct {
	conn    *sql.Conn
	file    state.FilePlace
	version int // of the schema
	head    head
	holder  state.Holder
	held    bool

	mu    sync.Mutex
	tail  *storage.Overlay // guarded by mu; nil until it is needed
	named *bool            // guarded by mu: whether there is a display name; nil until it is needed
}

var (
	_ state.Snapshot = (*snapshot)(nil)
	_ state.Copied   = (*snapshot)(nil)
	_ state.Detailer = (*snapshot)(nil)
)

// Snapshot implements [state.Store]. It returns [state.ErrOlder] where the state must be
// migrated before it can be read, and *[state.MovedError] where it was moved away.
func (s *Store) Snapshot(ctx context.Context) (state.Snapshot, error) {
	snap, err := s.snapshot(ctx, false)
	if err != nil {
		return nil, fmt.Errorf("read state %s: %w", s.path, err)
	}
	return snap, nil
}

func (s *Store) snapshot(ctx context.Context, evenMoved bool) (*snapshot, error) {
	version, err := checkSchema(ctx, s.read, s.wanted)
	if err != nil {
		return nil, err
	}
	if version < s.readable {
		return nil, state.ErrOlder
	}
	snap := &snapshot{file: s.own.place(s.path), version: version}
	// The holder is looked for before and after: whose attempts are seen open is not taken
	// for dead, whether it ends or begins meanwhile.
	fence, err := s.readFence(ctx, s.read)
	if err != nil {
		return nil, err
	}
	if snap.holder, snap.held, err = s.holder(ctx, fence); err != nil {
		return nil, err
	}
	lineage, err := s.readLineage(ctx)
	if err != nil {
		return nil, err
	}
	notes := s.noted(lineage) // before the events are read: they name some that the state has
	if snap.conn, err = s.read.Conn(ctx); err != nil {
		return nil, explain(err)
	}
	if _, err = snap.conn.ExecContext(ctx, "BEGIN"); err == nil {
		// The first read decides what the transaction sees.
		snap.head, err = readHead(ctx, snap.conn)
	}
	if err == nil && !evenMoved { // Verify finds more, and says it better
		err = checkTips(ctx, snap.conn, snap.head)
	}
	if err == nil {
		err = snap.head.compare(ctx, snap.conn, notes)
	}
	if err == nil && snap.head.moved != "" && !evenMoved {
		err = &state.MovedError{To: snap.head.moved}
	}
	if err == nil && !evenMoved {
		err = s.checkDeparted(snap.head)
	}
	if err == nil && !snap.held {
		snap.holder, snap.held, err = s.holder(ctx, snap.head.Fence)
	}
	if err == nil && snap.held {
		snap.holder, err = begunBy(ctx, snap.conn, snap.holder)
	}
	if err != nil {
		return nil, errors.Join(explain(err), snap.Close())
	}
	return snap, nil
}

// Meta implements [state.Snapshot].
func (s *snapshot) Meta() state.Meta { return s.head.Meta }

// Holder implements [state.Snapshot].
func (s *snapshot) Holder() (state.Holder, bool) { return s.holder, s.held }

// CopyOf implements [state.Copied].
func (s *snapshot) CopyOf(ctx context.Context) (state.Run, bool, error) {
	run, err := newestRun(ctx, s.conn)
	isElsewhere := run.Begun.File != state.FilePlace{} && !run.Begun.File.IsFile(s.file)
	return run, err == nil && run.Ended == nil && isElsewhere, err
}

// Close implements [state.Snapshot].
func (s *snapshot) Close() error {
	// Outside of a transaction this fails, in vain.
	_, _ = s.conn.ExecContext(context.Background(), "ROLLBACK")
	return s.conn.Close()
}

// overlay returns the rows that the table lacks.
func (s *snapshot) overlay(ctx context.Context) (*storage.Overlay, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tail == nil {
		tail, err := replay(ctx, s.conn, s.head)
		if err != nil {
			return nil, err
		}
		s.tail = tail
	}
	return s.tail, nil
}

// stream yields what scan makes of each row of a statement, and an error at its end.
func stream[T any](ctx context.Context, conn *sql.Conn, yield func(T, error) bool, scan func(*sql.Rows) (T, error), text string, args ...any) {
	var none T
	// See query for why the statement itself is not interrupted.
	rows, err := conn.QueryContext(context.WithoutCancel(ctx), text, args...)
	if err != nil {
		yield(none, explain(err))
		return
	}
	defer rows.Close()
	for n := 0; rows.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			yield(none, ctx.Err())
			return
		}
		value, err := scan(rows)
		if !yield(value, err) || err != nil {
			return
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		yield(none, explain(err))
	}
}

// Events implements [state.Snapshot].
func (s *snapshot) Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		each := func(l storage.StoredEvent, err error) bool { return yield(l.Event, err) }
		if refID == "" {
			stream(ctx, s.conn, each, scanEvent, `SELECT `+eventColumns+` FROM events WHERE seq > ? ORDER BY seq`, after)
			return
		}
		known, err := s.find(ctx, []string{refID})
		if err != nil {
			yield(state.Event{}, err)
			return
		}
		newest := known[refID]
		stream(ctx, s.conn, each, scanEvent, `WITH RECURSIVE chain (at) AS (
				SELECT ?1
				UNION ALL
				SELECT previous FROM chain JOIN events ON seq = at WHERE previous > ?2
			)
			SELECT `+eventColumns+` FROM chain JOIN events ON seq = at WHERE seq > ?2 ORDER BY seq`,
			newest.Last, after)
	}
}
