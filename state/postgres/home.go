package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"remit/state"
	"remit/state/storage"
)

// schemaHome is the first schema that says which tables it is in.
const schemaHome = 10

// homeSQL names the tables of a state as no others are named: the identifier $1 of their server, which its copies share, the
// number of the database there, and that of a table. A dump that is restored makes tables with other numbers.
const homeSQL = `$1::text || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || 'meta'::regclass::oid`

// schemaWritten is the first schema that names the transaction which wrote the newest event.
const schemaWritten = 11

const (
	// xidSQL is the number of the transaction that wrote a row. The server keeps 32 bits of it, also when it freezes the row.
	xidSQL = `xmin::text::bigint`

	// isRefilledSQL asks whether another transaction than that which meta names wrote the newest event, as one does that
	// loads the rows of a dump into the tables that are there. A state of an earlier schema names none.
	isRefilledSQL = `coalesce((to_jsonb(meta)->>'written')::bigint & 4294967295 <> newest.xid, false)`

	// tellRefilledSQL keeps that answer, before the next event hides it: restored names no tables, so the state has no home.
	tellRefilledSQL = `UPDATE meta SET home = CASE WHEN starts_with(home, $1) THEN home ELSE 'restored' END, written = newest.xid
		FROM (SELECT ` + xidSQL + ` AS xid FROM events ORDER BY seq DESC LIMIT 1) newest WHERE ` + isRefilledSQL
)

// tellRefilled writes in a state of a schema that its rows were loaded from a dump, where they were. Each transaction that
// appends to a journal which it has not followed calls it first.
func tellRefilled(ctx context.Context, tx pgx.Tx, version int) error {
	if version < schemaWritten {
		return nil
	}
	_, err := tx.Exec(ctx, tellRefilledSQL, lackPrefix)
	return err
}

// systemOf is the identifier of a server, which its copies share; "" where the server does not tell.
func systemOf(ctx context.Context, q querier) (system string, err error) {
	err = q.QueryRow(ctx, `SELECT system_identifier::text FROM pg_control_system()`).Scan(&system)
	if hidesLog(err) {
		err = nil
	}
	return system, err
}

// constant are the facts that do not change while a state is open.
type constant struct {
	system  string // identifier of the server, as [systemOf] has it
	lineage string
}

// constants are asked for once.
func (s *Store) constants(ctx context.Context, q querier) (constant, error) {
	if known := s.known.Load(); known != nil {
		return *known, nil
	}
	var c constant
	err := q.QueryRow(ctx, `SELECT lineage FROM meta`).Scan(&c.lineage)
	if err == nil {
		c.system, err = systemOf(ctx, q)
	}
	if err == nil {
		s.known.Store(&c)
	}
	return c, err
}

// isHome reports whether the tables that recorded names are those that found names. A state of an earlier schema has
// recorded none. A server that does not tell its identifier is taken for the one that did.
func isHome(recorded, found string) bool {
	if recorded == "" {
		return true
	}
	systemThen, tablesThen, _ := strings.Cut(recorded, "/")
	systemNow, tablesNow, _ := strings.Cut(found, "/")
	return tablesThen == tablesNow && (systemThen == systemNow || systemThen == "" || systemNow == "")
}

// lackPrefix begins the text in place of a home, where a machine had a note of an event that the state lacks. The number
// of that event follows.
const lackPrefix = "lacks "

// lackOf returns the event that a state lacks, as one of the machines that use it has told.
func lackOf(recorded string) (seq int64, isTold bool) {
	number, isTold := strings.CutPrefix(recorded, lackPrefix)
	if !isTold {
		return 0, false
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil { // no remit wrote that: its number is unknown, and a lack it is
		seq = 1
	}
	return seq, true
}

// settle writes which tables a state is in, where nothing says so yet.
func settle(ctx context.Context, tx pgx.Tx, system string) error {
	_, err := tx.Exec(ctx, `UPDATE meta SET home = `+homeSQL+` WHERE home = ''`, system)
	return err
}

var (
	_ state.Completer = (*journal)(nil)
	_ state.Noting    = (*journal)(nil)
	_ state.Witness   = (*journal)(nil)
	_ state.Successor = (*journal)(nil)
)

// Complete implements [state.Completer]: from now on the state is at home in the tables where it is, and the note of
// this machine names its newest event.
func (j *journal) Complete() error {
	err := j.settleHome(context.Background(), `UPDATE meta SET home = `+homeSQL, j.lock.system)
	if err != nil {
		return j.store.wrap("write to", fmt.Errorf("say that it is complete: %w", err))
	}
	j.noteFrom(*j.newest.Load())
	if path := j.store.notePath(j.newest.Load().Lineage); path != "" {
		err = os.Remove(path + storage.BranchSuffix)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// LackAll implements [state.Successor]: every machine reads it.
func (j *journal) LackAll(ctx context.Context) error {
	seq, _ := state.LackAll()
	return j.TellLack(ctx, seq)
}

// TellLack implements [state.Witness]. The first lack that was told stays.
func (j *journal) TellLack(ctx context.Context, seq int64) error {
	err := j.settleHome(ctx, `UPDATE meta SET home = $1::text WHERE NOT starts_with(home, $2)`, lackPrefix+strconv.FormatInt(seq, 10), lackPrefix)
	if err != nil {
		return j.store.wrap("write to", fmt.Errorf("say that it lacks events: %w", err))
	}
	return nil
}

// settleHome changes the home of the state, while the lock is held.
func (j *journal) settleHome(ctx context.Context, update string, arguments ...any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), waitAnswer)
	defer cancel()
	l := j.lock
	l.mu.Lock()
	defer l.mu.Unlock()
	return j.taken(withoutWarning(l.conn, func() error {
		return pgx.BeginFunc(ctx, l.conn, func(tx pgx.Tx) error {
			if err := l.held(tx.QueryRow(ctx, heldSQL+` FOR UPDATE`, l.arguments()...)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, update, arguments...)
			return err
		})
	}))
}
