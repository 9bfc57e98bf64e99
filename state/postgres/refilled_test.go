//go:build unix

package postgres_test

import (
	"testing"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// isRestored is what a state says of itself to a reader.
func isRestored(t *testing.T, s *postgres.Store) bool {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	return snapshot.Meta().Restored
}

// dataOf is a dump of the rows of a schema.
func dataOf(t *testing.T, server *pgtest.Server, schema string) []byte {
	t.Helper()
	dump, err := server.Backup(schema, "--data-only", "--disable-triggers")
	if err != nil {
		t.Fatal(err)
	}
	return dump
}

// refill has the tables of a schema hold the rows of a dump.
func refill(t *testing.T, server *pgtest.Server, schema string, dump []byte) {
	t.Helper()
	if err := server.Refill(schema, dump); err != nil {
		t.Fatal(err)
	}
}

// TestRowsOfADumpAreToldFromThoseThatRemitWrote loads a dump of rows into the tables that are there, whose numbers stay. Neither
// an unlock by force nor further events hide it.
func TestRowsOfADumpAreToldFromThoseThatRemitWrote(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	if isRestored(t, s) {
		t.Fatal("a new state counts as restored")
	}
	older := dataOf(t, server, schema)
	j := lock(t, s)
	if err := j.Append(t.Context(), statetest.Intent("a", "run", "10.00")); err != nil {
		t.Fatal(err)
	}
	unlock(t, j)
	for _, harmless := range []string{
		`VACUUM (FREEZE) events`, `VACUUM FULL events`, `CLUSTER events USING events_pkey`,
		`UPDATE meta SET written = written + 4294967296`, // the server counts on beyond 32 bits
	} {
		server.Exec(t, schema, harmless)
		if isRestored(t, s) {
			t.Fatalf("after %s it counts as restored", harmless)
		}
	}
	refill(t, server, schema, older)
	for name, do := range map[string]func(){
		"nothing": func() {},
		"an unlock by force": func() {
			if err := s.ForceUnlock(t.Context(), state.Holder{}, state.Clocks{}, "test"); err != nil {
				t.Fatal(err)
			}
		},
		"events": func() {
			j := lock(t, s)
			if err := j.Append(t.Context(), statetest.Intent("b", "run", "10.00")); err != nil {
				t.Fatal(err)
			}
			unlock(t, j)
		},
	} {
		if do(); !isRestored(t, s) {
			t.Errorf("after %s it does not count as restored", name)
		}
	}
	j = lock(t, s)
	if err := j.(state.Completer).Complete(); err != nil {
		t.Fatal(err)
	}
	unlock(t, j)
	if isRestored(t, s) {
		t.Error("a state that is complete counts as restored")
	}
}

// TestRowsOfAnEarlierVersionAreKnownInNewerTables loads a dump of rows that an earlier version wrote into tables that were migrated since.
func TestRowsOfAnEarlierVersionAreKnownInNewerTables(t *testing.T) {
	suite.Slow(t)
	t.Parallel()
	server := pgtest.Shared(t)
	schema := server.Schema()
	old, err := postgres.CreateAt(t.Context(), statetest.Created(), options(server, schema), 10)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, old)
	older := dataOf(t, server, schema)
	s := reopen(t, server, schema)
	for range 2 { // before the migration, and after it
		if isRestored(t, s) {
			t.Fatal("a state of an earlier version counts as restored")
		}
		unlock(t, lock(t, s))
	}
	refill(t, server, schema, older)
	for range 2 {
		if !isRestored(t, s) {
			t.Fatal("rows of an earlier version do not count as restored")
		}
		unlock(t, lock(t, s))
	}
	closed(t, s)
}
