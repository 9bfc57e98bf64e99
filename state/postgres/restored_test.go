//go:build unix

package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// TestACopyIsKnownWithoutTheServersIdentifier has a server deny its identifier to the role that remit has, as managed ones
// may. A restored dump and a copy of the database are known by their tables.
func TestACopyIsKnownWithoutTheServersIdentifier(t *testing.T) {
	suite.Slow(t)
	t.Parallel()
	server, err := pgtest.New()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(server.Close)
	server.Exec(t, "public", `REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`)
	server.Exec(t, "public", fmt.Sprintf(`CREATE ROLE clerk LOGIN PASSWORD '%s'; CREATE SCHEMA pay AUTHORIZATION clerk`, pgtest.Password))
	opts := postgres.Options{Schema: "pay", Now: time.Now, URL: strings.Replace(server.URL(), "//postgres:", "//clerk:", 1)}
	isRestored := func(opts postgres.Options) bool {
		t.Helper()
		s, err := postgres.OpenReadOnly(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }() // it was only read
		snapshot, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = snapshot.Close() }()
		return snapshot.Meta().Restored
	}
	s, err := postgres.Create(t.Context(), statetest.Created(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if isRestored(opts) {
		t.Error("a new state counts as restored")
	}
	dump, err := server.Backup("pay")
	if err != nil {
		t.Fatal(err)
	}
	server.Exec(t, "public", `CREATE DATABASE copied TEMPLATE postgres`)
	copied := opts
	copied.URL = strings.Replace(opts.URL, "/postgres?", "/copied?", 1)
	if !isRestored(copied) {
		t.Error("a copy of the database is not known as one")
	}
	if err := server.Recover("pay", dump); err != nil {
		t.Fatal(err)
	}
	if !isRestored(opts) {
		t.Error("a restored dump is not known as one")
	}
	s, err = postgres.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // the journal is durable
	j := lock(t, s)
	if err := j.(state.Completer).Complete(); err != nil {
		t.Fatal(err)
	}
	unlock(t, j)
	if isRestored(opts) {
		t.Error("a state that is complete counts as restored")
	}
}
