package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"remit/state"
	"remit/state/storage"
)

const (
	// attemptsMax is how often one commit is tried.
	attemptsMax = 5
	// pauseAttempt is waited before it is tried again.
	pauseAttempt = 50 * time.Millisecond
)

// errUncertain says that a COMMIT was sent and not answered, or with a warning.
var errUncertain = errors.New("what became of a commit is not known")

// connect gives the journal a connection of its own, which open opens. The server itself ends a transaction in
// which this process hangs: the lock could not be taken away else.
func (j *journal) connect(ctx context.Context, open func(context.Context) (*pgx.Conn, error)) error {
	conn, err := open(ctx)
	if err != nil {
		return err
	}
	j.conn, j.patience = conn, 0
	if err := j.setPatience(ctx); err != nil {
		j.conn = nil
		return errors.Join(err, closeConn(conn))
	}
	return nil
}

// setPatience tells the server after how long to end an idle transaction: where others wait for it,
// sooner.
func (j *journal) setPatience(ctx context.Context) error {
	patience := waitStopped
	if j.member.Load() != nil {
		patience = waitStanding
	}
	if j.patience == patience {
		return nil
	}
	j.patience = patience
	_, err := j.conn.Exec(ctx, fmt.Sprintf(`SET idle_in_transaction_session_timeout = %d`, patience.Milliseconds()))
	return err
}

// transact is the journal's [storage.Commit]. It tries a commit again where it is certain that
// the one before wrote nothing: the server refused it, or no COMMIT was sent, or it was sent
// and is not there once the server has let go of that transaction. It does not where the journal
// was broken meanwhile: an event that is not written by then, must not be.
func (j *journal) transact(calls []*storage.Call) ([]error, error) {
	for attempt := 1; ; attempt++ {
		stage, answers, err := j.attempt(calls)
		if errors.Is(err, errUncertain) {
			var there bool
			if there, err = j.isThere(stage, err); there {
				err = nil
			}
		}
		switch {
		case err == nil:
			j.tip = stage.Tip
			j.newest.Store(new(j.tip))
			j.note.Load().Write(j.tip.Serial, j.tip.Head)
			return answers, nil
		case attempt == attemptsMax || !isTransient(err):
			return answers, awayOr(j.taken(j.store.hide(explain(err))))
		}
		if broken := j.Broken(); broken != nil {
			return answers, broken
		}
		time.Sleep(pauseAttempt) // nobody waits for less than the commit
	}
}

// isTransient reports whether a commit that wrote nothing may succeed when it is tried again:
// the server gave way to another transaction, or did not come to its turn behind one, or the
// connection broke. Whether the lock is still held is asked anew by each attempt.
func isTransient(err error) bool {
	c := code(err)
	return errors.Is(err, errBroken) || c == codeSerialization || c == codeDeadlock || c == codeLockTimeout
}

// errBroken says that a connection broke before a COMMIT was sent.
var errBroken = errors.New("the connection broke")

// attempt tries a commit once. Where the error is errUncertain the stage says what it would
// have written.
func (j *journal) attempt(calls []*storage.Call) (*storage.Stage, []error, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitAnswer)
	defer cancel()
	if j.conn == nil || j.conn.IsClosed() {
		if err := j.connect(ctx, j.store.reconnect); err != nil {
			return nil, nil, retold{fmt.Errorf("%w: %w", errBroken, err), "the server can't be reached: " + brief(err)}
		}
	}
	if err := j.setPatience(ctx); err != nil {
		_ = closeConn(j.conn) // it does not live, or not as it should
		return nil, nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	loaded, err := j.begin(ctx, calls)
	if err != nil {
		return nil, nil, j.rollback(err)
	}
	j.tip = loaded.tip
	stage := storage.NewStage(j.tip, loaded.rows, loaded, j.store.now)
	answers, err := stage.TakeAll(calls)
	if err != nil {
		return nil, answers, j.rollback(err)
	}
	if len(stage.Events) == 0 {
		return stage, answers, j.rollback(nil)
	}
	err = withoutWarning(j.conn, func() error {
		return sendBatch(ctx, j.conn, func(b *pgx.Batch) { j.write(b, stage) })
	})
	if errors.Is(err, errUncertain) {
		return stage, answers, err
	}
	if err != nil && (j.conn.IsClosed() || isEnding(err)) {
		return stage, answers, fmt.Errorf("%w: %w", errUncertain, err)
	}
	if err != nil {
		err = j.rollback(err)
	}
	return stage, answers, err
}

// isEnding reports whether the server said that it ends the session, which it may do after it
// has committed.
func isEnding(err error) bool {
	const classOperator = "57"
	c := code(err)
	return len(c) == 5 && c[:2] == classOperator
}

// rollback ends a transaction that wrote nothing, for the reason err. The error is errBroken
// as well where the connection did not live to do it.
func (j *journal) rollback(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), waitLocked)
	defer cancel()
	if _, back := j.conn.Exec(ctx, `ROLLBACK`); back != nil {
		_ = closeConn(j.conn) // the server rolls back what nobody commits
		if err == nil {
			return errBroken
		}
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

// write queues what a stage changes, and the COMMIT, which the server comes to only where all
// before it succeeded.
func (j *journal) write(b *pgx.Batch, stage *storage.Stage) {
	insertLines(b, stage.Events)
	if len(stage.Rows.Rows) > 0 {
		foldRows(b, stage.Rows)
	}
	markFolded(b, j.store.wanted, stage.Tip.Serial)
	if stage.Tip.Service != j.tip.Service || stage.Tip.Environment != j.tip.Environment {
		updateBinding(b, stage.Tip.Meta)
	}
	writeNames(b, stage)
	b.Queue(`COMMIT`)
}

// loaded is what a commit reads before it decides.
type loaded struct {
	tip    storage.Tip
	rows   *storage.Overlay
	owners map[string]string
	groups map[string][2]string
	run    func(runID string) (state.Run, error)

	countNames func() (int, error)
}

// Owner implements [storage.Stored].
func (l loaded) Owner(recordID string) (string, error) { return l.owners[recordID], nil }

// GroupOwners implements [storage.Stored].
func (l loaded) GroupOwners(groupID string) ([2]string, error) { return l.groups[groupID], nil }

// Run implements [storage.Stored].
func (l loaded) Run(runID string) (state.Run, error) { return l.run(runID) }

// begin begins a transaction as the only one who may commit, and reads what the calls are
// about. The state must be where this journal left it.
func (j *journal) begin(ctx context.Context, calls []*storage.Call) (loaded, error) {
	refIDs, recordIDs, groupIDs := subjects(calls)
	l := loaded{
		tip: j.tip, rows: storage.NewOverlay(nil), owners: make(map[string]string), groups: make(map[string][2]string),
		run: func(runID string) (state.Run, error) { return readRun(ctx, j.conn, runID) },
		countNames: func() (count int, err error) {
			err = j.conn.QueryRow(ctx, `SELECT count(*) FROM names`).Scan(&count)
			return count, err
		},
	}
	var b pgx.Batch
	b.Queue(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`)
	b.Queue(heldSQL+` FOR UPDATE`, j.lock.arguments()...).QueryRow(j.lock.held)
	if m := j.member.Load(); m != nil {
		m.queueTip(&b, j.tip, &l.tip)
	} else {
		b.Queue(`SELECT seq, encode(hash, 'hex') FROM events ORDER BY seq DESC LIMIT 1`).QueryRow(j.atTip)
	}
	var reader rowReader
	if len(refIDs) > 0 {
		b.Queue(`SELECT `+rowColumns+` FROM transfers WHERE ref_id = ANY($1)`, refIDs).Query(func(rows pgx.Rows) error {
			return readRows(rows, func(c *columns) error {
				r, err := reader.read(c)
				l.rows.Put(r)
				return cmp.Or(err, r.CheckIn(l.tip.Serial))
			})
		})
	}
	if len(recordIDs) > 0 {
		b.Queue(`SELECT record_id, ref_id FROM transfers WHERE record_id = ANY($1)`, recordIDs).Query(func(rows pgx.Rows) error {
			return readRows(rows, func(c *columns) error {
				recordID := c.text()
				l.owners[recordID] = c.text()
				return c.err
			})
		})
	}
	if len(groupIDs) > 0 {
		b.Queue(`SELECT group_id, min(ref_id), max(ref_id) FROM transfers
			WHERE group_id = ANY($1) AND group_id <> '' GROUP BY group_id`, groupIDs).Query(func(rows pgx.Rows) error {
			return readRows(rows, func(c *columns) error {
				groupID := c.text()
				l.groups[groupID] = [2]string{c.text(), c.text()}
				return c.err
			})
		})
	}
	err := j.conn.SendBatch(ctx, &b).Close()
	return l, err
}

// atTip returns an error where the newest event is not the one that this journal wrote or
// found last: the server lost durable events, as one does that takes another's place.
func (j *journal) atTip(row pgx.Row) error {
	var seq int64
	var hash string
	if err := row.Scan(&seq, &hash); err != nil {
		return err
	}
	if seq != j.tip.Serial || hash != j.tip.Head {
		return fmt.Errorf("its newest event is number %d, and not number %d that was written last: %w", seq, j.tip.Serial, state.ErrReplaced)
	}
	return nil
}

// subjects are the ref_ids that calls are about, and the records and group_ids that they would store.
func subjects(calls []*storage.Call) (refIDs []string, recordIDs, groupIDs [][]byte) {
	seen := make(map[string]bool)
	for _, c := range calls {
		for _, d := range c.Drafts {
			if refID, _ := d.Entry.Subject(); refID != "" && !seen[refID] {
				seen[refID] = true
				refIDs = append(refIDs, refID)
			}
			if id := d.RecordID(); id != "" {
				recordIDs = append(recordIDs, []byte(id))
			}
			if groupID := d.ClaimsGroup(); groupID != "" {
				groupIDs = append(groupIDs, []byte(groupID))
			}
		}
	}
	return refIDs, recordIDs, groupIDs
}

// isThere finds out whether a commit that was not answered is in the database. It locks the row
// that the commit had locked, and so waits until the server has let go of that transaction: from
// then on its events are there, or never will be. To lock a row is to write: its own COMMIT waits
// for all standbys that the one before was to wait for, and so the answer is theirs as well.
func (j *journal) isThere(stage *storage.Stage, unanswered error) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitAnswer)
	defer cancel()
	_ = closeConn(j.conn)
	j.conn = nil
	err := j.connect(ctx, j.store.reconnect)
	var there bool
	if err == nil {
		last := stage.Events[len(stage.Events)-1]
		err = withoutWarning(j.conn, func() error {
			return pgx.BeginFunc(ctx, j.conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, `SELECT FROM meta FOR UPDATE`); err != nil {
					return err
				}
				return tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM events WHERE seq = $1 AND hash = $2)`, last.Seq, hashBytes(last.Hash)).Scan(&there)
			})
		})
	}
	switch {
	case err != nil:
		return false, retold{errors.Join(unanswered, err), fmt.Sprintf("%v, and the server can't be asked: %s", errUncertain, brief(err))}
	case !there:
		return false, errBroken // and so nothing was written
	}
	return true, nil
}

// brief is the server's or the network's own text, without the text around it.
func brief(err error) string {
	var said *pgconn.PgError
	var network *net.OpError
	switch {
	case errors.As(err, &said):
		return said.Error()
	case errors.As(err, &network):
		return network.Error()
	}
	return err.Error()
}

// readRun returns one run, the zero Run where the state does not know it.
func readRun(ctx context.Context, conn *pgx.Conn, runID string) (state.Run, error) {
	var lines []storage.StoredEvent
	err := readAll(ctx, conn, func(c *columns) error {
		l, err := readLine(c)
		lines = append(lines, l)
		return err
	}, `SELECT `+eventColumns+` FROM events WHERE seq IN (
			SELECT begun_seq FROM runs WHERE run_id = $1 UNION SELECT ended_seq FROM runs WHERE run_id = $1)
		ORDER BY seq`, runID)
	if err != nil || len(lines) == 0 {
		return state.Run{}, err
	}
	runs, err := storage.Runs(storage.Lines(lines))
	if err != nil {
		return state.Run{}, err
	}
	return runs[0], nil
}
