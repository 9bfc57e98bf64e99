package crashtest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres/pgtest"
)

// configuration is the payroll example against a service of this machine: the same 118
// rows, due at once, and nothing that slows a run down.
const configuration = `
remit {
  environment = "crashtest"
}

service {
  base_url      = var.base_url
  token_url     = "${var.base_url}/oauth2/token"
  client_id     = "finance"
  client_secret = var.client_secret
  max_in_flight = %d
  %s
}

variable "base_url" {
  type = string
}

variable "client_secret" {
  type      = string
  sensitive = true
}

data "csv" "payroll" {
  file = "payroll-2026-11.csv"
  key  = "employee"
}

profile "treasury" {
  profile_id = "5a85c2e9-08fe-5c14-9b78-492f6f44c737"
}

transfer "internal" "payroll" {
  for_each         = data.csv.payroll.rows
  ref_id           = "payroll-2026-11-${each.key}"
  from             = profile.treasury
  to_profile_id    = each.value.profile_id
  amount           = each.value.net
  asset            = "USD"
  duplicate_within = "0"
  metadata         = { employee = each.key, department = each.value.department }
}
`

// panicked is the exit code of a Go program that crashed, which remit is not to have: only one of its
// flags asks for it.
const panicked = 2

// TestMain lets more tests run at once than there are processors: they mostly wait.
func TestMain(m *testing.M) {
	suite.SideBySide(16)
	code := m.Run()
	program.Remove()
	pgtest.CloseShared()
	os.Exit(code)
}

// program is what is tested, built as anyone would.
var program = suite.Program{Package: "remit"}

// directory is a configuration with its state, and the service that it pays through.
type directory struct {
	t       *testing.T
	program string
	path    string
	env     []string
	nobody  bool    // remit runs as a user to whom permissions apply
	shared  *shared // where the state is; nil for a file of the directory
}

// name is what remit calls the state: nothing of the url, which is a sensitive variable.
func (d *directory) name() string {
	if d.shared != nil {
		return "(sensitive)"
	}
	return "remit.db"
}

// rows reads the state.
func (d *directory) rows() []state.Transfer {
	d.t.Helper()
	if d.shared != nil {
		return d.shared.rows(d.t)
	}
	return readState(d.t, d.path)
}

// newDirectory writes the payroll example for a service with or without lookup.
func newDirectory(t *testing.T, program string, service *service, hasLookup bool, inFlightMax int) *directory {
	t.Helper()
	d := &directory{t: t, program: program, path: t.TempDir(), env: append(
		os.Environ(), "USER=clerk", "XDG_STATE_HOME=", "HOME="+t.TempDir(), "REMIT_VAR_base_url="+service.baseURL, "REMIT_VAR_client_secret="+service.secret)}
	rows, err := os.ReadFile("../../../examples/payroll/payroll-2026-11.csv")
	if err != nil {
		t.Fatal(err)
	}
	lookup := ""
	if hasLookup {
		lookup = `lookup_path = "/v2/transfers"`
	}
	for name, content := range map[string][]byte{
		"main.hcl": fmt.Appendf(nil, configuration, inFlightMax, lookup), "payroll-2026-11.csv": rows,
	} {
		if err := os.WriteFile(filepath.Join(d.path, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// ended is how a process ended.
type ended struct {
	command        string
	code           int
	killed         bool // by SIGKILL
	stdout, stderr string
}

// fatal fails the test with all that is known of e.
func (e ended) fatal(t *testing.T, why string) {
	t.Helper()
	t.Fatalf("%s: %s ended with exit code %d\nstderr: %s\nstdout: %s", why, e.command, e.code, e.stderr, e.stdout)
}

// running is a remit that was started.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  chan string // of stdout, as they come; closed at its end
	stdout strings.Builder
	stderr bytes.Buffer
}

// start starts remit; each line of its stdout must be received, or [running.end] called.
func (d *directory) start(args ...string) *running {
	d.t.Helper()
	r := &running{t: d.t, cmd: exec.Command(d.program, args...), lines: make(chan string, 1<<12)}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = d.path, d.env, &r.stderr
	if d.nobody {
		r.cmd.SysProcAttr = asNobody()
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		defer close(r.lines)
		for in := bufio.NewReader(out); ; {
			line, err := in.ReadString('\n')
			r.lines <- line
			if err != nil {
				return
			}
		}
	}()
	return r
}

// patience is how long a test waits for what surely comes: longer than any machine is busy.
const patience = 5 * time.Minute

// await waits until count lines of stdout contained word. It reports false where stdout ended
// first, or within passed.
func (r *running) await(word string, count int, within time.Duration) bool {
	late := time.After(within)
	for count > 0 {
		select {
		case line, more := <-r.lines:
			if !more {
				return false
			}
			r.stdout.WriteString(line)
			if strings.Contains(line, word) {
				count--
			}
		case <-late:
			return false
		}
	}
	return true
}

// end waits for the end of the process.
func (r *running) end() ended {
	r.t.Helper()
	for line := range r.lines {
		r.stdout.WriteString(line)
	}
	var exit *exec.ExitError
	if err := r.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	status := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	e := ended{
		command: strings.Join(r.cmd.Args[1:], " "), code: r.cmd.ProcessState.ExitCode(),
		killed: status.Signaled() && status.Signal() == syscall.SIGKILL,
		stdout: r.stdout.String(), stderr: r.stderr.String(),
	}
	if status.Signaled() && !e.killed || strings.Contains(e.stderr, "goroutine ") || e.code == panicked && !strings.Contains(e.command, "--detailed-exitcode") {
		e.fatal(r.t, "a crash of remit's own")
	}
	if strings.Contains(e.stdout+e.stderr, pgtest.Password) {
		e.fatal(r.t, "it shows the password of the database")
	}
	return e
}

// run runs remit to its end.
func (d *directory) run(args ...string) ended {
	d.t.Helper()
	return d.start(args...).end()
}

// must runs remit, which must end with the given code.
func (d *directory) must(code int, args ...string) ended {
	d.t.Helper()
	e := d.run(args...)
	if e.code != code {
		e.fatal(d.t, fmt.Sprintf("want exit code %d", code))
	}
	return e
}

// service is a remit sandbox serve, a process of its own whose ledger outlives it.
type service struct {
	t       *testing.T
	program string
	ledger  string
	faults  []string
	secret  string
	baseURL string // stays the same when it is started anew
	cmd     *exec.Cmd
}

func newService(t *testing.T, program string, faults ...string) *service {
	t.Helper()
	s := &service{
		t: t, program: program, ledger: filepath.Join(t.TempDir(), "ledger.db"), faults: faults, secret: "worth-nothing",
	}
	port, err := suite.FreePort() // nobody takes it while the service is stopped
	if err != nil {
		t.Fatal(err)
	}
	s.start(fmt.Sprintf("127.0.0.1:%d", port))
	t.Cleanup(s.kill)
	return s
}

func (s *service) start(address string) {
	s.t.Helper()
	args := []string{
		"sandbox", "serve", "--json", "--ledger", s.ledger, "--listen", address,
		"--client-id", "finance", "--client-secret", s.secret,
	}
	for _, fault := range s.faults {
		args = append(args, "--fault", fault)
	}
	s.cmd = exec.Command(s.program, args...)
	var stderr bytes.Buffer
	s.cmd.Stderr = &stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var said struct {
		BaseURL string `json:"base_url"`
	}
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		s.t.Fatalf("the sandbox does not say where it listens: %v\n%s", err, &stderr)
	}
	s.baseURL = said.BaseURL
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// kill ends it as a power switch would, as far as a process can be.
func (s *service) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()         // it was killed
}

// restart starts it again at its address, with its ledger.
func (s *service) restart() {
	s.t.Helper()
	base, err := url.Parse(s.baseURL)
	if err != nil {
		s.t.Fatal(err)
	}
	s.start(base.Host)
}
