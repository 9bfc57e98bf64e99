package crashtest_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"remit/internal/proof/suite"
)

// TestAStoppedRunIsFencedWhenItWakes stops a run, takes its lock away, lets another apply
// finish, and wakes it: it writes nothing, and begins no request.
func TestAStoppedRunIsFencedWhenItWakes(t *testing.T) {
	t.Parallel()
	fenced(t, func(*directory) {}, stopBetweenCommits)
}

// fenced is that test for a state that place puts where it is, with runs that stop stops.
func fenced(t *testing.T, place func(*directory), stop func(*testing.T, *running, *directory)) {
	t.Helper()
	program := program.Build(t)
	for name, c := range map[string]struct {
		faults  []string
		settled int // when it is stopped
		watch   func(*testing.T, string) *watched
	}{
		"with requests in flight":                 {[]string{"latency=200ms"}, 20, watchUnfinished},
		"with one request left, to be sent again": {[]string{"latency=5ms", "throttled=15s,#118"}, payroll - 1, watch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, program, c.faults...)
			watched := c.watch(t, s.baseURL)
			d := newDirectory(t, program, &service{baseURL: watched.url, secret: s.secret}, false, 8)
			place(d)
			d.must(0, "init")
			stopped := d.start("apply", "--auto-approve", "--json")
			if !stopped.await(`"type":"settled"`, c.settled, patience) {
				stopped.end().fatal(t, "nothing is settled")
			}
			stop(t, stopped, d)
			watched.release()
			locked := d.must(1, "apply", "--auto-approve")
			if !strings.Contains(locked.stderr, "locked by") || !strings.Contains(locked.stderr, "nothing was sent") {
				locked.fatal(t, "it does not say who holds the lock")
			}
			d.must(0, "force-unlock", "--reason=the machine hangs")
			finish(t, d)
			head := journalHead(d)

			watched.forget()
			signal(t, stopped, syscall.SIGCONT)
			woken := stopped.end()
			if woken.code != 4 {
				woken.fatal(t, "want exit code 4")
			}
			// A request past its check when the process was stopped repeats recorded bytes;
			// where the only one left waits for its next try, none is past its check.
			for _, refID := range watched.refIDs() {
				isWritten := strings.Contains(woken.stdout, `"type":"intended","ref_id":"`+refID+`"`)
				if !isWritten || c.settled == payroll-1 {
					t.Errorf("the woken run sends %s", refID)
				}
			}
			for _, want := range []string{"the lock of the state " + d.name() + " was taken away", "Certain: ", "In doubt: ", "    remit plan\n"} {
				if !strings.Contains(oneLine(woken.stderr), oneLine(want)) {
					woken.fatal(t, "it does not say "+want)
				}
			}
			if got := journalHead(d); got != head {
				t.Errorf("the woken run wrote to the journal: its head was %s and is %s", head, got)
			}
			d.must(0, "plan", "--detailed-exitcode")
			s.kill()
			for _, wrong := range compare(readLedger(t, s.ledger), d.rows(), payroll) {
				t.Error(wrong)
			}
		})
	}
}

// TestAHolderStoppedInACommitIsNamed stops a run and holds the database as it would in the
// middle of a commit. Then its lock can't be taken away: force-unlock says which process to
// end, and that this loses nothing.
func TestAHolderStoppedInACommitIsNamed(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	s := newService(t, program, "latency=200ms")
	watched := watchUnfinished(t, s.baseURL)
	d := newDirectory(t, program, &service{baseURL: watched.url, secret: s.secret}, false, 8)
	d.must(0, "init")
	stopped := d.start("apply", "--auto-approve", "--json")
	if !stopped.await(`"type":"settled"`, 3, patience) {
		stopped.end().fatal(t, "nothing is settled")
	}
	stopBetweenCommits(t, stopped, d)
	release := holdCommit(t, d)
	busy := d.must(1, "force-unlock", "--reason=the machine hangs")
	for _, want := range []string{"in the middle of a commit", "nothing was changed", fmt.Sprintf("    kill -KILL %d\n", stopped.cmd.Process.Pid)} {
		if !strings.Contains(busy.stderr, want) {
			busy.fatal(t, "it does not say "+want)
		}
	}
	signal(t, stopped, syscall.SIGKILL)
	stopped.end()
	watched.pass()
	release()
	finish(t, d)
	s.kill()
	for _, wrong := range compare(readLedger(t, s.ledger), d.rows(), payroll) {
		t.Error(wrong)
	}
}

// holdCommit holds the write lock of the state's database until release.
func holdCommit(t *testing.T, d *directory) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(d.path, "remit.db")+"?_txlock=immediate&_busy_timeout=60000") // the run commits most of the time where the disk is slow
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// stopBetweenCommits stops a run, though not in the middle of a commit: while it can't begin one.
func stopBetweenCommits(t *testing.T, r *running, d *directory) {
	t.Helper()
	release := holdCommit(t, d)
	suite.Freeze(t, r.cmd.Process)
	release()
}

func signal(t *testing.T, r *running, s syscall.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// oneLine is a text as it was before it was broken into lines.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// finish applies until nothing is left to do.
func finish(t *testing.T, d *directory) {
	t.Helper()
	var e ended
	for range settlesMax {
		if e = d.run("apply", "--auto-approve"); e.code == 0 {
			return
		}
	}
	e.fatal(t, "it does not come to an end")
}

// journalHead is the hash of the newest event.
func journalHead(d *directory) string {
	d.t.Helper()
	e := d.must(0, "audit", "verify", "--json")
	found := regexp.MustCompile(`"head":"[0-9a-f]{64}"`).FindString(e.stdout)
	if found == "" {
		e.fatal(d.t, "no head")
	}
	return found
}

// watched counts the requests that pass to a service.
type watched struct {
	url   string
	mu    sync.Mutex
	posts []string // the ref_ids of requests to create

	most     int           // of them, behind which the next ones are held back; 0 for all
	released chan struct{} // is closed to let the held ones pass
	once     sync.Once     // closes it
}

// watchUnfinished watches a payroll whose last requests are held back before release or pass, for as long as remit waits for an
// answer: it does not end before a test that comes late.
func watchUnfinished(t *testing.T, base string) *watched {
	t.Helper()
	w := watch(t, base)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most = payroll - 18
	return w
}

func watch(t *testing.T, base string) *watched {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{released: make(chan struct{})}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // its sender is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var request struct {
			RefID string `json:"ref_id"`
		}
		if json.Unmarshal(body, &request) == nil {
			w.mu.Lock()
			w.posts = append(w.posts, request.RefID)
			isHeld := w.most > 0 && len(w.posts) > w.most
			w.mu.Unlock()
			if isHeld {
				select {
				case <-w.released:
				case <-r.Context().Done():
					return // its sender is gone, and it arrives nowhere
				}
			}
		}
		proxy.ServeHTTP(answer, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(w.release) // else the server would wait for what a failed test left held
	w.url = server.URL
	return w
}

// release lets pass what is held back, and all that comes.
func (w *watched) release() {
	w.pass()
	w.once.Do(func() { close(w.released) })
}

// pass lets pass all that comes. What is held back ends with its sender.
func (w *watched) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most = 0
}

func (w *watched) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.posts = nil
}

func (w *watched) refIDs() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.posts
}
