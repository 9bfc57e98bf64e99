package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"remit/state"
	"remit/state/storage"
)

// chunk is how many ref_ids or events one statement asks for.
const chunk = 512

// snapshot is a transaction that only reads, on a connection of its own.
type snapshot struct {
	store   *Store
	version int // of the schema
	tip     storage.Tip
	holder  state.Holder
	held    bool

	mu   sync.Mutex
	conn *pgxpool.Conn // guarded by mu; one statement at a time
}

var (
	_ state.Snapshot = (*snapshot)(nil)
	_ state.Detailer = (*snapshot)(nil)
)

// Snapshot implements [state.Store]. It returns [state.ErrOlder] where the state must be
// migrated before it can be read, and *[state.MovedError] where it was moved away.
func (s *Store) Snapshot(ctx context.Context) (state.Snapshot, error) {
	snap, err := s.snapshot(ctx, false)
	if err != nil {
		return nil, s.wrap("read", err)
	}
	return snap, nil
}

func (s *Store) snapshot(ctx context.Context, evenMoved bool) (*snapshot, error) {
	waiting, cancel := context.WithTimeout(ctx, waitAnswer)
	defer cancel()
	var conn *pgxpool.Conn
	err := patiently(waiting, func() (err error) {
		conn, err = s.read.Acquire(waiting)
		return err
	})
	if err != nil {
		return nil, err
	}
	snap := &snapshot{store: s, conn: conn}
	if err := snap.begin(ctx, evenMoved); err != nil {
		_ = snap.Close() // nothing was read
		return nil, err
	}
	return snap, nil
}

func (s *snapshot) begin(ctx context.Context, evenMoved bool) error {
	// The holder is looked for before and after: whose attempts are seen open is not taken
	// for dead, whether it ends or begins meanwhile.
	var err error
	if s.holder, s.held, err = s.store.holderOf(ctx, s.conn); err != nil {
		return err
	}
	// Here, as a server that does not tell breaks a transaction off.
	known, err := s.store.constants(ctx, s.conn)
	if err != nil {
		return err
	}
	notes := s.store.noted(known.lineage) // before the events are read: they name some that these have
	if _, err := s.conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`); err != nil {
		return err
	}
	// The first read decides what the transaction sees.
	var moved, recorded, found string
	var follows bool // this is a copy, which may be behind
	if err := s.conn.QueryRow(ctx, `SELECT version, moved, coalesce(to_jsonb(meta)->>'home', ''), `+homeSQL+`, pg_is_in_recovery() FROM meta`, known.system).
		Scan(&s.version, &moved, &recorded, &found, &follows); err != nil {
		return err
	}
	switch {
	case s.version < schemaReadable:
		return state.ErrOlder
	case moved != "" && !evenMoved:
		return &state.MovedError{To: moved}
	}
	if s.tip, err = readTip(ctx, s.conn); err != nil {
		return err
	}
	told, isTold := lackOf(recorded)
	s.tip.Told, s.tip.Restored = isTold, !isTold && (s.tip.Restored || !isHome(recorded, found))
	if !follows {
		if s.tip.Lacks, err = lacksAny(ctx, s.conn, notes, s.tip); err != nil {
			return err
		}
	}
	s.tip.Lacks = max(s.tip.Lacks, told)
	if !evenMoved { // Verify finds more, and says it better
		if err := checkNewest(ctx, s.conn, s.tip); err != nil {
			return err
		}
	}
	if !s.held {
		s.holder, s.held, err = s.store.holderOf(ctx, s.conn)
	}
	return err
}

// Meta implements [state.Snapshot].
func (s *snapshot) Meta() state.Meta { return s.tip.Meta }

// Holder implements [state.Snapshot].
func (s *snapshot) Holder() (state.Holder, bool) { return s.holder, s.held }

// Close implements [state.Snapshot].
func (s *snapshot) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = s.conn.Exec(ctx, `ROLLBACK`) // it was only read; the pool drops a connection that is gone
	s.conn.Release()
	s.conn = nil
	return nil
}

// query reads the whole answer of a statement, so that another one may be asked between two
// pages of a longer reading.
func (s *snapshot) query(ctx context.Context, each func(*columns) error, text string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return awayOr(s.store.hide(explain(readAll(ctx, s.conn.Conn(), each, text, args...))))
}

// Transfers implements [state.Snapshot].
func (s *snapshot) Transfers(ctx context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for r, err := range s.allRows(ctx) {
			if !yield(r.Transfer, err) {
				return
			}
		}
	}
}

// allRows yields every row in the order of ref_id.
func (s *snapshot) allRows(ctx context.Context) iter.Seq2[storage.Row, error] {
	var reader rowReader
	read := func(ctx context.Context, after string, into []storage.Row) ([]storage.Row, error) {
		err := s.query(ctx, func(c *columns) error {
			r, err := reader.read(c)
			into = append(into, r)
			return cmp.Or(err, r.CheckIn(s.tip.Serial))
		}, `SELECT `+rowColumns+` FROM transfers WHERE ref_id > $1 ORDER BY ref_id LIMIT $2`, after, storage.PageRows)
		return into, err
	}
	return storage.Pages[storage.Row]{Read: read, RefID: func(r storage.Row) string { return r.RefID }}.All(ctx)
}

// Details implements [state.Snapshot].
func (s *snapshot) Details(ctx context.Context, refIDs ...string) ([]state.Detail, error) {
	return s.details().ByRefID(ctx, refIDs)
}

// DetailsOf implements [state.Detailer].
func (s *snapshot) DetailsOf(ctx context.Context, rows []state.Transfer) ([]state.Detail, error) {
	return s.details().Of(ctx, rows)
}

func (s *snapshot) details() storage.Details {
	return storage.Details{Rows: s.find, Events: s.eventsAt, Name: s.nameDetails}
}

// find returns the rows of the given ref_ids, without those that are unknown.
func (s *snapshot) find(ctx context.Context, refIDs []string) (map[string]storage.Row, error) {
	found := make(map[string]storage.Row, len(refIDs))
	var reader rowReader
	err := s.query(ctx, func(c *columns) error {
		r, err := reader.read(c)
		found[r.RefID] = r
		return cmp.Or(err, r.CheckIn(s.tip.Serial))
	}, `SELECT `+rowColumns+` FROM transfers WHERE ref_id = ANY($1)`, refIDs)
	return found, err
}

// eventsAt returns events by their numbers, without those that are not there.
func (s *snapshot) eventsAt(ctx context.Context, seqs []int64) (map[int64]*state.Event, error) {
	events := make(map[int64]*state.Event, len(seqs))
	err := s.query(ctx, func(c *columns) error {
		l, err := readLine(c)
		events[l.Seq] = &l.Event
		return err
	}, `SELECT `+eventColumns+` FROM events WHERE seq = ANY($1)`, seqs)
	return events, err
}

// Events implements [state.Snapshot].
func (s *snapshot) Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		lines := s.lines(ctx, after)
		if refID != "" {
			lines = s.linesOf(ctx, after, refID)
		}
		for l, err := range lines {
			if !yield(l.Event, err) {
				return
			}
		}
	}
}

// lines yields the journal after an event, a few at a time.
func (s *snapshot) lines(ctx context.Context, after int64) iter.Seq2[storage.StoredEvent, error] {
	return func(yield func(storage.StoredEvent, error) bool) {
		for more := true; more; {
			part, err := s.someLines(ctx, `SELECT `+eventColumns+` FROM events WHERE seq > $1 ORDER BY seq LIMIT $2`, after, chunk)
			if err != nil {
				yield(storage.StoredEvent{}, err)
				return
			}
			for _, l := range part {
				if !yield(l, nil) {
					return
				}
				after = l.Seq
			}
			more = len(part) == chunk
		}
	}
}

// linesOf yields the events of a ref_id, which are few, after an event.
func (s *snapshot) linesOf(ctx context.Context, after int64, refID string) iter.Seq2[storage.StoredEvent, error] {
	return func(yield func(storage.StoredEvent, error) bool) {
		lines, err := s.someLines(ctx, `WITH RECURSIVE chain (at) AS (
				SELECT last_seq FROM transfers WHERE ref_id = $1
				UNION ALL
				SELECT previous FROM chain JOIN events ON seq = at WHERE previous > $2
			)
			SELECT `+eventColumns+` FROM events WHERE seq = ANY (ARRAY (SELECT at FROM chain)) AND seq > $2 ORDER BY seq`, refID, after)
		if err != nil {
			yield(storage.StoredEvent{}, err)
			return
		}
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

func (s *snapshot) someLines(ctx context.Context, text string, args ...any) ([]storage.StoredEvent, error) {
	var lines []storage.StoredEvent
	err := s.query(ctx, func(c *columns) error {
		l, err := readLine(c)
		lines = append(lines, l)
		return err
	}, text, args...)
	return lines, err
}

// Runs implements [state.Snapshot].
func (s *snapshot) Runs(ctx context.Context) iter.Seq2[state.Run, error] {
	return storage.NewestFirst(func() ([]state.Run, error) { return s.allRuns(ctx) })
}

func (s *snapshot) allRuns(ctx context.Context) ([]state.Run, error) {
	lines, err := s.someLines(ctx, `SELECT `+eventColumns+` FROM events WHERE seq IN (
			SELECT begun_seq FROM runs UNION SELECT ended_seq FROM runs)
		ORDER BY seq`)
	if err != nil {
		return nil, err
	}
	return storage.Runs(storage.Lines(lines))
}

// holderSQL asks whether the lock is held, and by whom, as far as the holder has said so.
const holderSQL = `SELECT l.pid IS NOT NULL, CASE WHEN l.pid = holder_pid THEN holder ELSE '' END
	FROM meta LEFT JOIN LATERAL (` + lockSQL + `) l ON true`

// lockSQL is the server process that holds the lock of meta's row, of several the one that has
// signed; $1 is its class. The
// server's list of locks is of this moment, whatever the transaction sees.
const lockSQL = `SELECT pid FROM pg_locks
	WHERE locktype = 'advisory' AND granted AND mode IN ('ExclusiveLock', 'ShareLock')
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid = $1::bigint::oid AND objid = meta.lock::oid AND objsubid = 2
	ORDER BY pid = meta.holder_pid DESC LIMIT 1`

// holderOf says who holds the lock, if anyone alive does. A server that follows another one
// does not see the locks there: then someone unknown holds it, so that a request in flight is
// not taken for dead.
func (s *Store) holderOf(ctx context.Context, q querier) (state.Holder, bool, error) {
	var follows, held bool
	var text string
	if err := q.QueryRow(ctx, `SELECT pg_is_in_recovery()`).Scan(&follows); err != nil || follows {
		return state.Holder{}, follows, err
	}
	err := q.QueryRow(ctx, holderSQL, int64(s.lockClass())).Scan(&held, &text)
	if err != nil || !held {
		return state.Holder{}, false, err
	}
	var holder state.Holder
	_ = json.Unmarshal([]byte(text), &holder) // it may not have signed yet
	return holder, true, nil
}

var _ querier = pgx.Tx(nil)
