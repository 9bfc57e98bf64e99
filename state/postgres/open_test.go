package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

func TestWhatIsNoStateIsRefused(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	empty, foreign, newer, emptied := server.Schema(), server.Schema(), server.Schema(), server.Schema()
	server.Exec(t, "public", `CREATE SCHEMA `+empty)
	server.Exec(t, "public", fmt.Sprintf(`CREATE SCHEMA %s; CREATE TABLE %[1]s.meta (version text)`, foreign))
	for _, schema := range []string{newer, emptied} {
		s, err := postgres.Create(t.Context(), statetest.Created(), options(server, schema))
		if err != nil {
			t.Fatal(err)
		}
		closed(t, s)
	}
	server.Exec(t, newer, `UPDATE meta SET version = version + 1`)
	server.Exec(t, emptied, `SET session_replication_role = replica; DELETE FROM events`)
	for schema, want := range map[string]error{
		server.Schema(): state.ErrMissing, empty: state.ErrMissing, foreign: state.ErrForeign, newer: state.ErrNewer, emptied: state.ErrEmpty,
	} {
		for how, open := range map[string]func(context.Context, postgres.Options) (*postgres.Store, error){
			"for writing": postgres.Open, "for reading": postgres.OpenReadOnly,
		} {
			if _, err := open(t.Context(), options(server, schema)); !errors.Is(err, want) {
				t.Errorf("opened %s: got %v, want %v", how, err, want)
			}
		}
	}
	for _, schema := range []string{foreign, newer, emptied} {
		if _, err := postgres.Create(t.Context(), statetest.Created(), options(server, schema)); !errors.Is(err, state.ErrExists) {
			t.Errorf("made over something: %v", err)
		}
	}
	s, err := postgres.Create(t.Context(), statetest.Created(), options(server, empty))
	if err != nil {
		t.Fatalf("an empty schema that an administrator made can't be used: %v", err)
	}
	closed(t, s)
	missing := options(server, empty)
	missing.URL = strings.Replace(missing.URL, "/postgres?", "/nowhere?", 1)
	if _, err := postgres.Open(t.Context(), missing); !errors.Is(err, state.ErrMissing) {
		t.Errorf("a database that does not exist: %v", err)
	}
}

func TestTwoThatMakeOneStateAtOnceMakeOne(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	schema := server.Schema()
	var wg sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		wg.Go(func() {
			s, err := postgres.Create(t.Context(), statetest.Created(), options(server, schema))
			if err == nil {
				err = s.Close()
			}
			results <- err
		})
	}
	wg.Wait()
	made := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			made++
		case !errors.Is(err, state.ErrExists):
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
}

func TestAServerThatWouldNotBeDurableIsRefused(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Start(t)
	if err := server.Configure("synchronous_commit = off\n"); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	s, schema := create(t, server)
	j := lock(t, s)
	// The session waits for its commits whatever the server would have it do.
	network := server.Exec(t, schema, `SELECT current_setting('synchronous_commit')`)
	if network != "off" {
		t.Fatalf("the server says %s, so this shows nothing", network)
	}
	add(t, j, statetest.Intent("a", "run", "10.00"))
	before := server.Exec(t, schema, `SELECT pg_current_wal_flush_lsn()::text`)
	add(t, j, statetest.Intent("b", "run", "10.00"))
	if after := server.Exec(t, schema, `SELECT pg_current_wal_flush_lsn()::text`); after == before {
		t.Error("a commit returned before it was durable")
	}
	unlock(t, j)
	closed(t, s)

	asked := options(server, schema)
	asked.URL += "&synchronous_commit=off"
	if _, err := postgres.Open(t.Context(), asked); err == nil || !strings.Contains(err.Error(), "synchronous_commit = off") {
		t.Errorf("a url that asks for it: %v", err)
	}
	if err := server.Configure("fsync = off\n"); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), options(server, schema)); err == nil || !strings.Contains(err.Error(), "fsync is off") {
		t.Errorf("a server without fsync: %v", err)
	}
}

// TestASchemaThatPostgreSQLReadsAsAnotherIsRefused names the schema by the word that stands for the
// one of the role: the tables came into that one.
func TestASchemaThatPostgreSQLReadsAsAnotherIsRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	role := "owner_" + server.Schema()
	server.Exec(t, "public", fmt.Sprintf(`CREATE ROLE %s LOGIN SUPERUSER PASSWORD '%s'; CREATE SCHEMA %[1]s`, role, pgtest.Password))
	opts := options(server, "$user")
	opts.URL = strings.Replace(opts.URL, "//postgres:", "//"+role+":", 1)
	if _, err := postgres.Create(t.Context(), statetest.Created(), opts); err == nil || !strings.Contains(err.Error(), "$user") {
		t.Errorf("got %v", err)
	}
	if tables := server.Exec(t, "public", `SELECT count(*) FROM pg_tables WHERE schemaname = $1`, role); tables != "0" {
		t.Errorf("%s tables were made in another schema", tables)
	}
}

// TestAReaderNeedsToSelectAndNoMore reads as a role that may only SELECT.
func TestAReaderNeedsToSelectAndNoMore(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	j := lock(t, s)
	add(t, j, statetest.Intent("a", "run", "10.00"))
	role := "reader_" + schema
	server.Exec(t, schema, fmt.Sprintf(`CREATE ROLE %s LOGIN PASSWORD '%s'; GRANT USAGE ON SCHEMA %s TO %[1]s; GRANT SELECT ON ALL TABLES IN SCHEMA %[3]s TO %[1]s`,
		role, pgtest.Password, schema))
	as := options(server, schema)
	as.URL = strings.Replace(as.URL, "//postgres:", "//"+role+":", 1)
	server.Exec(t, schema, fmt.Sprintf(`REVOKE USAGE ON SCHEMA %s FROM %s`, schema, role))
	if _, err := postgres.OpenReadOnly(t.Context(), as); err == nil || !strings.Contains(err.Error(), "USAGE") {
		t.Errorf("without USAGE on the schema it got %v", err)
	}
	server.Exec(t, schema, fmt.Sprintf(`GRANT USAGE ON SCHEMA %s TO %s`, schema, role))
	reader, err := postgres.OpenReadOnly(t.Context(), as)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, reader)
	if got := len(rows(t, reader)); got != 1 {
		t.Errorf("%d rows", got)
	}
	if by, held := holder(t, reader); !held || by != statetest.Holder("apply") {
		t.Errorf("it sees %v, %v", by, held)
	}
	if _, err := reader.Verify(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if _, err := reader.Lock(t.Context(), statetest.Holder("apply"), 0); err == nil {
		t.Error("what was opened for reading was locked")
	}
	writer, err := postgres.Open(t.Context(), as)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, writer)
	if _, err := writer.Lock(t.Context(), statetest.Holder("apply"), 0); err == nil {
		t.Error("a role that may only read has the lock")
	}
	unlock(t, j)
}

// TestNoErrorShowsThePassword fails to connect in every way that there is.
func TestNoErrorShowsThePassword(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	const secret = "h/u#n@t:e%r two"
	host := server.Address()
	for name, address := range map[string]string{
		"a wrong one":           "postgres://postgres:" + url.QueryEscape(secret) + "@" + host + "/postgres",
		"in the query":          "postgres://" + host + "/postgres?user=postgres&password=" + url.QueryEscape(secret),
		"not escaped":           "postgres://postgres:" + secret + "@" + host + "/postgres",
		"nobody there":          "postgres://postgres:" + url.QueryEscape(secret) + "@127.0.0.1:1/postgres",
		"no such file":          "postgres://postgres:" + url.QueryEscape(secret) + "@" + host + "/postgres?sslrootcert=/nowhere&sslmode=verify-full",
		"no TLS":                "postgres://postgres:" + url.QueryEscape(secret) + "@" + host + "/postgres?sslmode=require",
		"keywords":              "host=" + host + " password=" + secret,
		"a number that is none": "postgres://postgres:" + url.QueryEscape(secret) + "@" + host + "/postgres?connect_timeout=x",
	} {
		_, err := postgres.Open(t.Context(), postgres.Options{URL: address, Schema: "s", Now: clock})
		if err == nil {
			t.Errorf("%s: it was let in", name)
			continue
		}
		for _, part := range []string{secret, url.QueryEscape(secret), "h/u", "%r two", "n@t", "unt"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestAPasswordInAURLIsSeen has a URL with the password in each place that libpq reads.
func TestAPasswordInAURLIsSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"postgres://clerk@db/pay":                        false,
		"postgres://clerk:@db/pay":                       false,
		"postgresql://db:5432,other:5433/pay":            false,
		"postgres:///pay?host=/run/p@st:gres&user=clerk": false,
		"postgres://clerk:secret@db/pay":                 true,
		"postgres://clerk:1#2@db/pay":                    true,
		"postgres://clerk:1?2@db/pay":                    true,
		"postgres://clerk:se cret@db/pay":                true,
		"postgres://clerk:%zz@db/pay":                    true,
		"postgres://clerk@db/pay?password=secret":        true,
		"postgres://clerk@db?user=x&p%61ssword=secret":   true,
		"postgres://clerk@db/pay?sslpassword=secret":     true,
	} {
		if postgres.HasPassword(text) != want {
			t.Errorf("%s: got %v", text, !want)
		}
	}
}

// TestThePasswordComesFromItsUsualPlaces keeps it out of the URL.
func TestThePasswordComesFromItsUsualPlaces(t *testing.T) {
	server := pgtest.Shared(t)
	s, schema := create(t, server)
	file := filepath.Join(t.TempDir(), "pgpass")
	host, port, _ := strings.Cut(server.Address(), ":")
	if err := os.WriteFile(file, []byte(host+":"+port+":*:postgres:"+pgtest.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := options(server, schema)
	bare.URL = strings.Replace(bare.URL, ":"+pgtest.Password, "", 1)
	if _, err := postgres.Open(t.Context(), bare); err == nil {
		t.Fatal("no password is needed, so this shows nothing")
	}
	for name, c := range map[string]struct{ variable, value, more string }{
		"PGPASSWORD":          {"PGPASSWORD", pgtest.Password, ""},
		"PGPASSFILE":          {"PGPASSFILE", file, ""},
		"passfile in the url": {"PGPASSFILE", "", "&passfile=" + file},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			opts := bare
			opts.URL += c.more
			again, err := postgres.Open(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			closed(t, again)
		})
	}
	_ = s
}

// TestAPoolerThatSharesSessionsIsRefusedWhenItIsBusy has others come between two questions, so that a
// second connection need not come to the session of the first.
func TestAPoolerThatSharesSessionsIsRefusedWhenItIsBusy(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	if _, err := exec.LookPath("pgbouncer"); err != nil {
		t.Skip("PgBouncer is not installed here (Debian: apt-get install pgbouncer)")
	}
	_, schema := create(t, server)
	opts := options(server, schema)
	opts.URL = strings.Replace(opts.URL, server.Address(), server.Bouncer(t, "transaction"), 1)
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer stop()
	for range 3 {
		conn, err := pgx.Connect(ctx, opts.URL)
		if err != nil {
			t.Fatal(err)
		}
		others.Go(func() {
			defer func() { _ = conn.Close(context.Background()) }() // it only disturbs
			for ctx.Err() == nil {
				_, _ = conn.Exec(ctx, `SELECT pg_sleep(0.002)`, pgx.QueryExecModeSimpleProtocol)
			}
		})
	}
	for range 50 {
		s, err := postgres.Open(t.Context(), opts)
		if err == nil {
			closed(t, s)
		}
		if err == nil || !strings.Contains(err.Error(), "connection pooler") {
			t.Fatalf("got %v", err)
		}
	}
}

// TestAPoolerThatSharesSessionsIsRefused goes through PgBouncer in each of its modes.
func TestAPoolerThatSharesSessionsIsRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	if _, err := exec.LookPath("pgbouncer"); err != nil {
		t.Skip("PgBouncer is not installed here (Debian: apt-get install pgbouncer)")
	}
	s, schema := create(t, server)
	_ = s
	for mode, want := range map[string]string{"transaction": "connection pooler", "session": ""} {
		t.Run(mode, func(t *testing.T) {
			opts := options(server, schema)
			opts.URL = strings.Replace(opts.URL, server.Address(), server.Bouncer(t, mode), 1)
			through, err := postgres.Open(t.Context(), opts)
			if want != "" {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, through)
			j := lock(t, through)
			add(t, j, statetest.Intent("a", "run", "10.00"))
			if err := j.Check(t.Context()); err != nil {
				t.Error(err)
			}
			unlock(t, j)
		})
	}
}
