package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"remit/state"
	"remit/state/storage"
)

const (
	// leaseRunner is how long a runner that shares a run may show no sign of life before others
	// claim what it had. A request begins at most 5 s after a sign of life (ADR 14).
	leaseRunner = 10 * time.Second
	// pollLease is how often a runner renews its lease and looks after the others.
	pollLease = time.Second
	// waitStanding is after how long the server ends the transaction of a runner that hangs in the
	// middle of it: the others wait for it.
	waitStanding = 5 * time.Second
)

// member is a runner among those that share a run.
type member struct {
	store  *Store
	lock   *session
	runID  string
	number int

	broken  func() error // what its journal failed with; nil while it goes on
	open    atomic.Bool  // its row is there: each sign of life renews its lease
	stopped atomic.Pointer[string]

	over  context.CancelFunc // ends the watch
	watch sync.WaitGroup

	mu   sync.Mutex
	conn *pgx.Conn // guarded by mu; nil where it was lost

	took    atomic.Bool  // it has asked for a part of the run: it took part
	tallies atomic.Int64 // that Done has given a number

	muClaims sync.Mutex
	claims   []int // guarded by muClaims; numbers of parts that this runner knows it has
}

func (m *member) held() []int {
	m.muClaims.Lock()
	defer m.muClaims.Unlock()
	return append([]int{}, m.claims...)
}

func (m *member) have(parts []state.Part) {
	m.muClaims.Lock()
	defer m.muClaims.Unlock()
	for _, p := range parts {
		m.claims = append(m.claims, p.Number)
	}
}

func (m *member) haveNot(parts []int) {
	m.muClaims.Lock()
	defer m.muClaims.Unlock()
	m.claims = slices.DeleteFunc(m.claims, func(n int) bool { return slices.Contains(parts, n) })
}

func newMember(store *Store, lock *session, runID string, number int) *member {
	m := &member{store: store, lock: lock, runID: runID, number: number, over: func() {}, broken: func() error { return nil }}
	m.stopped.Store(new(string))
	return m
}

// start has the member live until close. A member that is lost breaks its journal.
func (m *member) start(j *journal) {
	m.open.Store(true)
	ctx, over := context.WithCancel(context.Background())
	m.over = over
	m.watch.Go(func() {
		for storage.Sleep(ctx, pollLease) == nil {
			if err := m.live(ctx); err != nil && ctx.Err() == nil {
				j.Break(awayOr(j.taken(m.store.hide(explain(err)))))
				return
			}
		}
	})
}

// rest ends the watch: the runner lives on by what it does.
func (m *member) rest() {
	m.over()
	m.watch.Wait()
}

func (m *member) close() {
	m.rest()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		_ = closeConn(m.conn)
		m.conn = nil
	}
}

const (
	renewSQL = `UPDATE runners SET lease_until = clock_timestamp() + make_interval(secs => $3)
		WHERE run_id = $1 AND number = $2 AND gone = '' RETURNING number`

	// openingSQL is renewSQL while the run is being opened: there may be no row yet. Once there is
	// one, whether or not the runner has heard of it, others may take it for lost.
	openingSQL = `WITH mine AS (` + renewSQL + `)
		SELECT number FROM mine UNION ALL
		SELECT $2 WHERE NOT EXISTS (SELECT 1 FROM runners WHERE run_id = $1 AND number = $2)`

	// leavingSQL is renewSQL for who leaves, or has left and has not heard of it.
	leavingSQL = `WITH mine AS (` + renewSQL + `)
		SELECT number FROM mine UNION ALL
		SELECT number FROM runners WHERE run_id = $1 AND number = $2 AND gone = 'left'`

	// evictSQL is about runners that show no sign of life: their lease ended, or the session on
	// which they hold the lock. One that is just renewing its lease is left alone, and so are all of them where the
	// session of who looks is gone as well, as after a failover: then nobody holds the lock.
	evictSQL = `UPDATE runners SET gone = 'lost' WHERE run_id = $1 AND number IN (
		SELECT number FROM runners r
		WHERE run_id = $1 AND number <> $2 AND joined AND gone = '' AND (lease_until < clock_timestamp() OR NOT EXISTS (
			SELECT 1 FROM pg_locks WHERE pid = r.pid AND locktype = 'advisory' AND granted AND classid = $3::bigint::oid AND objsubid = 2
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))
		FOR UPDATE SKIP LOCKED)
		AND EXISTS (SELECT 1 FROM pg_locks WHERE pid = $4 AND locktype = 'advisory' AND granted AND classid = $3::bigint::oid AND objsubid = 2
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

	// freeSQL gives the parts of those who are gone to the others.
	freeSQL = `UPDATE parts SET runner = NULL, again = true
		WHERE run_id = $1 AND NOT done AND runner IN (SELECT number FROM runners WHERE run_id = $1 AND gone <> '')`
)

// signSQL shows a sign of life of a runner that writes or begins a request.
func (m *member) signSQL() string {
	if m.open.Load() {
		return renewSQL
	}
	return openingSQL
}

// queueRenew has a batch show a sign of life, before anything else of it. It fails with
// [state.ErrFenced] where the runner was taken for lost.
func (m *member) queueRenew(b *pgx.Batch) {
	b.Queue(renewSQL, m.runID, m.number, leaseRunner.Seconds()).QueryRow(isThereStill)
}

func isThereStill(row pgx.Row) error {
	var number int
	err := row.Scan(&number)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%w: %w", state.ErrTakenForLost, state.ErrFenced)
	}
	return err
}

// renew shows a sign of life.
func (m *member) renew(ctx context.Context, q querier) error {
	return isThereStill(q.QueryRow(ctx, m.signSQL(), m.runID, m.number, leaseRunner.Seconds()))
}

// queueTip has a commit, which has locked the row of meta, show a sign of life and read what it
// follows: others may have written since. The last event of this runner must be there still: a
// server that takes another's place may lack it.
func (m *member) queueTip(b *pgx.Batch, mine storage.Tip, newest *storage.Tip) {
	b.Queue(m.signSQL(), m.runID, m.number, leaseRunner.Seconds()).QueryRow(isThereStill)
	b.Queue(`SELECT EXISTS (SELECT 1 FROM events WHERE seq = $1 AND hash = $2)`, mine.Serial, hashBytes(mine.Head)).QueryRow(func(row pgx.Row) error {
		var there bool
		if err := row.Scan(&there); err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("it does not have event number %d that this run knows: %w", mine.Serial, state.ErrReplaced)
		}
		return nil
	})
	b.Queue(tipSQL).QueryRow(func(row pgx.Row) error {
		tip, err := scanTip(row)
		*newest = tip
		if err == nil && tip.Restored { // the next event would hide it
			err = fmt.Errorf("somebody loaded its rows from a dump: %w", state.ErrReplaced)
		}
		return err
	})
}

// live shows a sign of life, and looks after those who show none.
func (m *member) live(ctx context.Context) error {
	var fence int64
	var unsigned bool
	err := m.do(ctx, func(b *pgx.Batch) {
		m.queueRenew(b)
		b.Queue(evictSQL, m.runID, m.number, int64(m.lock.class), int32(m.lock.pid))
		b.Queue(freeSQL, m.runID)
		m.queueStopped(b)
		b.Queue(`SELECT fence, holder_pid IN (SELECT pid FROM runners WHERE run_id = $1 AND gone <> '') FROM meta`, m.runID).
			QueryRow(func(row pgx.Row) error { return row.Scan(&fence, &unsigned) })
	})
	switch {
	case err != nil:
		return err
	case fence != m.lock.fence:
		return state.ErrFenced
	}
	if unsigned {
		return m.sign(ctx)
	}
	return nil
}

// queueStopped has a batch read whether a runner has stopped the run.
func (m *member) queueStopped(b *pgx.Batch) {
	b.Queue(`SELECT stopped FROM shares WHERE run_id = $1`, m.runID).QueryRow(func(row pgx.Row) error {
		var reason string
		err := row.Scan(&reason)
		if err == nil {
			m.stopped.Store(&reason)
		}
		return err
	})
}

// sign has the lock say that this runner holds it, in the place of one that is gone.
func (m *member) sign(ctx context.Context) error {
	return m.do(ctx, func(b *pgx.Batch) {
		b.Queue(`UPDATE meta SET holder_pid = $3, holder = (SELECT holder FROM runners WHERE run_id = $1 AND number = $2)
			WHERE fence = $4`, m.runID, m.number, int32(m.lock.pid), m.lock.fence)
	})
}

// do runs a batch in a transaction of its own, on a connection that is only for what a runner
// has to do with the others. It is tried again where the server gave way to another, or the
// connection broke, unless the journal did: each of these batches may be done twice.
//
// It answers what it asks even where ctx ends meanwhile: a question that is given up ends the
// connection, and the server may have no other one to leave the run on. All attempts together
// have the time of one answer: who waits for longer is taken for lost anyway.
func (m *member) do(ctx context.Context, fill func(*pgx.Batch)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), waitAnswer)
	defer cancel()
	for attempt := 1; ; attempt++ {
		if broken := m.broken(); broken != nil { // while others of this runner had the connection
			return broken
		}
		err := m.try(asking, fill)
		if err == nil || errors.Is(err, state.ErrFenced) || attempt == attemptsMax || ctx.Err() != nil || asking.Err() != nil || !m.isTransient(err) {
			return err
		}
		time.Sleep(pauseAttempt)
	}
}

func (m *member) isTransient(err error) bool {
	return m.conn == nil || m.conn.IsClosed() || isTransient(err)
}

func (m *member) try(ctx context.Context, fill func(*pgx.Batch)) error {
	if m.conn == nil || m.conn.IsClosed() {
		conn, err := m.store.reconnect(ctx)
		if err != nil {
			return retold{fmt.Errorf("%w: %w", errBroken, err), "the server can't be reached: " + brief(err)}
		}
		m.conn = conn
	}
	var b pgx.Batch
	fill(&b)
	return m.conn.SendBatch(ctx, &b).Close()
}

// Join implements [state.Joiner].
func (s *Store) Join(ctx context.Context, holder state.Holder, wait time.Duration) (state.JoinedJournal, error) {
	j, err := s.join(ctx, holder, wait)
	if err != nil {
		return nil, s.wrap("join the run of", err)
	}
	return j, nil
}

var _ state.Joiner = (*Store)(nil)

func (s *Store) join(ctx context.Context, holder state.Holder, wait time.Duration) (*journal, error) {
	if s.readOnly {
		return nil, errors.New("it was opened for reading")
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	l := &session{conn: conn, class: s.lockClass(), shared: true}
	if err = l.identify(ctx); err != nil {
		return nil, errors.Join(err, closeConn(conn))
	}
	k := &knock{store: s, session: l, holder: holder}
	if err = k.wait(ctx, wait); err != nil {
		k.giveUp()
		return nil, errors.Join(err, closeConn(conn))
	}
	m := newMember(s, l, k.runID, k.number)
	j := &journal{store: s, lock: l, holder: k.holder}
	j.member.Store(m)
	if j, err = s.begin(ctx, j); err != nil {
		return nil, err
	}
	m.broken = j.Broken
	m.start(j)
	return j, nil
}

// knock is a runner that asks to take part in a run.
type knock struct {
	store   *Store
	session *session
	holder  state.Holder
	runID   string
	number  int // 0 before it asks
}

func (k *knock) wait(ctx context.Context, wait time.Duration) error {
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	for {
		from, held, err := k.store.holderOf(ctx, k.session.conn)
		switch {
		case err != nil:
			return err
		case !held:
			return state.ErrNoRun
		}
		joined := false
		if from.RunID != "" { // it has signed
			joined, err = k.ask(ctx, from.RunID)
		}
		switch {
		case err != nil || joined:
			return err
		case patience.Err() != nil:
			return &state.LockedError{Holder: from}
		}
		if err := storage.Sleep(ctx, pollLock); err != nil {
			return err
		}
	}
}

// ask asks to take part in a run, and does where its first runner has opened it.
func (k *knock) ask(ctx context.Context, runID string) (joined bool, err error) {
	if runID != k.runID {
		k.giveUp()
		k.runID, k.number, k.holder.RunID = runID, 0, runID
	}
	var version int
	if err := k.session.conn.QueryRow(ctx, `SELECT version, lock FROM meta`).Scan(&version, &k.session.number); err != nil {
		return false, err
	}
	if version < k.store.wanted {
		return false, state.ErrOlder
	}
	if err := k.put(ctx); err != nil {
		return false, err
	}
	conn, l := k.session.conn, k.session
	var opened bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM shares WHERE run_id = $1)`, runID).Scan(&opened)
	if err != nil || !opened {
		return false, err
	}
	var locked bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock_shared($1, $2)`, l.class, l.number).Scan(&locked); err != nil || !locked {
		return false, err
	}
	joined, err = k.enter(ctx)
	if !joined {
		err = errors.Join(err, l.release(ctx))
	}
	return joined, err
}

// put makes the row of one who asks, or renews it.
func (k *knock) put(ctx context.Context) error {
	text, err := json.Marshal(k.holder)
	if err != nil {
		return err
	}
	conn := k.session.conn
	for k.number == 0 {
		err := conn.QueryRow(ctx, `INSERT INTO runners (run_id, number, pid, holder, joined, lease_until, gone, settled)
			SELECT $1, greatest(1, coalesce(max(number), 1)) + 1, $2, $3, false, clock_timestamp() + make_interval(secs => $4), '', 0
			FROM runners WHERE run_id = $1
			ON CONFLICT DO NOTHING RETURNING number`, k.runID, int32(k.session.pid), string(text), leaseRunner.Seconds()).Scan(&k.number)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) { // no row: another one asked at the same moment
			return err
		}
	}
	_, err = conn.Exec(ctx, `UPDATE runners SET lease_until = clock_timestamp() + make_interval(secs => $3) WHERE run_id = $1 AND number = $2`,
		k.runID, k.number, leaseRunner.Seconds())
	return err
}

// enter makes one who asks a runner of the run, unless that is closed by now.
func (k *knock) enter(ctx context.Context) (entered bool, err error) {
	l := k.session
	err = pgx.BeginFunc(ctx, l.conn, func(tx pgx.Tx) error {
		var number int32
		var moved string
		if err := tx.QueryRow(ctx, `SELECT lock, fence, moved FROM meta FOR UPDATE`).Scan(&number, &l.fence, &moved); err != nil {
			return err
		}
		var closed bool
		err := tx.QueryRow(ctx, `SELECT closed FROM shares WHERE run_id = $1 FOR UPDATE`, k.runID).Scan(&closed)
		switch {
		case errors.Is(err, pgx.ErrNoRows) || err == nil && (closed || number != l.number):
			return state.ErrNoRun
		case err != nil:
			return err
		case moved != "":
			return &state.MovedError{To: moved}
		}
		tag, err := tx.Exec(ctx, `UPDATE runners SET joined = true, lease_until = clock_timestamp() + make_interval(secs => $3)
			WHERE run_id = $1 AND number = $2 AND gone = ''`, k.runID, k.number, leaseRunner.Seconds())
		if err == nil && tag.RowsAffected() == 0 {
			err = state.ErrNoRun
		}
		entered = err == nil
		return err
	})
	return entered && err == nil, err
}

// giveUp takes the row of one who asks away, where there is one.
func (k *knock) giveUp() {
	if k.number == 0 || k.session.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitLocked)
	defer cancel()
	// Where it fails the lease ends by itself.
	_, _ = k.session.conn.Exec(ctx, `DELETE FROM runners WHERE run_id = $1 AND number = $2 AND NOT joined`, k.runID, k.number)
}
