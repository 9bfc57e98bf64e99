//go:build unix

// Package pgtest runs real PostgreSQL servers for tests: on a loopback port, in a directory of
// their own, as a user who is not root.
//
// Its one invariant: a server does not outlive the test, or the program, that started it.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"remit/internal/proof/suite"

	"github.com/jackc/pgx/v5"
)

// Password is that of the superuser "postgres" of every server. It is worth nothing.
const Password = "s3cret-of-the-test"

// versionMin is the oldest server that tests run on.
const versionMin = 15

// pauseReady is the pause between two looks at whether a server is ready.
const pauseReady = 20 * time.Millisecond

// nobody is who runs servers where tests run as root, which PostgreSQL refuses.
const nobody = 65534

// Server is a PostgreSQL server.
type Server struct {
	bin  string // where its programs are
	dir  string
	port int
	run  *program // nil while it is stopped
}

// ErrMissing says that PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL is not installed here (Debian: apt-get install postgresql)")

// Start starts a server, which ends with the test. It skips the test where PostgreSQL is not
// installed.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := orSkip(tb, New)
	tb.Cleanup(s.Close)
	return s
}

// Shared returns the server that all tests of this program share, as [OfProgram] does. It
// skips the test where PostgreSQL is not installed.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	return orSkip(tb, OfProgram)
}

func orSkip(tb testing.TB, start func() (*Server, error)) *Server {
	tb.Helper()
	s, err := start()
	if errors.Is(err, ErrMissing) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

var shared struct {
	sync.Mutex
	server *Server
}

// OfProgram returns the server that all of a program share: each works in a schema of its own,
// see [Server.Schema]. The program calls [CloseShared] at its end. The error is [ErrMissing]
// where PostgreSQL is not installed.
func OfProgram() (*Server, error) {
	shared.Lock()
	defer shared.Unlock()
	var err error
	if shared.server == nil {
		shared.server, err = New()
	}
	return shared.server, err
}

// CloseShared stops the server of [OfProgram], if it was ever asked for, and removes what the servers of the program were
// copied from.
func CloseShared() {
	made.remove()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		shared.server.Close()
	}
}

// New starts a server, which the caller closes. The error is [ErrMissing] where PostgreSQL is
// not installed. The program calls [CloseShared] at its end.
func New() (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	return newIn(bin, memory())
}

// memory is a directory in memory where there is such a place, as a test has no power to lose; "" where there is none.
func memory() string {
	const dir = "/dev/shm"
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// newIn starts a server whose files are in a directory.
func newIn(bin, parent string) (*Server, error) {
	dir, err := os.MkdirTemp(parent, "remit-pgtest-")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir}
	if err := s.make(); err != nil {
		s.Close()
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return s, nil
}

// Installed reports whether PostgreSQL is.
func Installed() bool {
	_, err := programs()
	return err == nil
}

// programs finds the newest installed server.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	for version := 30; version >= versionMin; version-- {
		bin := fmt.Sprintf("/usr/lib/postgresql/%d/bin", version)
		if _, err := os.Stat(filepath.Join(bin, "initdb")); err == nil {
			return bin, nil
		}
	}
	return "", ErrMissing
}

// make makes the server's files and starts it.
func (s *Server) make() error {
	if os.Geteuid() == 0 {
		if err := os.Chown(s.dir, nobody, nobody); err != nil {
			return err
		}
	}
	err := s.fill()
	if err != nil {
		return err
	}
	if s.port, err = suite.FreePort(); err != nil {
		return err
	}
	settings := fmt.Sprintf("listen_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = ''\nmax_connections = 200\nshared_buffers = '32MB'\nmax_wal_size = '128MB'\nlogging_collector = off\n", s.port)
	if err := s.Configure(settings); err != nil {
		return err
	}
	return s.Run()
}

// fill makes the files of a server that never ran. initdb takes ten times as long as a copy of what it made, which
// later servers of the program have.
func (s *Server) fill() error {
	made.Lock()
	defer made.Unlock()
	if made.dir == "" {
		words := filepath.Join(s.dir, "password")
		if err := os.WriteFile(words, []byte(Password), 0o644); err != nil {
			return err
		}
		out, err := s.command("initdb", "-D", s.data(), "-U", "postgres", "--auth=scram-sha-256", "--pwfile="+words,
			"-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
		if err != nil {
			return fmt.Errorf("initdb: %w: %s", err, out)
		}
		return made.keep(s)
	}
	return s.copy(filepath.Join(made.dir, "data"), s.data())
}

// made is what initdb made for the first server of the program.
var made template

type template struct {
	sync.Mutex
	dir string // "" before there is one
}

// keep copies the files of a server that never ran.
func (m *template) keep(s *Server) error {
	dir, err := os.MkdirTemp(memory(), "remit-pgtest-")
	if err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		err = os.Chown(dir, nobody, nobody)
	}
	if err = errors.Join(err, s.copy(s.data(), filepath.Join(dir, "data"))); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	m.dir = dir
	return nil
}

func (m *template) remove() {
	m.Lock()
	defer m.Unlock()
	if m.dir != "" {
		_ = os.RemoveAll(m.dir)
		m.dir = ""
	}
}

// copy copies a directory as who runs the server, whose files they are.
func (s *Server) copy(from, to string) error {
	cp := s.command("", "-R", from, to)
	if cp.Path, cp.Err = exec.LookPath("cp"); cp.Err != nil {
		return cp.Err
	}
	if out, err := cp.CombinedOutput(); err != nil {
		return fmt.Errorf("copy the files of a server: %w: %s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = endingWithUs(syscall.SIGQUIT)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return cmd
}

// Configure adds lines to postgresql.conf, which the next [Server.Run] reads.
func (s *Server) Configure(lines string) error {
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines)
	return errors.Join(err, f.Close())
}

// Run starts the server again after a stop, and waits until it answers.
func (s *Server) Run() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.command("postgres", "-D", s.data())
	cmd.Stdout, cmd.Stderr = log, log
	if s.run, err = start(cmd); err != nil {
		return err
	}
	if err := s.run.answers(s.URL()); err != nil {
		text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// Stop stops the server as "pg_ctl stop -m immediate" does, in the middle of whatever it does;
// what it lost of its own is repaired when it runs again.
func (s *Server) Stop() {
	s.end(syscall.SIGQUIT)
}

// end stops the server by a signal.
func (s *Server) end(sig syscall.Signal) {
	if s.run != nil {
		s.run.stop(sig)
		s.run = nil
	}
}

// Close stops the server and removes its files.
func (s *Server) Close() {
	s.Stop()
	_ = os.RemoveAll(s.dir)
}

// Address is the host and the port.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// URL is that of the superuser, with the password in it.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://postgres:%s@%s/postgres?sslmode=disable", Password, s.Address())
}

var schemas atomic.Int64

// Schema is the name of a schema that is nobody else's.
func (s *Server) Schema() string { return fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1)) }

// Exec runs a statement as the superuser in a schema, and returns the first column of its
// first row as a text, "" where there is none.
func (s *Server) Exec(tb testing.TB, schema, statement string, args ...any) string {
	tb.Helper()
	text, err := s.TryExec(tb.Context(), schema, statement, args...)
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
	return text
}

// TryExec is Exec for a statement that may fail.
func (s *Server) TryExec(ctx context.Context, schema, statement string, args ...any) (text string, err error) {
	ctx = context.WithoutCancel(ctx)
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, "SET search_path TO "+pgx.Identifier{schema}.Sanitize()); err != nil {
		return "", err
	}
	if len(args) == 0 && strings.Contains(statement, ";") {
		_, err := conn.PgConn().Exec(ctx, statement).ReadAll()
		return "", err
	}
	rows, err := conn.Query(ctx, statement, args...)
	if err != nil {
		return "", err
	}
	texts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		values, err := row.Values()
		return fmt.Sprint(slices.Concat(values, []any{""})[0]), err
	})
	if len(texts) > 0 {
		text = texts[0]
	}
	return text, err
}

// Terminate ends every session of remit for which a condition on pg_stat_activity holds, as an
// administrator or a failing network does, waits until the server has let go of them, and returns how many.
func (s *Server) Terminate(tb testing.TB, condition string) string {
	tb.Helper()
	return s.Exec(tb, "public", `SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity
		WHERE application_name = 'remit' AND `+condition)
}
