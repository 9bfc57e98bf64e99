package jointest_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// reached is a server that runners reach by another URL.
type reached struct {
	*pgtest.Server
	url string
}

func (r reached) URL() string { return r.url }

// TestAnIdleCutIsNotSeen has a balancer end each connection on which nothing was said for 15 seconds, as those of managed
// services do after minutes, while the service takes 20 seconds for an answer.
func TestAnIdleCutIsNotSeen(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	server := pgtest.Shared(t)
	address := server.IdleProxy(t, 15*time.Second)
	for _, runners := range []int{1, 3} {
		t.Run(fmt.Sprintf("runners: %d", runners), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, program, options{
				rows: 60, inFlight: 2, held: true, service: `lookup_path = "/v2/transfers"`,
				at: reached{server, strings.Replace(server.URL(), server.Address(), address, 1)}, unchecked: true,
			})
			all := []*runner{w.start("apply", "--auto-approve")}
			w.await(1)
			for range runners - 1 {
				all = append(all, w.join())
			}
			if runners > 1 {
				w.joined(runners)
			}
			time.Sleep(20 * time.Second)
			w.release()
			for i, r := range all {
				if code := r.end(); code != 0 || strings.Contains(r.stderr.String(), "sends nothing") {
					t.Errorf("runner %d ends with %d, or saw the server go away\n%s\n%s", i+1, code, &r.stdout, &r.stderr)
				}
			}
			w.check(60)
		})
	}
}

// TestARunOutlivesARotatedPassword gives the role of the state another password in the middle of a run, and starts the server
// anew, as maintenance does. The file with the password follows seconds later: the run reads it again, and goes on.
func TestARunOutlivesARotatedPassword(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const rows = 300
	program := program.Build(t)
	for _, runners := range []int{1, 3} {
		t.Run(fmt.Sprintf("runners: %d", runners), func(t *testing.T) {
			t.Parallel()
			server := pgtest.Start(t)
			file := filepath.Join(t.TempDir(), "pgpass")
			write := func(password string) {
				t.Helper()
				if err := os.WriteFile(file, []byte("*:*:*:clerk:"+password+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			server.Exec(t, "public", `CREATE ROLE clerk LOGIN PASSWORD 'of-october'`)
			server.Exec(t, "public", `GRANT CREATE ON DATABASE postgres TO clerk`)
			write("of-october")
			f := &failoverRun{newWorld(t, program, options{
				rows: rows, inFlight: 4, latency: 40 * time.Millisecond, unchecked: true, service: `lookup_path = "/v2/transfers"`,
				at: reached{server, fmt.Sprintf("postgres://clerk@%s/postgres?sslmode=disable&passfile=%s", server.Address(), url.QueryEscape(file))},
			})}
			all := f.startAll(runners, rows-leftOfRun)
			f.await(rows / 3)
			server.Exec(t, "public", `ALTER ROLE clerk PASSWORD 'of-november'`)
			server.Shut()
			f.release()
			if err := server.Run(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			write("of-november")
			for i, r := range all {
				if code := r.end(); code != 0 && (i == 0 || !r.satOut(code)) {
					t.Errorf("runner %d ends with %d\n%s\n%s", i+1, code, &r.stdout, &r.stderr)
				}
				for _, password := range []string{"of-october", "of-november"} {
					if strings.Contains(r.stdout.String()+r.stderr.String(), password) {
						t.Errorf("runner %d tells a password\n%s", i+1, &r.stderr)
					}
				}
			}
			f.check(rows)
		})
	}
}

// TestARunOutlivesRotatedCertificates gives the server another certificate, of another authority, and wants another one of the
// role, of another authority as well, in the middle of a run. The files that the URL names are renewed, the server ends its
// sessions, and the key of the role, which fits no certificate until then, follows seconds later.
func TestARunOutlivesRotatedCertificates(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const rows = 300
	program := program.Build(t)
	for _, runners := range []int{1, 3} {
		t.Run(fmt.Sprintf("runners: %d", runners), func(t *testing.T) {
			t.Parallel()
			server := pgtest.Start(t)
			server.Exec(t, "public", `CREATE ROLE clerk LOGIN`)
			server.Exec(t, "public", `GRANT CREATE ON DATABASE postgres TO clerk`)
			october, november := pgtest.NewAuthority(t, time.Now(), "october"), pgtest.NewAuthority(t, time.Now(), "november")
			c := newCertificates(t, server, october)
			if err := server.Admit("hostssl all clerk 127.0.0.1/32 cert\n"); err != nil {
				t.Fatal(err)
			}
			server.Shut()
			if err := server.Run(); err != nil {
				t.Fatal(err)
			}
			f := &failoverRun{newWorld(t, program, options{
				rows: rows, inFlight: 4, latency: 40 * time.Millisecond, unchecked: true, service: `lookup_path = "/v2/transfers"`,
				at: reached{server, c.url},
			})}
			all := f.startAll(runners, rows-leftOfRun)
			f.await(rows / 3)
			key := c.swap("clerk.key", nil)
			c.renew(november)
			key = c.swap("clerk.key", key)
			server.Exec(t, "public", `SELECT pg_reload_conf()`)
			time.Sleep(time.Second)
			server.Exec(t, "public", `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'clerk'`)
			f.release()
			time.Sleep(3 * time.Second)
			c.swap("clerk.key", key)
			for i, r := range all {
				if code := r.end(); code != 0 && (i == 0 || !r.satOut(code)) {
					t.Errorf("runner %d ends with %d\n%s\n%s", i+1, code, &r.stdout, &r.stderr)
				}
			}
			f.check(rows)
		})
	}
}

// TestCertificatesThatDoNotFollowEndTheRun renews the server's certificate, by another authority, and not the files of the run. It ends
// and says which argument names the wrong one; once the files are renewed, the same apply goes on.
func TestCertificatesThatDoNotFollowEndTheRun(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const rows = 200
	server := pgtest.Start(t)
	server.Exec(t, "public", `CREATE ROLE clerk LOGIN`)
	server.Exec(t, "public", `GRANT CREATE ON DATABASE postgres TO clerk`)
	c := newCertificates(t, server, pgtest.NewAuthority(t, time.Now(), "october"))
	if err := server.Admit("hostssl all clerk 127.0.0.1/32 cert\n"); err != nil {
		t.Fatal(err)
	}
	server.Shut()
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	f := &failoverRun{newWorld(t, program.Build(t), options{
		rows: rows, inFlight: 4, latency: 40 * time.Millisecond, unchecked: true, service: `lookup_path = "/v2/transfers"`,
		at: reached{server, c.url},
	})}
	f.holdFrom(rows - leftOfRun)
	r := f.start("apply", "--auto-approve", "--failover-timeout=4s")
	f.await(rows / 3)
	old := map[string][]byte{"ca.crt": c.swap("ca.crt", nil), "clerk.crt": c.swap("clerk.crt", nil), "clerk.key": c.swap("clerk.key", nil)}
	c.renew(pgtest.NewAuthority(t, time.Now(), "november"))
	for name, content := range old {
		old[name] = c.swap(name, content)
	}
	server.Exec(t, "public", `SELECT pg_reload_conf()`)
	time.Sleep(time.Second)
	server.Exec(t, "public", `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'clerk'`)
	f.release()
	code, said := r.end(), r.said()
	for _, want := range []string{"--failover-timeout=4s", "sslrootcert", "remit apply"} {
		if code != 4 || !strings.Contains(said, want) {
			t.Errorf("it ends with %d, want 4, and %q\n%s\n%s", code, want, &r.stdout, &r.stderr)
		}
	}
	for name, content := range old {
		c.swap(name, content)
	}
	f.adopts = true
	f.must(0, "apply", "--auto-approve")
	f.check(rows)
}

// certificates are those of a server and of its role clerk.
type certificates struct {
	t      *testing.T
	server *pgtest.Server
	dir    string
	url    string
}

func newCertificates(t *testing.T, server *pgtest.Server, by pgtest.Authority) *certificates {
	t.Helper()
	c := &certificates{t: t, server: server, dir: t.TempDir()}
	at := func(name string) string { return url.QueryEscape(filepath.Join(c.dir, name)) }
	c.url = fmt.Sprintf("postgres://clerk@%s/postgres?sslmode=verify-full&sslrootcert=%s&sslcert=%s&sslkey=%s",
		server.Address(), at("ca.crt"), at("clerk.crt"), at("clerk.key"))
	c.renew(by)
	return c
}

// renew writes certificates of an authority, which the server shows after it has read its settings anew.
func (c *certificates) renew(by pgtest.Authority) {
	c.t.Helper()
	ca, err := os.ReadFile(by.File)
	if err != nil {
		c.t.Fatal(err)
	}
	until := time.Now().Add(time.Hour)
	certificate, key := by.Sign(c.t, "server", until, "127.0.0.1")
	if err := c.server.Present(ca, certificate, key); err != nil {
		c.t.Fatal(err)
	}
	certificate, key = by.Sign(c.t, "clerk", until)
	for name, content := range map[string][]byte{"ca.crt": ca, "clerk.crt": certificate, "clerk.key": key} {
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

// swap puts a content into a file, unless it is nil, and returns what was in it before.
func (c *certificates) swap(name string, content []byte) (before []byte) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	before, err := os.ReadFile(path)
	if err == nil && content != nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return before
}
