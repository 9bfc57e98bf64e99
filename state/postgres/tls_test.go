package postgres_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

func written(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// present has a server show a certificate from now on, and ask clients for one of ca.
func present(t *testing.T, server *pgtest.Server, ca pgtest.Authority, certificate, key []byte) {
	t.Helper()
	authorities, err := os.ReadFile(ca.File)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Present(authorities, certificate, key); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
}

// secured are the options to reach a server with other settings of TLS than none.
func secured(server *pgtest.Server, schema, settings string) postgres.Options {
	opts := options(server, schema)
	opts.URL = strings.Replace(opts.URL, "sslmode=disable", settings, 1)
	return opts
}

// TestTLSTellsOneServerFromAnother speaks to a server with a certificate of its own authority.
func TestTLSTellsOneServerFromAnother(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Start(t)
	s, schema := create(t, server)
	closed(t, s)
	ours, theirs := pgtest.NewAuthority(t, time.Now(), "ours"), pgtest.NewAuthority(t, time.Now(), "theirs")
	later := time.Now().Add(24 * time.Hour)
	if err := server.Admit("hostssl all certified 127.0.0.1/32 cert\n"); err != nil {
		t.Fatal(err)
	}
	for _, shown := range []struct {
		name  string
		until time.Time
		host  string
		cases map[string]string // settings of the URL, and the error's text; "" where they work
	}{
		{"a good certificate", later, "127.0.0.1", map[string]string{
			"sslmode=verify-full&sslrootcert=" + ours.File: "",
			"sslmode=verify-ca&sslrootcert=" + ours.File:   "",
			"sslmode=require": "",
			"sslmode=prefer":  "",
			"sslmode=verify-full&sslrootcert=" + theirs.File: "sslrootcert",
			"sslmode=verify-ca&sslrootcert=" + theirs.File:   "sslrootcert",
			"sslmode=require&sslrootcert=" + theirs.File:     "sslrootcert",
			"sslmode=verify-full":                            "sslrootcert",
		}},
		{"another host's certificate", later, "db.example.com", map[string]string{
			"sslmode=verify-full&sslrootcert=" + ours.File: "db.example.com",
			"sslmode=verify-ca&sslrootcert=" + ours.File:   "",
		}},
		{"an expired certificate", time.Now().Add(-time.Hour), "127.0.0.1", map[string]string{
			"sslmode=verify-full&sslrootcert=" + ours.File: "renewed",
			"sslmode=verify-ca&sslrootcert=" + ours.File:   "renewed",
		}},
	} {
		certificate, key := ours.Sign(t, "server", shown.until, shown.host)
		present(t, server, ours, certificate, key)
		for settings, want := range shown.cases {
			short := strings.NewReplacer(ours.File, "ours", theirs.File, "theirs").Replace(settings)
			t.Run(shown.name+", "+short, func(t *testing.T) {
				s, err := postgres.Open(t.Context(), secured(server, schema, settings))
				if want != "" {
					if err == nil {
						closed(t, s)
					}
					refusedWith(t, err, want)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer closed(t, s)
				j := lock(t, s)
				if plain := server.Exec(t, schema, `SELECT count(*)::text FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
					WHERE application_name = 'remit' AND NOT ssl`); plain != "0" {
					t.Errorf("%s sessions are not encrypted", plain)
				}
				add(t, j, statetest.Intent(short, "run", "10.00"))
				unlock(t, j)
			})
		}
	}
}

// refusedWith looks at the error of a connection that must not have been let in.
func refusedWith(t *testing.T, err error, want string) {
	t.Helper()
	t.Log(err)
	if err == nil {
		t.Fatal("it was let in")
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("it does not say %q: %v", want, err)
	}
	if strings.Contains(err.Error(), pgtest.Password) || strings.Contains(err.Error(), "\n") {
		t.Errorf("it shows the password, or is of several lines: %v", err)
	}
}

// TestAServerWithoutTLSIsRefusedWhereItIsAskedFor has no server be spoken to in the clear.
func TestAServerWithoutTLSIsRefusedWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	_, schema := create(t, server)
	for _, mode := range []string{"require", "verify-ca", "verify-full"} {
		_, err := postgres.Open(t.Context(), secured(server, schema, "sslmode="+mode))
		refusedWith(t, err, "sslmode")
	}
}

// TestAClientHasACertificateOfItsOwn lets a role in by its certificate alone.
func TestAClientHasACertificateOfItsOwn(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	s, schema := create(t, server)
	closed(t, s)
	server.Exec(t, schema, `CREATE ROLE certified LOGIN; GRANT USAGE ON SCHEMA `+schema+` TO certified; GRANT SELECT ON ALL TABLES IN SCHEMA `+schema+` TO certified`)
	ours, theirs := pgtest.NewAuthority(t, time.Now(), "ours"), pgtest.NewAuthority(t, time.Now(), "theirs")
	if err := server.Admit("hostssl all certified 127.0.0.1/32 cert\n"); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(24 * time.Hour)
	certificate, key := ours.Sign(t, "server", later, "127.0.0.1")
	present(t, server, ours, certificate, key)
	identity := func(a pgtest.Authority, name string, until time.Time) string {
		certificate, key := a.Sign(t, name, until)
		return "&sslcert=" + written(t, "client.crt", certificate) + "&sslkey=" + written(t, "client.key", key)
	}
	before, _, _ := strings.Cut(identity(ours, "certified", later), "&sslkey=")
	_, after, _ := strings.Cut(identity(ours, "certified", later), "&sslkey=")
	mixed := before + "&sslkey=" + after // as between the writes of two files
	for name, c := range map[string]struct{ settings, want string }{
		"its own":           {identity(ours, "certified", later), ""},
		"another's":         {identity(ours, "someone", later), "certificate"},
		"a foreign one":     {identity(theirs, "certified", later), "certificate"},
		"an expired one":    {identity(ours, "certified", time.Now().Add(-time.Hour)), "certificate"},
		"none":              {"", "sslcert"},
		"one without a key": {"&sslcert=" + ours.File, "sslkey"},
		"another's key":     {mixed, "being renewed"},
		"a missing file":    {"&sslcert=/nowhere&sslkey=/nowhere", "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := secured(server, schema, "sslmode=verify-full&sslrootcert="+ours.File+c.settings)
			opts.URL = strings.Replace(opts.URL, "postgres:"+pgtest.Password+"@", "certified@", 1)
			s, err := postgres.OpenReadOnly(t.Context(), opts)
			if c.want != "" {
				if err == nil {
					closed(t, s)
				}
				refusedWith(t, err, c.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			closed(t, s)
		})
	}
}

// TestAServerThatProvesNothingIsNamed looks at each way in which a URL can ask for TLS.
func TestAServerThatProvesNothingIsNamed(t *testing.T) {
	t.Parallel()
	ours := pgtest.NewAuthority(t, time.Now(), "ours")
	for address, want := range map[string]string{
		"db.example.com/pay":                                              "db.example.com is spoken to without encryption where it offers none",
		"db.example.com/pay?sslmode=prefer":                               "db.example.com is spoken to without encryption where it offers none",
		"db.example.com/pay?sslmode=allow":                                "db.example.com is spoken to without encryption",
		"db.example.com/pay?sslmode=disable":                              "db.example.com is spoken to without encryption",
		"db.example.com/pay?sslmode=require":                              "db.example.com is spoken to whatever certificate it has",
		"db.example.com/pay?sslmode=require&sslrootcert=" + ours.File:     "",
		"db.example.com/pay?sslmode=verify-ca&sslrootcert=" + ours.File:   "",
		"db.example.com/pay?sslmode=verify-full&sslrootcert=" + ours.File: "",
		"db.example.com/pay?sslmode=verify-full":                          "",
		"db.example.com/pay?sslrootcert=system":                           "",
		"localhost,db.example.com/pay?sslmode=disable":                    "db.example.com is spoken to without encryption",
		"localhost/pay?sslmode=disable":                                   "",
		"127.0.0.2/pay?sslmode=disable":                                   "",
		"[::1]/pay":                                                       "",
		"/pay?host=/run/postgresql":                                       "",
		"10.1.2.3:6000/pay?sslmode=disable":                               "10.1.2.3 is spoken to without encryption",
	} {
		host, what := postgres.Unproven("postgres://clerk@"+address, "s")
		if got := strings.TrimSpace(host + " " + what); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

// TestWhatKeepsAClientOutIsAnswered fails to connect for other reasons than TLS.
func TestWhatKeepsAClientOutIsAnswered(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	_, schema := create(t, server)
	server.Exec(t, "public", `CREATE ROLE crowded_`+schema+` LOGIN CONNECTION LIMIT 0 PASSWORD '`+pgtest.Password+`'`)
	for name, c := range map[string]struct{ from, to, want string }{
		"a wrong password": {":" + pgtest.Password, ":other", "PGPASSFILE"},
		"a full server":    {"//postgres:", "//crowded_" + schema + ":", "max_connections"},
	} {
		for _, mode := range []string{"disable", "prefer"} { // which tries TLS before
			t.Run(name+", sslmode "+mode, func(t *testing.T) {
				opts := options(server, schema)
				opts.URL = strings.Replace(opts.URL, "sslmode=disable", "sslmode="+mode, 1)
				opts.URL = strings.Replace(opts.URL, c.from, c.to, 1)
				_, err := postgres.Open(t.Context(), opts)
				refusedWith(t, err, c.want)
				if strings.Contains(err.Error(), "switched off") {
					t.Errorf("it is advised to switch TLS on: %v", err)
				}
			})
		}
	}
}
