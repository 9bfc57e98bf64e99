package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"remit/state"
	"remit/state/storage"
)

const (
	// pollLock is how often a waiting Lock looks again.
	pollLock = 50 * time.Millisecond
	// pollAlive is how often a holder looks whether its session still lives, so that a proxy
	// between it and the server does not take it for idle.
	pollAlive = 5 * time.Second
	// pollWanted is how often it looks whether another runner asks to take part.
	pollWanted = 500 * time.Millisecond
	// waitStopped is after how long the server ends the transaction of a holder that was
	// stopped in the middle of it.
	waitStopped = 20 * time.Second
)

// session is a held lock: a session of the server that holds an advisory lock, which the
// server takes back when the session ends, and so when its client dies.
type session struct {
	conn   *pgx.Conn
	mu     sync.Mutex // held while conn is used, once the lock is had
	pid    uint32     // of the server's process
	class  int32
	number int32 // that the lock was had on
	fence  int64
	shared bool // others hold it as well

	on       incarnation
	system   string      // identifier of the server, as [systemOf] has it
	uncopied atomic.Bool // a commit did not wait for a copy, or may not have
}

// acquire takes the lock of the state and signs it. It waits up to wait for another holder,
// then returns a *[state.LockedError].
func (s *Store) acquire(ctx context.Context, holder state.Holder, wait time.Duration) (*session, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	l := &session{conn: conn, class: s.lockClass()}
	if err = l.identify(ctx); err == nil {
		err = s.wait(ctx, l, holder, wait)
	}
	if err != nil {
		return nil, errors.Join(err, closeConn(conn))
	}
	return l, nil
}

// identify reads what the session and its server are.
func (l *session) identify(ctx context.Context) (err error) {
	if l.pid, err = backend(ctx, l.conn); err == nil {
		l.on, err = incarnationOf(ctx, l.conn)
	}
	if err == nil {
		l.system, err = systemOf(ctx, l.conn)
	}
	if err == nil {
		// Events of others before the first question of this session count as well.
		var copied bool
		err = l.conn.QueryRow(ctx, `SELECT `+copiedSQL).Scan(&copied)
		l.uncopied.Store(!copied)
	}
	return err
}

func (s *Store) wait(ctx context.Context, l *session, holder state.Holder, wait time.Duration) error {
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	for {
		taken, err := l.try(ctx)
		if err != nil {
			return err
		}
		if taken {
			signed, err := s.sign(ctx, l, holder)
			if err != nil || signed {
				return err
			}
			continue // it was taken away by force meanwhile: others see another one
		}
		if patience.Err() != nil {
			holder, held, err := s.holderOf(ctx, l.conn)
			if err != nil || held { // else it was let go meanwhile
				return errors.Join(err, &state.LockedError{Holder: holder})
			}
		}
		if err := storage.Sleep(ctx, pollLock); err != nil {
			return err
		}
	}
}

// try takes the lock if it is free.
func (l *session) try(ctx context.Context) (taken bool, err error) {
	if err := l.conn.QueryRow(ctx, `SELECT lock FROM meta`).Scan(&l.number); err != nil {
		return false, err
	}
	err = l.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1, $2)`, l.class, l.number).Scan(&taken)
	return taken, err
}

// sign raises the fence, so that an earlier holder can't write any more, and says who holds
// the lock. It reports false, and lets go, where the lock is another one by now. A state of an
// older schema is migrated.
func (s *Store) sign(ctx context.Context, l *session, holder state.Holder) (signed bool, err error) {
	text, err := json.Marshal(holder)
	if err != nil {
		return false, err
	}
	err = pgx.BeginFunc(ctx, l.conn, func(tx pgx.Tx) error {
		var number int32
		var version int
		var moved string
		if err := tx.QueryRow(ctx, `SELECT lock, version, moved FROM meta FOR UPDATE`).Scan(&number, &version, &moved); err != nil {
			return err
		}
		switch {
		case number != l.number:
			return nil
		case moved != "":
			return &state.MovedError{To: moved}
		case version > s.wanted:
			return state.ErrNewer
		case version < s.wanted:
			if err := atLeisure(l.conn, func() error { return migrate(ctx, tx, version, s.wanted) }); err != nil {
				return err
			}
		}
		signed = true
		if s.wanted >= schemaHome {
			if err := settle(ctx, tx, l.system); err != nil {
				return err
			}
		}
		if err := tellRefilled(ctx, tx, s.wanted); err != nil {
			return err
		}
		if err := clearShares(ctx, tx, holder.RunID); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `UPDATE meta SET fence = fence + 1, version = $1, holder_pid = $2, holder = $3 RETURNING fence`,
			s.wanted, int32(l.pid), string(text)).Scan(&l.fence)
	})
	if err == nil && !signed {
		err = l.release(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("raise the fence: %w", err)
	}
	return signed, nil
}

// release lets the next one lock.
func (l *session) release(ctx context.Context) error {
	text := `SELECT pg_advisory_unlock($1, $2)`
	if l.shared {
		text = `SELECT pg_advisory_unlock_shared($1, $2)`
	}
	_, err := l.conn.Exec(ctx, text, l.class, l.number)
	return err
}

// alive returns [state.ErrLost] where the session is gone or is another one.
func (l *session) alive(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, waitAnswer)
	defer cancel()
	pid, err := backend(ctx, l.conn)
	switch {
	case err != nil:
		return retold{fmt.Errorf("%w: %w", state.ErrLost, err), state.ErrLost.Error() + ": " + brief(err)}
	case pid != l.pid:
		return fmt.Errorf("%w: %w", state.ErrLost, errPooled)
	}
	return nil
}

// heldSQL asks for the fence, and whether the session $2 holds the lock; $1 is its class.
// It asks as well whether commits wait for a copy.
const heldSQL = `SELECT fence, EXISTS (` + lockSQLOf + `), ` + copiedSQL + ` FROM meta`

// copiedSQL asks whether commits wait for a copy.
const copiedSQL = `current_setting('synchronous_standby_names') <> ''`

const lockSQLOf = `SELECT 1 FROM pg_locks
	WHERE pid = $2 AND locktype = 'advisory' AND granted AND mode IN ('ExclusiveLock', 'ShareLock')
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid = $1::bigint::oid AND objid = meta.lock::oid AND objsubid = 2`

// arguments are those of heldSQL.
func (l *session) arguments() []any { return []any{int64(l.class), int32(l.pid)} }

// held judges what heldSQL answers.
func (l *session) held(row pgx.Row) error {
	var fence int64
	var held, copied bool
	if err := row.Scan(&fence, &held, &copied); err != nil {
		return err
	}
	if !copied {
		l.uncopied.Store(true)
	}
	switch {
	case fence != l.fence:
		return state.ErrFenced
	case !held:
		return state.ErrLost
	}
	return nil
}

// journal is the one writer of a locked state. The queue commits one after the other, and so
// owns everything below the line.
type journal struct {
	store *Store
	lock  *session
	*storage.Queue
	unnoted storage.Unnoted

	holder state.Holder
	newest atomic.Pointer[storage.Tip]      // that is known to be durable
	wanted atomic.Bool                      // another runner asks to take part, and spare is there
	note   atomic.Pointer[storage.NoteFile] // nil where there is none, and while the state lacks the event that it names
	spare  atomic.Pointer[pgx.Conn]         // for the member to be
	member atomic.Pointer[member]           // nil while this runner is alone

	over  context.CancelFunc // ends the watch over the lock's session
	watch sync.WaitGroup

	// -----

	conn     *pgx.Conn     // nil where it was lost
	patience time.Duration // of the server with an idle transaction of conn
	tip      storage.Tip
}

var (
	_ state.Journal = (*journal)(nil)
	_ state.Losable = (*journal)(nil)

	_ state.Timekeeper = (*journal)(nil)
	_ state.Replicated = (*journal)(nil)
)

// Lock implements [state.Store]. It migrates a state of an older schema, in one transaction.
func (s *Store) Lock(ctx context.Context, holder state.Holder, wait time.Duration) (state.Journal, error) {
	j, err := s.lock(ctx, holder, wait)
	if err != nil {
		return nil, s.wrap("lock", err)
	}
	return j, nil
}

func (s *Store) lock(ctx context.Context, holder state.Holder, wait time.Duration) (*journal, error) {
	if s.readOnly {
		return nil, errors.New("it was opened for reading")
	}
	lock, err := s.acquire(ctx, holder, wait)
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, &journal{store: s, lock: lock, holder: holder})
}

// begin has a journal, which has its lock, take entries.
func (s *Store) begin(ctx context.Context, j *journal) (*journal, error) {
	err := j.connect(ctx, j.store.connect)
	var known constant
	if err == nil {
		known, err = s.constants(ctx, j.conn)
	}
	var missing int64
	if err == nil {
		notes := s.noted(known.lineage) // before the events are read: they name some that these have
		err = pgx.BeginTxFunc(ctx, j.conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
			if j.tip, err = readTip(ctx, tx); err != nil {
				return err
			}
			if missing, err = lacksAny(ctx, tx, notes, j.tip); err != nil {
				return err
			}
			return checkNewest(ctx, tx, j.tip)
		})
		err = orSilent(j.conn, err)
	}
	if err != nil {
		return nil, errors.Join(err, j.close())
	}
	j.newest.Store(new(j.tip))
	if missing == 0 {
		j.noteFrom(j.tip)
	}
	j.Queue = storage.NewQueue(j.transact)
	watched, over := context.WithCancel(context.Background())
	j.over = over
	j.watch.Go(func() { j.guard(watched) })
	return j, nil
}

// guard looks again and again whether the lock's session lives, until ctx ends. It waits for the
// answer to its last question: one that is given up ends the session, and nobody knows when the
// server lets go of its lock.
func (j *journal) guard(ctx context.Context) {
	asking := context.WithoutCancel(ctx)
	for n := 1; storage.Sleep(ctx, pollWanted) == nil; n++ {
		hangs := false
		if j.member.Load() == nil {
			var wanted bool
			wanted, hangs = j.isWanted(ctx)
			j.wanted.Store(wanted && j.hasSpare(ctx))
		}
		if n%int(pollAlive/pollWanted) != 0 && !hangs {
			continue
		}
		if err := j.lock.alive(asking); err != nil {
			if ctx.Err() == nil {
				j.Break(awayOr(j.store.hide(err)))
			}
			return
		}
	}
}

// Check implements [state.Journal].
func (j *journal) Check(ctx context.Context) error {
	if err := j.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, waitAnswer)
	defer cancel()
	err := patiently(ctx, func() error {
		err := j.lock.held(j.store.read.QueryRow(ctx, heldSQL, j.lock.arguments()...))
		if m := j.member.Load(); m != nil && err == nil {
			err = m.renew(ctx, j.store.read)
		}
		return err
	})
	if err != nil && !errors.Is(err, state.ErrFenced) && !errors.Is(err, state.ErrLost) {
		return fmt.Errorf("check the lock: %w", awayOr(j.store.hide(explain(err))))
	}
	return j.taken(err)
}

// IsLosable implements [state.Losable]: the server lets go of the lock when the session ends.
func (j *journal) IsLosable() bool { return true }

// Snapshot implements [state.Journal].
func (j *journal) Snapshot(ctx context.Context) (state.Snapshot, error) {
	snapshot, err := j.store.Snapshot(ctx)
	return snapshot, awayOr(err)
}

// Unlock implements [state.Journal].
func (j *journal) Unlock() error {
	err := j.Close()
	if errors.Is(err, state.ErrUnlocked) {
		return err
	}
	if err = errors.Join(err, j.close()); err != nil {
		return j.store.wrap("unlock", err)
	}
	return nil
}

// close gives the lock and the connections back.
func (j *journal) close() error {
	if j.over != nil {
		j.over()
		j.watch.Wait()
	}
	if spare := j.spare.Load(); spare != nil {
		_ = closeConn(spare)
	}
	if m := j.member.Load(); m != nil {
		m.close()
	}
	if j.conn != nil {
		_ = closeConn(j.conn)
	}
	_ = j.note.Load().Close() // what it says was written before
	// Letting go is waited for, so that the next one has the lock at once. Where it fails, the
	// session is gone, and the lock with it.
	ctx, cancel := context.WithTimeout(context.Background(), waitLocked)
	defer cancel()
	if !j.lock.conn.IsClosed() {
		_ = j.lock.release(ctx)
	}
	return closeConn(j.lock.conn)
}
