package certify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/sandbox"
	"remit/internal/service"
	"remit/internal/service/certify"
	"remit/internal/service/contract"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/sqlite"
)

// clock is the real one; under synctest it is the bubble's.
type clock struct{}

func (clock) Now() time.Time { return time.Now() }

// Boot goes on as the clock does.
func (clock) Boot() executor.Boot {
	return executor.Boot{ID: "boot", Machine: "machine", Up: time.Since(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC))}
}

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// world is a service, and the states of trials of it.
type world struct {
	t       testing.TB
	dir     string
	network *pipes
	options certify.Options
	lookup  string
	timeout time.Duration
	runs    int

	box  *sandbox.Sandbox // nil where the service is another
	sent []string         // ref_ids and bodies of requests to create, in their order
	// dies is how many effects a trial has before it is killed: appends to journals and requests to create; 0
	// for never.
	dies, effects int
	// interrupts is the request to create at which a trial is interrupted; 0 for none.
	interrupts int
	interrupt  func()
}

// errKilled stands for the end of the process.
var errKilled = errors.New("killed")

// isDead counts an effect, and reports whether the process is dead before it.
func (w *world) isDead() bool {
	w.effects++
	return w.dies > 0 && w.effects >= w.dies
}

// mortalJournal is a journal of a process that may die.
type mortalJournal struct {
	state.Journal
	w *world
}

func (j mortalJournal) Append(ctx context.Context, entries ...state.Entry) error {
	if j.w.isDead() {
		return errKilled
	}
	return j.Journal.Append(ctx, entries...)
}

// mortalSubmitter is a client of a process that may die: before a request, or before its answer is read.
type mortalSubmitter struct {
	executor.Submitter
	w *world
}

func (s mortalSubmitter) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	dead := executor.Answer{Kind: executor.Unclear, Reason: "killed"}
	if s.w.isDead() {
		return dead
	}
	s.w.sent = append(s.w.sent, string(body))
	if len(s.w.sent) == s.w.interrupts {
		s.w.interrupt()
	}
	answer := s.Submitter.Submit(ctx, path, body)
	if s.w.isDead() {
		return dead
	}
	return answer
}

const url = "http://127.0.0.1:1"

// in runs f in virtual time, with a world that handler serves.
func in(t *testing.T, handler func() http.Handler, f func(t *testing.T, w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			t: t, dir: dir, network: newPipes(), lookup: "/v2/transfers", timeout: 20 * time.Second,
			options: certify.Options{
				From: certify.Party{ProfileID: "treasury"}, To: certify.Party{ProfileID: "supplier"},
				PlatformTo: certify.Party{ProfileID: "landlord"},
				Amounts:    []transfer.Amount{transfer.MustAmount("1.05"), transfer.MustAmount("0.10")}, Asset: "USD",
				Wait: time.Minute,
			},
		}
		server := &http.Server{Handler: handler(), ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(w.network) }()
		f(t, w)
		_ = server.Close()
	})
}

// inSandbox is in with a sandbox that misbehaves.
func inSandbox(t *testing.T, o sandbox.Options, f func(t *testing.T, w *world), faults ...string) {
	t.Helper()
	var err error
	if o.Faults, err = sandbox.ParseFaults(faults...); err != nil {
		t.Fatal(err)
	}
	o.Now = time.Now
	var box *sandbox.Sandbox
	in(t, func() http.Handler {
		if box, err = sandbox.Open(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		return box
	}, func(t *testing.T, w *world) {
		w.box = box
		f(t, w)
		_ = box.Close()
	})
}

// journal locks a state of the world, which is made where it is missing.
func (w *world) journal(name string) (state.Journal, func()) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	ctx := w.t.Context()
	store, err := sqlite.Create(ctx, path, state.Created{
		Lineage: fmt.Sprintf("0000%04x-0000-4000-8000-000000000000", len(name)), Environment: "test",
		Service: state.Identity{BaseURL: url, Operator: "platform", ClientID: sandbox.DefaultClientID},
	}, sqlite.Options{Now: time.Now})
	if err != nil {
		store, err = sqlite.Open(ctx, path, sqlite.Options{Now: time.Now})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	journal, err := store.Lock(ctx, state.Holder{Command: "certify", Host: "host", User: "user", PID: 1, Since: time.Now()}, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return journal, func() {
		_ = journal.Unlock()
		_ = store.Close()
	}
}

// try is one trial; ctx ends it early.
func (w *world) try(ctx context.Context) (contract.Report, error) {
	w.t.Helper()
	first, closeFirst := w.journal("remit.db")
	defer closeFirst()
	other, closeOther := w.journal("other-state.db")
	defer closeOther()
	trial := certify.Trial{
		Options: w.options, Journal: first, Other: other, Clock: clock{}, Random: func() float64 { return 0.5 },
		By:    state.Holder{Command: "remit certify", Host: "host", User: "user", PID: 1, Since: time.Now()},
		RunID: func() string { w.runs++; return fmt.Sprintf("run-%d", w.runs) },
	}
	trial.Settings = executor.Settings{ReplayWindow: 24 * time.Hour, RequestTimeout: w.timeout}
	client, err := service.New(service.Options{
		BaseURL: url, TokenURL: url + sandbox.TokenPath, ClientID: sandbox.DefaultClientID, ClientSecret: sandbox.DefaultClientSecret,
		Scopes: []string{"transfer:write"}, LookupPath: w.lookup, Timeout: w.timeout, Now: time.Now, UserAgent: "remit/test",
		Dial: func(context.Context, string, string) (net.Conn, error) { return w.network.open() },
		Watch: func(s service.Seen) {
			if s.Method != http.MethodPost || s.Token {
				trial.Watch(certify.Exchange{Token: s.Token, Status: s.Status, Life: s.Life, Lacks: s.Lacks})
			}
		},
		WatchList: func(l service.List) {
			trial.Watch(certify.Exchange{IsPage: true, Length: l.Length, Asked: l.Asked, Alone: l.Alone, Others: l.Others, More: l.More})
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	defer client.Close()
	trial.Submitter = mortalSubmitter{client, w}
	trial.Journal, trial.Other = mortalJournal{first, w}, mortalJournal{other, w}
	if w.lookup != "" {
		trial.Finder = client
	}
	return trial.Run(ctx)
}

// findings are a report by row.
func findings(r contract.Report) map[string]contract.Finding {
	all := make(map[string]contract.Finding)
	for _, f := range r.Findings {
		all[f.Row.Name] = f
	}
	return all
}

// text is a report as lines.
func text(r contract.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-8s %-14s %s\n", f.Verdict, f.Row.Name, f.Seen)
	}
	fmt.Fprintf(&b, "series %d, made %d, requests %d, open %v, kept %d\n", r.Series, r.Made, r.Requests, r.LeftOpen, r.Kept)
	return b.String()
}

// pipes is a listener without a system's network.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) open() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- ours:
		return theirs, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr implements [net.Listener].
func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }
