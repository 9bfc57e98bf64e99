package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"remit/internal/transfer"
	"remit/state"
)

// planChunk is how many bytes of a plan one row holds.
const planChunk = 1 << 20

var _ state.JoinedJournal = (*journal)(nil)

// errAlone says that something was asked of a journal that shares no run.
var errAlone = errors.New("the run is not open to other runners")

// clearShares forgets what runners of earlier runs had to do with one another. The caller
// holds the lock alone, so that none of them lives.
func clearShares(ctx context.Context, tx pgx.Tx, runID string) error {
	for _, table := range []string{"shares", "runners", "parts", "share_plans"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE run_id <> $1`, runID); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `DELETE FROM permits`)
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM rates`)
	}
	return err
}

// isWanted reports whether another runner asks to take part in the run of the lock's holder. It does
// not ask on the lock's session: who waits for a table there, and gives up, has lost the lock. hangs says that the
// server did not answer.
func (j *journal) isWanted(ctx context.Context) (wanted, hangs bool) {
	if j.holder.RunID == "" {
		return false, false
	}
	ctx, cancel := context.WithTimeout(ctx, waitLocked)
	defer cancel()
	err := j.store.read.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM runners WHERE run_id = $1 AND NOT joined AND lease_until > clock_timestamp())`,
		j.holder.RunID).Scan(&wanted)
	return err == nil && wanted, errors.Is(err, context.DeadlineExceeded) // the other one goes on asking
}

// hasSpare reports whether there is the connection on which this runner deals with the others. It
// is opened before the run is: a server that has none left must not end a run that works alone.
func (j *journal) hasSpare(ctx context.Context) bool {
	if spare := j.spare.Load(); spare != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, waitLocked)
	defer cancel()
	conn, err := j.store.connect(ctx)
	if err != nil {
		return false // the other one goes on asking
	}
	j.spare.Store(conn)
	return true
}

// Wanted implements [state.Share].
func (j *journal) Wanted() bool { return j.member.Load() == nil && j.wanted.Load() }

// RunID implements [state.JoinedJournal].
func (j *journal) RunID() string { return j.holder.RunID }

// Open implements [state.Share]. At no moment is the lock nobody's: the session has it shared
// before it lets go of it alone.
func (j *journal) Open(ctx context.Context, o state.Opening) error {
	if err := j.Err(); err != nil {
		return err
	}
	text, err := json.Marshal(j.holder)
	if err != nil {
		return err
	}
	l := j.lock
	m := newMember(j.store, l, j.holder.RunID, 1)
	m.broken, m.conn = j.Broken, j.spare.Swap(nil)
	m.have([]state.Part{{Number: 0}})
	j.member.Store(m) // from here on the journal reads the tip inside of its commits
	if err := m.do(ctx, func(b *pgx.Batch) {
		b.Queue(`DELETE FROM parts WHERE run_id = $1`, m.runID) // of an attempt to open it that failed
		b.Queue(`DELETE FROM share_plans WHERE run_id = $1`, m.runID)
		b.Queue(`DELETE FROM rates`)
		b.Queue(`DELETE FROM permits`)
	}); err != nil {
		return j.failed("open the run", err)
	}
	if err := m.publish(ctx, o); err != nil {
		return j.failed("open the run", err)
	}
	if err := j.shareLock(ctx); err != nil {
		return j.failed("open the run", err)
	}
	err = m.do(ctx, func(b *pgx.Batch) {
		b.Queue(`INSERT INTO runners (run_id, number, pid, holder, joined, lease_until, gone, settled)
			VALUES ($1, 1, $2, $3, true, clock_timestamp() + make_interval(secs => $4), '', $5) ON CONFLICT DO NOTHING`,
			m.runID, int32(l.pid), string(text), leaseRunner.Seconds(), o.Settled)
		m.queueTally(b, 0, o.Tally)
		b.Queue(`INSERT INTO shares (run_id, stopped, closed) VALUES ($1, '', false) ON CONFLICT DO NOTHING`, m.runID)
	})
	if err != nil {
		return j.failed("open the run", err)
	}
	m.start(j)
	return j.Err()
}

// shareLock turns a lock that is this session's alone into one that others may hold as well.
func (j *journal) shareLock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, waitLocked)
	defer cancel()
	l := j.lock
	l.mu.Lock() // the watch uses the connection as well
	defer l.mu.Unlock()
	if _, err := l.conn.Exec(ctx, `SELECT pg_advisory_lock_shared($1, $2)`, l.class, l.number); err != nil {
		return err
	}
	_, err := l.conn.Exec(ctx, `SELECT pg_advisory_unlock($1, $2)`, l.class, l.number)
	l.shared = true
	return err
}

// publish writes what others need, before any of them can see that the run is open.
func (m *member) publish(ctx context.Context, o state.Opening) error {
	for n := 0; n*planChunk < len(o.Plan); n++ {
		data := o.Plan[n*planChunk : min(len(o.Plan), (n+1)*planChunk)]
		if err := m.do(ctx, func(b *pgx.Batch) {
			b.Queue(`INSERT INTO share_plans (run_id, number, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, m.runID, n, data)
		}); err != nil {
			return err
		}
	}
	put := func(b *pgx.Batch, p state.Part, runner *int, done bool) {
		b.Queue(`INSERT INTO parts (run_id, number, level, ref_ids, runner, again, done) VALUES ($1, $2, $3, $4, $5, false, $6) ON CONFLICT DO NOTHING`,
			m.runID, p.Number, p.Level, append([]string{}, p.RefIDs...), runner, done) // nil would be NULL
	}
	const together = 64 // parts of one statement's transaction
	for at := 0; at < len(o.Parts); at += together {
		some := o.Parts[at:min(len(o.Parts), at+together)]
		if err := m.do(ctx, func(b *pgx.Batch) {
			for _, p := range some {
				put(b, p, nil, false)
			}
		}); err != nil {
			return err
		}
	}
	rates := o.Rates()
	return m.do(ctx, func(b *pgx.Batch) {
		put(b, state.Part{RefIDs: o.InHand}, &m.number, len(o.InHand) == 0)
		for operation, rate := range rates {
			b.Queue(`INSERT INTO rates (operation, requests, seconds) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
				string(operation), rate.Requests, rate.Window.Seconds())
			for _, age := range rate.Ages {
				b.Queue(`INSERT INTO permits (operation, until, starts) VALUES ($1, clock_timestamp() - make_interval(secs => $2), 1)`,
					string(operation), (age - state.Lateness(rate.Window)).Seconds())
			}
		}
	})
}

// failed ends a journal whose runner can't go on with the others: it would write without
// knowing which parts are still its own.
func (j *journal) failed(what string, err error) error {
	err = awayOr(j.taken(j.store.hide(explain(err))))
	if !errors.Is(err, state.ErrFenced) {
		err = fmt.Errorf("%s: %w", what, err)
	}
	j.Break(err)
	return err
}

// do is that of the member, after which the journal goes on or has failed.
func (j *journal) do(ctx context.Context, what string, fill func(*member, *pgx.Batch)) error {
	m := j.member.Load()
	if m == nil {
		return errAlone
	}
	if err := j.Err(); err != nil {
		return err
	}
	if err := m.do(ctx, func(b *pgx.Batch) { fill(m, b) }); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return j.failed(what, err)
	}
	return nil
}

// Plan implements [state.JoinedJournal].
func (j *journal) Plan(ctx context.Context) ([]byte, error) {
	var plan []byte
	err := j.do(ctx, "read the plan of the run", func(m *member, b *pgx.Batch) {
		plan = nil
		b.Queue(`SELECT data FROM share_plans WHERE run_id = $1 ORDER BY number`, m.runID).Query(func(rows pgx.Rows) error {
			return readRows(rows, func(c *columns) error {
				plan = append(plan, c.next()...)
				return c.err
			})
		})
	})
	return plan, err
}

// Rates implements [state.JoinedJournal].
func (j *journal) Rates(ctx context.Context) (map[transfer.Operation]state.Rate, error) {
	rates := make(map[transfer.Operation]state.Rate)
	err := j.do(ctx, "read the rate limits of the run", func(_ *member, b *pgx.Batch) {
		clear(rates)
		b.Queue(`SELECT operation, requests, seconds FROM rates`).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var operation string
				var rate state.Rate
				var seconds float64
				if err := rows.Scan(&operation, &rate.Requests, &seconds); err != nil {
					return err
				}
				rate.Window = time.Duration(seconds * float64(time.Second))
				rates[transfer.Operation(operation)] = rate
			}
			return rows.Err()
		})
	})
	return rates, err
}

// stillThereSQL says that the runner is not taken for lost: a batch whose sign of life failed is
// still carried out.
const stillThereSQL = `EXISTS (SELECT 1 FROM runners WHERE run_id = $1 AND number = $2 AND gone = '')`

// claimSQL claims the first $3 parts whose level is the lowest that is not done. One that the
// runner has, and does not know of because the answer was lost, is claimed again; $4 are those
// that it knows of.
const claimSQL = `UPDATE parts SET runner = $2 WHERE run_id = $1 AND number IN (
		SELECT number FROM parts
		WHERE run_id = $1 AND NOT done AND (runner IS NULL OR runner = $2 AND number <> ALL ($4))
			AND level = (SELECT min(level) FROM parts WHERE run_id = $1 AND NOT done)
			AND ` + stillThereSQL + `
		ORDER BY level, number LIMIT $3 FOR UPDATE SKIP LOCKED)
	RETURNING number, level, ref_ids, again`

// claimMax is how many parts are claimed at once at most.
const claimMax = 256

// Claim implements [state.Share].
func (j *journal) Claim(ctx context.Context, all bool) (parts []state.Part, done bool, err error) {
	n := 1
	if all {
		n = claimMax
	}
	err = j.do(ctx, "claim a part of the run", func(m *member, b *pgx.Batch) {
		m.took.Store(true)
		parts = nil
		m.queueRenew(b)
		b.Queue(claimSQL, m.runID, m.number, n, m.held()).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var p state.Part
				if err := rows.Scan(&p.Number, &p.Level, &p.RefIDs, &p.Again); err != nil {
					return err
				}
				parts = append(parts, p)
			}
			return rows.Err()
		})
		b.Queue(`SELECT NOT EXISTS (SELECT 1 FROM parts WHERE run_id = $1 AND NOT done)`, m.runID).
			QueryRow(func(row pgx.Row) error { return row.Scan(&done) })
		m.queueStopped(b)
	})
	if err == nil {
		j.member.Load().have(parts)
	}
	return parts, done, err
}

// queueTally has a batch keep a tally of the runner, unless it is there.
func (m *member) queueTally(b *pgx.Batch, number int64, tally []byte) {
	if len(tally) > 0 {
		b.Queue(`INSERT INTO tallies (run_id, runner, number, data) SELECT $1, $2, $3, $4 WHERE `+stillThereSQL+` ON CONFLICT DO NOTHING`,
			m.runID, m.number, number, tally)
	}
}

// Done implements [state.Share].
func (j *journal) Done(ctx context.Context, parts []int, settled int, tally []byte) error {
	var number int64
	if m := j.member.Load(); m != nil {
		number = m.tallies.Add(1)
	}
	err := j.do(ctx, "note what is done of the run", func(m *member, b *pgx.Batch) {
		m.queueRenew(b)
		m.queueTally(b, number, tally)
		b.Queue(`UPDATE parts SET done = true WHERE run_id = $1 AND runner = $2 AND number = ANY ($3)`, m.runID, m.number, parts)
		b.Queue(`UPDATE runners SET settled = $3 WHERE run_id = $1 AND number = $2 AND gone = ''`, m.runID, m.number, settled)
	})
	if err == nil {
		j.member.Load().haveNot(parts)
	}
	return err
}

// Stop implements [state.Share].
func (j *journal) Stop(ctx context.Context, reason string) error {
	return j.do(ctx, "stop the run", func(m *member, b *pgx.Batch) {
		m.queueRenew(b)
		b.Queue(`UPDATE shares SET stopped = $3 WHERE run_id = $1 AND stopped = '' AND `+stillThereSQL, m.runID, m.number, reason)
	})
}

// Stopped implements [state.Share].
func (j *journal) Stopped() string {
	if m := j.member.Load(); m != nil {
		return *m.stopped.Load()
	}
	return ""
}

// Reserve implements [state.Share]. A reserved start counts for a window from the latest moment at
// which it may come to the service: the clock of the server need not be that of the runner,
// and a machine may be slow.
func (j *journal) Reserve(ctx context.Context, operation transfer.Operation, rate state.Rate, wanted int) (starts int, within time.Duration, err error) {
	hold := state.Lateness(rate.Window)
	var wait *float64
	err = j.do(ctx, "reserve requests", func(_ *member, b *pgx.Batch) {
		b.Queue(`SELECT granted, wait FROM reserve($1, $2, $3, $4, $5)`,
			string(operation), wanted, rate.Requests, rate.Window.Seconds(), (2 * hold).Seconds()).
			QueryRow(func(row pgx.Row) error { return row.Scan(&starts, &wait) })
	})
	if err != nil {
		return 0, 0, err
	}
	if starts > 0 {
		return starts, hold, nil
	}
	if wait != nil {
		within = time.Duration(*wait * float64(time.Second))
	}
	return 0, max(within, time.Millisecond), nil
}

// Runners implements [state.Share].
func (j *journal) Runners(ctx context.Context) ([]state.Runner, [][]byte, error) {
	var runners []state.Runner
	var tallies [][]byte
	err := j.do(ctx, "read who carried out the run", func(m *member, b *pgx.Batch) {
		runners, tallies = nil, nil
		m.queueStopped(b)
		b.Queue(`SELECT number, holder, settled, gone = 'lost' FROM runners WHERE run_id = $1 AND joined ORDER BY number`, m.runID).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var r state.Runner
				var holder string
				if err := rows.Scan(&r.Number, &holder, &r.Settled, &r.Lost); err != nil {
					return err
				}
				var h state.Holder
				if err := json.Unmarshal([]byte(holder), &h); err != nil {
					return err
				}
				r.User, r.Host, r.PID = h.User, h.Host, h.PID
				runners = append(runners, r)
			}
			return rows.Err()
		})
		b.Queue(`SELECT data FROM tallies WHERE run_id = $1 ORDER BY runner, number`, m.runID).Query(func(rows pgx.Rows) error {
			return readRows(rows, func(c *columns) error {
				tallies = append(tallies, bytes.Clone(c.next()))
				return c.err
			})
		})
	})
	return runners, tallies, err
}

// Alone implements [state.Share]. The row of the run is locked, as by one who enters, so that of
// several who leave at the same moment one is the last.
func (j *journal) Alone(ctx context.Context) (bool, error) {
	m := j.member.Load()
	if m != nil { // who leaves shows no sign of life
		m.rest()
	}
	alone := false
	err := j.do(ctx, "look for other runners", func(m *member, b *pgx.Batch) {
		b.Queue(leavingSQL, m.runID, m.number, leaseRunner.Seconds()).QueryRow(isThereStill)
		b.Queue(`SELECT FROM shares WHERE run_id = $1 FOR UPDATE`, m.runID)
		b.Queue(evictSQL, m.runID, m.number, int64(m.lock.class), int32(m.lock.pid))
		b.Queue(freeSQL, m.runID)
		b.Queue(`UPDATE shares SET closed = NOT EXISTS (
				SELECT 1 FROM runners WHERE run_id = $1 AND number <> $2 AND joined AND gone = '')
			WHERE run_id = $1 AND `+stillThereSQL+` RETURNING closed`, m.runID, m.number).QueryRow(func(row pgx.Row) error {
			if err := row.Scan(&alone); !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			alone = false // it has left already, and the answer that said so was lost
			return nil
		})
		b.Queue(`UPDATE runners SET gone = 'left' WHERE run_id = $1 AND number = $2 AND gone = ''
			AND NOT (SELECT closed FROM shares WHERE run_id = $1)`, m.runID, m.number)
		b.Queue(freeSQL, m.runID)
	})
	if err == nil && alone {
		m.start(j)
	}
	return alone, err
}

// Leave implements [state.Share]. Where another runner was lost and may only be stopped, the last
// one to leave takes the lock away from it, so that it does not hold up the next run.
func (j *journal) Leave(ctx context.Context) error {
	if m := j.member.Load(); m != nil { // who has left shows no sign of life
		m.rest()
	}
	err := j.do(ctx, "leave the run", func(m *member, b *pgx.Batch) {
		if m.took.Load() || m.number == 1 {
			b.Queue(`UPDATE runners SET gone = 'left' WHERE run_id = $1 AND number = $2 AND gone = ''`, m.runID, m.number)
		} else { // it was refused before it asked for a part of the run
			b.Queue(`DELETE FROM runners WHERE run_id = $1 AND number = $2 AND gone <> 'lost'`, m.runID, m.number)
		}
		b.Queue(freeSQL, m.runID)
	})
	if err != nil {
		return err
	}
	return j.do(ctx, "leave the run", func(m *member, b *pgx.Batch) {
		b.Queue(`UPDATE meta SET lock = lock + 1, fence = fence + 1, holder_pid = 0, holder = ''
			WHERE fence = $2 AND lock = $3
				AND EXISTS (SELECT 1 FROM runners WHERE run_id = $1 AND gone = 'lost')
				AND NOT EXISTS (SELECT 1 FROM runners WHERE run_id = $1 AND joined AND gone = '')`, m.runID, m.lock.fence, m.lock.number)
		b.Queue(`DELETE FROM share_plans WHERE run_id = $1 AND NOT EXISTS (SELECT 1 FROM runners WHERE run_id = $1 AND joined AND gone = '')`, m.runID)
	})
}
