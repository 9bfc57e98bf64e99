// Package jointest runs remit as whole processes that carry out one run together on a real
// PostgreSQL, kills and stops them, and holds what the service made against the journal.
package jointest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

	"github.com/jackc/pgx/v5/pgxpool"

	"remit/internal/proof/suite"
	"remit/internal/sandbox"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
)

// TestMain ends the server that the tests share, and lets more of them run at once than there are
// processors: they mostly wait.
func TestMain(m *testing.M) {
	suite.SideBySide(12)
	defer program.Remove()
	defer pgtest.CloseShared()
	m.Run()
}

// program is what is tested.
var program = suite.Program{Package: "remit"}

const configuration = `
remit {
  environment = "jointest"
}

state "postgres" {
  url    = var.database_url
  schema = var.schema
}

service {
  base_url      = var.base_url
  token_url     = "${var.base_url}/oauth2/token"
  client_id     = "finance"
  client_secret = "worth-nothing"
  max_in_flight = %d
  %s
}

variable "base_url" { type = string }
variable "schema" { type = string }
variable "database_url" {
  type      = string
  sensitive = true
}

data "csv" "rows" {
  file = "rows.csv"
  key  = "id"
}

transfer "internal" "pay" {
  for_each         = data.csv.rows.rows
  ref_id           = "pay-${each.key}"
  from_profile_id  = "treasury"
  to_profile_id    = "staff-${each.key}"
  amount           = each.value.amount
  asset            = "USD"
  duplicate_within = "0"
  %s
}
`

// arrival is a request to create that came to the service.
type arrival struct {
	at    time.Time
	refID string
	body  [sha256.Size]byte
}

// world is a service, a state in PostgreSQL, and a configuration for both.
type world struct {
	t       testing.TB
	program string
	dir     string
	seen    string // what the machine has seen of states
	schema  string
	server  *pgtest.Server // nil where the state is in a cluster
	at      database
	box     *sandbox.Sandbox
	url     string
	latency time.Duration
	db      *pgxpool.Pool

	adopts bool // a lookup may have found what the state lost

	lag atomic.Int64 // see watchLag

	mu       sync.Mutex
	released chan struct{} // closed once requests are answered without holding them
	isOpen   bool          // released is closed
	heldFrom int           // how many requests come before the first that is held
	arrivals []arrival
	unwanted []string // requests without an intent
}

// database is where a state is.
type database interface {
	URL() string
	Schema() string
}

// options are those that tests choose.
type options struct {
	rows      int
	inFlight  int
	latency   time.Duration
	service   string // further arguments of the service block
	transfer  string // of the transfer block
	more      string // further blocks
	faults    []string
	held      bool     // requests are held until release, so that a run goes on meanwhile
	at        database // that has the state; nil for the server that tests share
	unchecked bool     // the journal is not asked for the intent of each request
}

func newWorld(t testing.TB, program string, o options) *world {
	t.Helper()
	w := &world{t: t, program: program, dir: t.TempDir(), seen: t.TempDir(), latency: o.latency, released: make(chan struct{})}
	if !o.held {
		w.release()
	}
	if o.at != nil {
		w.at = o.at
	} else {
		w.server = pgtest.Shared(t)
		w.at = w.server
	}
	w.schema = w.at.Schema()
	var err error
	if w.db, err = pgxpool.New(context.Background(), w.at.URL()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.db.Close)
	w.watchLag()
	w.serve(o) // from here on requests ask the database
	var rows strings.Builder
	rows.WriteString("id,amount\n")
	for i := range o.rows {
		fmt.Fprintf(&rows, "%05d,%d.%02d\n", i, 10+i%90, i%100)
	}
	w.write("main.hcl", fmt.Sprintf(configuration, o.inFlight, o.service, o.transfer)+o.more)
	w.write("rows.csv", rows.String())
	w.must(0, "init")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// serve runs the sandbox, and notes the requests to it.
func (w *world) serve(o options) {
	w.t.Helper()
	faults, err := sandbox.ParseFaults(o.faults...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.box, err = sandbox.Open(context.Background(), sandbox.Options{ClientID: "finance", ClientSecret: "worth-nothing", Faults: faults, Now: time.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path != sandbox.TokenPath {
			at := time.Now()
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // its sender is gone
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			select {
			case <-w.note(at, body, !o.unchecked):
				time.Sleep(w.latency)
			case <-time.After(holdMax):
			}
		}
		w.box.ServeHTTP(answer, r)
	}))
	w.url = server.URL
	w.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = w.box.Close()
	})
}

// holdMax is how long a request is held at most: less than a runner waits for an answer.
const holdMax = 25 * time.Second

// release has the service answer what it held, and hold nothing more.
func (w *world) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open()
}

// open lets pass what is held. The caller has locked mu.
func (w *world) open() {
	if !w.isOpen {
		close(w.released)
		w.isOpen = true
	}
}

// hold has the service hold the answers to come until release.
func (w *world) hold() { w.holdFrom(0) }

// holdFrom has the service answer what it held, and hold the answers to come until release, but for those to the first n
// requests of all. Each is held for [holdMax], so a run with some left goes on for minutes, whatever the test does next.
func (w *world) holdFrom(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open()
	w.released, w.isOpen, w.heldFrom = make(chan struct{}), false, n
}

// joined waits until so many runners take part in the run.
func (w *world) joined(runners int) {
	w.t.Helper()
	w.waitFor(fmt.Sprintf("%d runners take part", runners), fmt.Sprintf(`SELECT count(*) >= %d FROM %s.runners WHERE joined`, runners, w.schema))
}

// takePart waits until so many runners take part in the run, whose requests are held, and lets it go on.
func (w *world) takePart(runners int) {
	w.t.Helper()
	w.joined(runners)
	w.release()
}

// note notes a request to create, and whether its intent is durable (law 1). It returns what closes once the request may be
// answered.
func (w *world) note(at time.Time, body []byte, checked bool) (released <-chan struct{}) {
	var request struct {
		RefID string `json:"ref_id"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		w.t.Errorf("a request that is no JSON: %v", err)
	}
	intended := !checked
	if checked {
		err := w.db.QueryRow(context.Background(), `SELECT EXISTS (SELECT 1 FROM `+w.schema+`.transfers t JOIN `+w.schema+`.events e ON e.seq = t.intent_seq
			WHERE t.ref_id = $1 AND e.kind = 'intent' AND position($2::bytea IN e.data) >= 0)`, request.RefID, []byte(request.RefID)).Scan(&intended)
		if err != nil {
			w.t.Errorf("look for the intent of %s: %v", request.RefID, err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !intended {
		w.unwanted = append(w.unwanted, request.RefID)
	}
	w.arrivals = append(w.arrivals, arrival{at, request.RefID, sha256.Sum256(body)})
	if len(w.arrivals) <= w.heldFrom {
		return atOnce
	}
	return w.released
}

// atOnce is closed.
var atOnce = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// runner is a remit of its own process.
type runner struct {
	t              testing.TB
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	killed         bool
	stopped        bool
	done           chan struct{}
}

// start runs remit in a directory that is equal to the others', as another machine would.
func (w *world) start(args ...string) *runner {
	w.t.Helper()
	return w.startWith(nil, args...)
}

// join runs remit as a runner that takes part in the run, and waits for it as long as a busy machine takes.
func (w *world) join(args ...string) *runner {
	w.t.Helper()
	return w.start(append([]string{"apply", "--join", waits}, args...)...)
}

// startWith runs remit with environment variables that go before those of start.
func (w *world) startWith(env []string, args ...string) *runner {
	w.t.Helper()
	r := &runner{t: w.t, cmd: exec.Command(w.program, args...), done: make(chan struct{})}
	r.cmd.Dir = w.dir
	r.cmd.Env = append(os.Environ(), "USER=clerk", "CI=1", "XDG_STATE_HOME=", "HOME="+w.seen, "REMIT_VAR_base_url="+w.url, "REMIT_VAR_schema="+w.schema, "REMIT_VAR_database_url="+w.at.URL())
	r.cmd.Env = append(r.cmd.Env, env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // its exit code is looked at
		close(r.done)
	}()
	w.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it may have ended
		<-r.done
	})
	return r
}

func (r *runner) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// said is what the runner said beside its table, in one line.
func (r *runner) said() string { return strings.Join(strings.Fields(r.stderr.String()), " ") }

// patience is how long a test waits for a sure event: longer than any machine is busy, and less than go test gives a package.
const patience = 9 * time.Minute

// Flags with which a runner waits longer than any machine is busy: for the server of its state, and for a run to join.
const (
	outlasts = "--failover-timeout=8m"
	waits    = "--lock-timeout=8m"
)

// end waits for the end, and returns the exit code.
func (r *runner) end() int {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		_ = r.cmd.Process.Signal(syscall.SIGQUIT)
		<-r.done
		r.t.Fatalf("%s does not end\n%s\n%s", r.cmd, &r.stdout, &r.stderr)
	}
	if strings.Contains(r.stderr.String(), "goroutine ") {
		r.t.Fatalf("%s: a crash of remit's own\n%s", r.cmd, &r.stderr)
	}
	return r.cmd.ProcessState.ExitCode()
}

func (r *runner) signal(s syscall.Signal) {
	_ = r.cmd.Process.Signal(s) // it may have ended
}

// must runs remit, which must end with the given code.
func (w *world) must(code int, args ...string) string {
	w.t.Helper()
	r := w.start(args...)
	if got := r.end(); got != code {
		w.t.Fatalf("remit %s: exit code %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, &r.stdout, &r.stderr)
	}
	return r.stdout.String()
}

// await waits until so many requests have come.
func (w *world) await(n int) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if w.count() >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatalf("%d requests came, %d are waited for", w.count(), n)
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.arrivals)
}

// check holds what the service made against the state, in which nothing is left to do: each
// transfer once, always with the same bytes, never without an intent.
func (w *world) check(rows int) {
	w.t.Helper()
	ctx := context.Background()
	made := make(map[string]int)
	groups := make(map[string]string)
	for record, err := range w.box.Ledger(ctx) {
		if err != nil {
			w.t.Fatal(err)
		}
		if record.Direction == transfer.Debit {
			made[record.RefID]++
			groups[record.RefID] = record.GroupID
		}
	}
	for refID, n := range made {
		if n != 1 {
			w.t.Errorf("%s was made %d times", refID, n)
		}
	}
	if len(made) != rows {
		w.t.Errorf("%d transfers were made, %d are declared", len(made), rows)
	}
	store, err := postgres.OpenReadOnly(ctx, postgres.Options{URL: w.at.URL(), Schema: w.schema, Now: time.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if _, err := store.Verify(ctx, ""); err != nil {
		w.t.Error(err)
	}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = snapshot.Close() }()
	recorded := 0
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			w.t.Fatal(err)
		}
		recorded++
		if row.Status != state.Recorded && (!w.adopts || row.Status != state.Adopted) || row.GroupID != groups[row.RefID] {
			w.t.Errorf("%s is %s under group_id %q, the ledger has %q", row.RefID, row.Status, row.GroupID, groups[row.RefID])
		}
	}
	if recorded != rows {
		w.t.Errorf("%d transfers are in the state, %d are declared", recorded, rows)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	bodies := make(map[string][sha256.Size]byte)
	for _, a := range w.arrivals {
		if before, ok := bodies[a.refID]; ok && before != a.body {
			w.t.Errorf("%s was sent with other bytes", a.refID)
		}
		bodies[a.refID] = a.body
	}
	for _, refID := range w.unwanted {
		w.t.Errorf("%s was sent without an intent", refID)
	}
}

// keepsRate checks that the service got at most limit requests in any window. A busy machine delivers a request later than
// [state.Lateness] allows, together with those after it: the window is shorter by as much as watchLag has measured. It also
// checks that all requests took the time that the limit makes them take, which a late delivery does not change.
func (w *world) keepsRate(limit int, window time.Duration) {
	w.t.Helper()
	late := 2 * time.Duration(w.lag.Load()) // of who sends, and of who counts
	seen := min(window, window+state.Lateness(window)-late)
	most, at := w.most(max(seen, time.Millisecond))
	w.t.Logf("at most %d requests in any window of %v, %d are allowed in one of %v", most, seen, limit, window)
	if seen > 0 && most > limit {
		w.t.Errorf("%d requests in a window of %v, %d are allowed; %v after the first", most, seen, limit, at)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.arrivals) == 0 {
		return
	}
	took := w.arrivals[len(w.arrivals)-1].at.Sub(w.arrivals[0].at) // in their order, see most
	if least := time.Duration((len(w.arrivals)-1)/limit) * window; took+state.Lateness(window)+late < least {
		w.t.Errorf("%d requests came within %v, and take %v at the least", len(w.arrivals), took, least)
	}
}

// watchLag measures how late the machine wakes a goroutine at the most, until the test ends.
func (w *world) watchLag() {
	const pause = 5 * time.Millisecond
	ctx := w.t.Context()
	go func() {
		for ctx.Err() == nil {
			due := time.Now().Add(pause)
			time.Sleep(pause)
			w.lag.Store(max(w.lag.Load(), int64(time.Since(due))))
		}
	}()
}

// most is the largest number of requests in any window of the given length, and when that was.
func (w *world) most(window time.Duration) (most int, at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.arrivals, func(a, b arrival) int { return a.at.Compare(b.at) })
	first := 0
	for last := range w.arrivals {
		for w.arrivals[last].at.Sub(w.arrivals[first].at) >= window {
			first++
		}
		if n := last - first + 1; n > most {
			most, at = n, w.arrivals[first].at.Sub(w.arrivals[0].at)
		}
	}
	return most, at
}
