package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// clock stands still: the journal dates events as late as the one before them.
func clock() time.Time { return time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC) }

func options(server *pgtest.Server, schema string) postgres.Options {
	return postgres.Options{URL: server.URL(), Schema: schema, Now: clock}
}

func create(t testing.TB, server *pgtest.Server) (*postgres.Store, string) {
	t.Helper()
	schema := server.Schema()
	s, err := postgres.Create(t.Context(), statetest.Created(), options(server, schema))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, s) })
	return s, schema
}

// createFor makes a state and opens it as a role of its own, whose connections can be limited: those
// of the superuser can't.
func createFor(t testing.TB, server *pgtest.Server) (s *postgres.Store, schema, role string) {
	t.Helper()
	_, schema = create(t, server)
	role = "few_" + schema
	server.Exec(t, schema, fmt.Sprintf(`CREATE ROLE %s LOGIN PASSWORD '%s'; GRANT ALL ON SCHEMA %s TO %[1]s; GRANT ALL ON ALL TABLES IN SCHEMA %[3]s TO %[1]s`,
		role, pgtest.Password, schema))
	opts := options(server, schema)
	opts.URL = strings.Replace(opts.URL, "//postgres:", "//"+role+":", 1)
	s, err := postgres.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, s) })
	return s, schema, role
}

func reopen(t testing.TB, server *pgtest.Server, schema string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), options(server, schema))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, s) })
	return s
}

func closed(t testing.TB, s *postgres.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func lock(t testing.TB, s state.Store) state.Journal {
	t.Helper()
	j, err := s.Lock(t.Context(), statetest.Holder("apply"), 0)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func unlock(t testing.TB, j state.Journal) {
	t.Helper()
	if err := j.Unlock(); err != nil {
		t.Errorf("unlock: %v", err)
	}
}

func add(t testing.TB, j state.Journal, entries ...state.Entry) {
	t.Helper()
	if err := j.Append(context.WithoutCancel(t.Context()), entries...); err != nil {
		t.Fatal(err)
	}
}

// rows reads all rows of a state.
func rows(t testing.TB, s state.Store) []state.Transfer {
	t.Helper()
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	var list []state.Transfer
	for row, err := range snap.Transfers(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list
}

func TestConformance(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	statetest.Run(t, func(*testing.T) statetest.Harness {
		schema := server.Schema()
		return statetest.Harness{
			Create: func(t *testing.T, created state.Created, now func() time.Time) state.Store {
				s, err := postgres.Create(t.Context(), created, postgres.Options{URL: server.URL(), Schema: schema, Now: now})
				if err != nil {
					t.Fatal(err)
				}
				return s
			},
			Open: func(t *testing.T, now func() time.Time) state.Store {
				s, err := postgres.Open(t.Context(), postgres.Options{URL: server.URL(), Schema: schema, Now: now})
				if err != nil {
					t.Fatal(err)
				}
				return s
			},
		}
	})
}
