package postgres_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// TestACommitThatTheServerGivesUpIsTriedAgain has the server give up the first inserts of an
// event, as it does with one of two transactions that stand in each other's way.
func TestACommitThatTheServerGivesUpIsTriedAgain(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	for name, c := range map[string]struct {
		code  string
		times int
		want  string
	}{
		"a serialization failure": {"40001", 3, ""},
		"a deadlock":              {"40P01", 3, ""},
		"again and again":         {"40001", 1000, "injected"},
		"another error":           {"53100", 1, "injected"},
	} {
		t.Run(name, func(t *testing.T) {
			s, schema := create(t, server)
			j := lock(t, s)
			add(t, j, statetest.Intent("before", "run", "10.00"))
			server.Exec(t, schema, fmt.Sprintf(`CREATE SEQUENCE failures;
				CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					IF nextval('%s.failures') <= %d THEN RAISE EXCEPTION 'injected' USING ERRCODE = '%s'; END IF;
					RETURN NEW;
				END $$;
				CREATE TRIGGER failing BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fail()`, schema, c.times, c.code))
			err := j.Append(t.Context(), statetest.Intent("after", "run", "10.00"))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				add(t, j, statetest.Outcome("after", "run", state.SourceAnswer, state.Recorded))
				unlock(t, j)
			} else {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
				if j.Append(t.Context(), statetest.Intent("later", "run", "10.00")) == nil {
					t.Error("it goes on after a commit that failed")
				}
				_ = j.Unlock() // it failed
			}
			server.Exec(t, schema, `DROP TRIGGER failing ON events`)
			if _, err := s.Verify(t.Context(), ""); err != nil {
				t.Error(err)
			}
			if got := len(rows(t, s)); c.want == "" && got != 2 || c.want != "" && got != 1 {
				t.Errorf("%d rows", got)
			}
		})
	}
}

// TestTheServersOwnSettingsChangeNothing works as a role whose settings would break written rows,
// or would make them less than durable.
func TestTheServersOwnSettingsChangeNothing(t *testing.T) {
	suite.Slow(t)
	server := pgtest.Shared(t)
	settings := []string{
		"synchronous_commit = off", "synchronous_commit = local", "default_transaction_isolation = serializable",
		"default_transaction_isolation = 'repeatable read'", "default_transaction_read_only = on", "default_transaction_deferrable = on",
		"standard_conforming_strings = off", "bytea_output = escape", "DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kathmandu'",
		"search_path = nowhere", "client_encoding = LATIN1", "statement_timeout = 200", "lock_timeout = 1",
		"idle_in_transaction_session_timeout = 1",
	}
	if server.Exec(t, "public", `SELECT current_setting('transaction_timeout', true) IS NOT NULL`) == "true" { // version 17
		settings = append(settings, "transaction_timeout = 200")
	}
	share := suite.Dose(2, 2, 1) // each setting in one of its two places, or in both
	for n, setting := range settings {
		for k, where := range []string{"DATABASE", "ROLE"} {
			if (n+k)%share != 0 {
				continue
			}
			t.Run(where+" "+setting, func(t *testing.T) {
				schema := server.Schema()
				name := "as_" + schema
				opts := options(server, schema)
				if where == "ROLE" {
					server.Exec(t, "public", fmt.Sprintf(`CREATE ROLE %s LOGIN SUPERUSER PASSWORD '%s'`, name, pgtest.Password))
					opts.URL = strings.Replace(opts.URL, "//postgres:", "//"+name+":", 1)
				} else {
					server.Exec(t, "public", `CREATE DATABASE `+name)
					opts.URL = strings.Replace(opts.URL, "/postgres?", "/"+name+"?", 1)
				}
				server.Exec(t, "public", fmt.Sprintf(`ALTER %s %s SET %s`, where, name, setting))
				s, err := postgres.Create(t.Context(), statetest.Created(), opts)
				if err != nil {
					t.Fatal(err)
				}
				defer closed(t, s)
				var wg sync.WaitGroup // for a lock that others want, and that is taken away
				for range 3 {
					wg.Go(func() {
						by := statetest.Holder("apply")
						j, err := s.Lock(t.Context(), by, patience)
						if err != nil {
							t.Error(err)
							return
						}
						if err := j.Append(t.Context(), statetest.Intent("ref", "run", "10.00")); err != nil && !errors.Is(err, state.ErrFenced) {
							t.Error(err)
						}
						if err := s.ForceUnlock(t.Context(), by, state.Clocks{}, "to see"); err != nil {
							t.Error(err)
						}
						_ = j.Unlock() // it was taken away
					})
				}
				wg.Wait()
				j := lock(t, s)
				add(t, j, statetest.Intent("ü – \\ '", "run", "10.00"))
				add(t, j, statetest.Outcome("ü – \\ '", "run", state.SourceAnswer, state.Recorded))
				before := flushed(t, server)
				add(t, j, statetest.Intent("durable", "run", "10.00"))
				if flushed(t, server) == before {
					t.Error("a commit returned before it was durable")
				}
				unlock(t, j)
				if _, err := s.Verify(t.Context(), ""); err != nil {
					t.Error(err)
				}
				if got := len(rows(t, s)); got != 3 {
					t.Errorf("%d rows", got)
				}
			})
		}
	}
}

func flushed(t *testing.T, server *pgtest.Server) string {
	t.Helper()
	return server.Exec(t, "public", `SELECT pg_current_wal_flush_lsn()::text`)
}

// TestAURLThatAsksForLessThanDurableIsRefused asks in each way that a URL and the environment
// have.
func TestAURLThatAsksForLessThanDurableIsRefused(t *testing.T) {
	server := pgtest.Shared(t)
	_, schema := create(t, server)
	for name, c := range map[string]struct{ more, variable string }{
		"a parameter":            {more: "&synchronous_commit=off"},
		"in capitals":            {more: "&synchronous_commit=OFF"},
		"a false":                {more: "&synchronous_commit=false"},
		"a number":               {more: "&synchronous_commit=0"},
		"local":                  {more: "&synchronous_commit=local"},
		"an option":              {more: "&options=" + inQuery("-c synchronous_commit=off")},
		"an option with dashes":  {more: "&options=" + inQuery("--synchronous-commit=off")},
		"the environment":        {variable: "-c synchronous_commit=off"},
		"an option, among other": {more: "&options=" + inQuery("-c geqo=off -csynchronous_commit=local")},
	} {
		t.Run(name, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv("PGOPTIONS", c.variable)
			}
			opts := options(server, schema)
			opts.URL += c.more
			s, err := postgres.Open(t.Context(), opts)
			if err == nil {
				closed(t, s)
			}
			if err == nil || !strings.Contains(err.Error(), "synchronous_commit") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAURLThatHasTheDriverAskInAnotherWayIsReadAlike asks in each way that the driver has, some of
// which are answered in text.
func TestAURLThatHasTheDriverAskInAnotherWayIsReadAlike(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	for _, way := range []string{
		"default_query_exec_mode=cache_statement", "default_query_exec_mode=cache_describe", "default_query_exec_mode=describe_exec",
		"default_query_exec_mode=exec", "default_query_exec_mode=simple_protocol",
		"statement_cache_capacity=0", "default_query_exec_mode=cache_describe&description_cache_capacity=0",
	} {
		t.Run(way, func(t *testing.T) {
			_, schema := create(t, server)
			opts := options(server, schema)
			opts.URL += "&" + way
			s, err := postgres.Open(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, s)
			j := lock(t, s)
			add(t, j, statetest.Intent("ü – \\ '", "run", "10.00"))
			add(t, j, statetest.Outcome("ü – \\ '", "run", state.SourceAnswer, state.Recorded))
			if err := j.Check(t.Context()); err != nil {
				t.Error(err)
			}
			unlock(t, j)
			if got := rows(t, s); len(got) != 1 || got[0].Status != state.Recorded {
				t.Errorf("got %v", got)
			}
			if _, err := s.Verify(t.Context(), ""); err != nil {
				t.Error(err)
			}
		})
	}
}

// inQuery writes a text as a value in a URL.
func inQuery(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
