package crashtest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
)

// sharedState is the block of a state in PostgreSQL.
const sharedState = `
state "postgres" {
  url    = var.database_url
  schema = var.schema
}

variable "database_url" {
  type      = string
  sensitive = true
}

variable "schema" {
  type = string
}
`

// shared is a state in PostgreSQL.
type shared struct {
	server *pgtest.Server
	schema string
}

// share has a directory, whose state was not made yet, keep it in a schema of its own.
func (d *directory) share(server *pgtest.Server) {
	d.t.Helper()
	d.shared = &shared{server: server, schema: server.Schema()}
	if err := os.WriteFile(filepath.Join(d.path, "state.hcl"), []byte(sharedState), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.env = append(d.env, "REMIT_VAR_database_url="+server.URL(), "REMIT_VAR_schema="+d.shared.schema)
}

// reach has the directory's state be reached at another address, where a proxy listens.
func (d *directory) reach(address string) {
	url := strings.Replace(d.shared.server.URL(), d.shared.server.Address(), address, 1)
	d.env = append(d.env, "REMIT_VAR_database_url="+url) // the last one counts
}

// rows verifies the journal and reads the rows.
func (s *shared) rows(t *testing.T) []state.Transfer {
	t.Helper()
	store, err := postgres.OpenReadOnly(context.Background(), postgres.Options{URL: s.server.URL(), Schema: s.schema, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return readStore(t, store)
}

// intended are the ref_ids that have an intent in the journal.
func (s *shared) intended(t *testing.T) map[string]bool {
	t.Helper()
	list := s.server.Exec(t, s.schema, `SELECT coalesce(string_agg(DISTINCT ref_id, E'\n'), '') FROM events WHERE kind = 'intent'`)
	found := make(map[string]bool)
	for refID := range strings.Lines(list + "\n") {
		found[strings.TrimSpace(refID)] = true
	}
	return found
}

// agree pays what is left and compares the ledger of the service with the state.
func agree(t *testing.T, d *directory, s *service) {
	t.Helper()
	finish(t, d)
	d.must(0, "plan", "--detailed-exitcode")
	d.must(0, "audit", "verify")
	s.kill()
	for _, wrong := range compare(readLedger(t, s.ledger), d.rows(), payroll) {
		t.Error(wrong)
	}
}
