package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// versionMin is the oldest server that a state is kept in: 15.0, as server_version_num.
const versionMin = 150000

// sessionSettings are those of every session. The planner is kept from plans that are only faster on
// tables that are small: a statement that was planned for such a one lives on in a run, and
// every read of a state is one along an index.
const sessionSettings = `
	SET statement_timeout = 0;
	SET search_path TO %s;
	SET lock_timeout = %d;
	SET client_encoding = 'UTF8';
	SET standard_conforming_strings = on;
	SET default_transaction_isolation = 'read committed';
	SET default_transaction_deferrable = off;
	SET idle_in_transaction_session_timeout = 0;
	SET idle_session_timeout = 0;
	SET client_min_messages = warning;
	SET enable_seqscan = off;
	SET enable_bitmapscan = off;
	SET enable_sort = off;
	SET enable_hashjoin = off;
	SET jit = off`

// simply has a statement be asked without being prepared, so that it can be asked through a
// pooler that mixes up what its clients prepared.
const simply = pgx.QueryExecModeSimpleProtocol

// prepareSession settles what a connection is used with, whatever the server, the database or
// the role would have it be, and refuses a server that can't keep a state.
func (s *Store) prepareSession(ctx context.Context, conn *pgx.Conn) error {
	settings := fmt.Sprintf(sessionSettings, s.quotedSchema(), waitLocked.Milliseconds())
	if s.readOnly {
		settings += `; SET default_transaction_read_only = on`
	} else {
		settings += `; SET default_transaction_read_only = off`
	}
	if _, err := conn.PgConn().Exec(ctx, settings).ReadAll(); err != nil {
		return err
	}
	var version int
	var encoding string
	var unlimited *string // null before version 17, which brought the limit
	if err := conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
		CASE WHEN current_setting('transaction_timeout', true) <> '' THEN set_config('transaction_timeout', '0', false) END`, simply).
		Scan(&version, &encoding, &unlimited); err != nil {
		return err
	}
	switch {
	case version < versionMin:
		return fmt.Errorf("the server is PostgreSQL %d: a state needs %d or later", version/10000, versionMin/10000)
	case encoding != "UTF8":
		return fmt.Errorf("the encoding of the database is %s instead of UTF8", encoding)
	case s.readOnly:
		return nil
	}
	if err := assertDurable(ctx, conn); err != nil {
		return err
	}
	return s.assertCopied(ctx, conn)
}

// assertDurable has the session wait for its commits to be durable, and refuses a server that
// would not make them so.
func assertDurable(ctx context.Context, conn *pgx.Conn) error {
	var asked string
	err := conn.QueryRow(ctx, `SELECT coalesce(max(setting), '') FROM pg_settings
		WHERE name = 'synchronous_commit' AND source = 'client' AND setting IN ('off', 'local')`, simply).Scan(&asked)
	if err != nil {
		return err
	}
	if asked != "" {
		return errNotDurable("the url of the state, or PGOPTIONS,", asked)
	}
	// A setting that waits for standbys as well is left as it is.
	_, err = conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false)
		WHERE current_setting('synchronous_commit') IN ('off', 'local')`, simply)
	if err != nil {
		return err
	}
	var fsync, commit string
	var follows bool
	err = conn.QueryRow(ctx, `SELECT current_setting('fsync'), current_setting('synchronous_commit'), pg_is_in_recovery()`, simply).
		Scan(&fsync, &commit, &follows)
	switch {
	case err != nil:
		return err
	case fsync != "on":
		return fmt.Errorf("the server would lose what was written when it loses power: fsync is %s", fsync)
	case commit == "off" || commit == "local":
		return fmt.Errorf("what is written would not be durable: synchronous_commit is %s", commit)
	case follows:
		return errors.New("the server is a copy that follows another one, and can't be written to")
	}
	return nil
}

// assertCopied refuses a server whose place another one may take, as a URL with several hosts says, where no commit waits
// for the other one: what it lacks then, remit would pay again.
func (s *Store) assertCopied(ctx context.Context, conn *pgx.Conn) error {
	if !s.hasSeveralHosts() {
		return nil
	}
	var waits bool
	err := conn.QueryRow(ctx, `SELECT `+copiedSQL, simply).Scan(&waits)
	if err == nil && !waits {
		err = errors.New("the url of the state names several servers, of which another one may take over, and no commit waits for a copy: " +
			"synchronous_standby_names is empty on this one. Switch on what fills it, such as synchronous_mode of Patroni, or name one address in the url")
	}
	return err
}

// errNotDurable says that someone asks for less than durable.
func errNotDurable(who, asked string) error {
	return fmt.Errorf("%s asks for synchronous_commit = %s: what is written would not be durable", who, asked)
}

// errPooled says that sessions are not the client's own.
var errPooled = errors.New("the url leads to a connection pooler that shares one session among clients from transaction to transaction, " +
	"such as PgBouncer with pool_mode = transaction. A lock belongs to a session, so none could be held there: " +
	"name the server itself, or a pool whose pool_mode is session")

// looksPooler is how often two connections are asked for their sessions: others, who use the pool
// as well, may come between two questions.
const looksPooler = 8

// refusePooler returns errPooled where a second connection comes to the session of the first, or
// one of them to another session than before.
// A pooler gives its client a process number of its own, so that nothing is asked where there
// is none.
func (s *Store) refusePooler(ctx context.Context, conn *pgx.Conn) error {
	first, err := backend(ctx, conn)
	if err != nil || first == conn.PgConn().PID() {
		return err
	}
	return s.withConn(ctx, func(other *pgx.Conn) error {
		var second uint32
		for range looksPooler {
			before := second
			if second, err = backend(ctx, other); err != nil {
				return err
			}
			again, err := backend(ctx, conn)
			switch {
			case err != nil:
				return err
			case second == first, again != first, before != 0 && second != before:
				return errPooled
			}
		}
		return nil
	})
}

// backend is the number of the server's process that answers conn.
func backend(ctx context.Context, conn *pgx.Conn) (uint32, error) {
	var pid uint32
	err := conn.QueryRow(ctx, `SELECT pg_backend_pid()::bigint`, simply).Scan(&pid)
	return pid, err
}
