package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"remit/internal/proof/suite"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// held has a session of somebody else lock a table, until let is called.
func held(t *testing.T, server *pgtest.Server, schema, table, mode string) (let func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	name := pgx.Identifier{schema, table}.Sanitize()
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE `+name+` IN `+mode+` MODE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// waitGivenUp waits until somebody has waited for a table, and given up.
func waitGivenUp(t *testing.T, server *pgtest.Server, schema, table string) {
	t.Helper()
	waits := func() string {
		return server.Exec(t, schema, `SELECT coalesce(min(waitstart), 'infinity')::text FROM pg_locks WHERE NOT granted AND relation = $1::text::regclass`, table)
	}
	first := "infinity"
	waitUntil(t, "somebody waits for the table", func() bool { first = waits(); return first != "infinity" })
	waitUntil(t, "and gives up", func() bool { return waits() != first })
}

// The session that holds the lock waits for no table that somebody else has locked: to give that up
// is to lose the lock, and with it a run that does well.
func TestTheSessionOfTheLockWaitsForNoTable(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	j := began(t, s, "run-1")
	let := held(t, server, schema, "runners", "ACCESS EXCLUSIVE")
	defer let()
	waitUntil(t, "the runner looks whether another one asks to take part", func() bool {
		return server.Exec(t, schema, `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'runners'::regclass`) != "0"
	})
	if n := server.Exec(t, schema, `SELECT count(*) FROM pg_locks, meta WHERE pid = holder_pid AND NOT granted`); n != "0" {
		t.Error("it does on the session that holds the lock")
	}
	add(t, j, statetest.Intent("a", "run-1", "10.00"))
}

// A commit that somebody else keeps waiting is tried again: it wrote nothing.
func TestACommitOutlastsATableThatIsLocked(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	j := began(t, s, "run-1")
	let := held(t, server, schema, "transfers", "SHARE")
	go func() {
		defer let()
		waitGivenUp(t, server, schema, "transfers")
	}()
	add(t, j, statetest.Intent("a", "run-1", "10.00"))
	if list := rows(t, s); len(list) != 1 {
		t.Errorf("the state has %v", list)
	}
}

// A run whose connections end while the server has no other ones left waits for them, as long as it
// has its lock.
func TestARunWaitsForConnections(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	s, schema, role := createFor(t, server)
	j := began(t, s, "run-1")
	opened(t, j, rate, nil, "b")
	others := `usename = '` + role + `' AND pid <> (SELECT holder_pid FROM ` + schema + `.meta)`
	for name, do := range map[string]func() error{
		"a commit":              func() error { return j.Append(t.Context(), statetest.Intent("a", "run-1", "10.00")) },
		"a look at the lock":    func() error { return j.Check(t.Context()) },
		"a look at the state":   func() error { return looked(t.Context(), s) },
		"a word to the others":  func() error { return j.Stop(t.Context(), "a conflict") },
		"a start of the others": func() error { _, _, err := j.Reserve(t.Context(), "internal", rate, 1); return err },
	} {
		server.Exec(t, "public", `ALTER ROLE `+role+` CONNECTION LIMIT 0`)
		server.Terminate(t, others)
		done := make(chan error, 1)
		go func() { done <- do() }()
		select {
		case err := <-done:
			t.Errorf("%s does not wait: %v", name, err)
			done <- err
		case <-time.After(time.Second):
		}
		server.Exec(t, "public", `ALTER ROLE `+role+` CONNECTION LIMIT -1`)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// looked reads the state.
func looked(ctx context.Context, s *postgres.Store) error {
	snap, err := s.Snapshot(ctx)
	if err != nil {
		return err
	}
	return snap.Close()
}
