package service_test

import (
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"remit/executor"
	"remit/internal/sandbox"
	"remit/internal/service"
	"remit/internal/transfer"
)

var _ interface {
	executor.Submitter
	executor.Finder
} = (*service.Client)(nil)

func options(base, token string) service.Options {
	return service.Options{BaseURL: base, TokenURL: token, ClientID: "finance", ClientSecret: secret, Now: time.Now}
}

func TestNewRefusesWhatIsNotSafe(t *testing.T) {
	const good = "https://api.example.com"
	tests := map[string]struct {
		change func(*service.Options)
		reason string // "" where the options are good
	}{
		"https":                        {func(*service.Options) {}, ""},
		"http to 127.0.0.1":            {func(o *service.Options) { o.BaseURL = "http://127.0.0.1:8080" }, ""},
		"http to 127.9.9.9":            {func(o *service.Options) { o.TokenURL = "http://127.9.9.9/t" }, ""},
		"http to ::1":                  {func(o *service.Options) { o.BaseURL = "http://[::1]:8080" }, ""},
		"http to localhost":            {func(o *service.Options) { o.BaseURL = "http://LocalHost:8080" }, ""},
		"http to another machine":      {func(o *service.Options) { o.BaseURL = "http://api.example.com" }, "base_url"},
		"token over http":              {func(o *service.Options) { o.TokenURL = "http://10.0.0.1/t" }, "token_url"},
		"a name that begins like ours": {func(o *service.Options) { o.BaseURL = "http://127.0.0.1.example.com" }, "plain http"},
		"another name of localhost":    {func(o *service.Options) { o.BaseURL = "http://localhost.example.com" }, "plain http"},
		"0.0.0.0":                      {func(o *service.Options) { o.BaseURL = "http://0.0.0.0" }, "plain http"},
		"another scheme":               {func(o *service.Options) { o.BaseURL = "ftp://127.0.0.1" }, "neither https nor http"},
		"no scheme":                    {func(o *service.Options) { o.BaseURL = "api.example.com" }, "names no host"},
		"no host":                      {func(o *service.Options) { o.BaseURL = "https://:443" }, "names no host"},
		"nothing":                      {func(o *service.Options) { o.BaseURL = "" }, "names no host"},
		"a password":                   {func(o *service.Options) { o.BaseURL = "https://u:p4ssw0rd@x.example" }, "password"},
		"a password in what is no URL": {func(o *service.Options) { o.TokenURL = "https://u:p4ssw0rd@x y" }, "token_url"},
		"a query":                      {func(o *service.Options) { o.BaseURL = good + "?x=y" }, "has a query"},
		"a fragment":                   {func(o *service.Options) { o.TokenURL = good + "#x" }, "fragment"},
		"no client":                    {func(o *service.Options) { o.ClientID = "" }, "client_id"},
		"no secret":                    {func(o *service.Options) { o.ClientSecret = "" }, "client_secret"},
		"a negative timeout":           {func(o *service.Options) { o.Timeout = -1 }, "timeout"},
		"a lookup elsewhere":           {func(o *service.Options) { o.LookupPath = "//x.example/" }, "lookup_path"},
		"a lookup with a query":        {func(o *service.Options) { o.LookupPath = "/v2/transfers?a=b" }, "lookup_path"},
		"no certificate in ca_file":    {func(o *service.Options) { o.CA = []byte("x") }, "ca_file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := options(good, good+"/token")
			tt.change(&o)
			c, err := service.New(o)
			if (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Fatalf("error %v, want it to say %q", err, tt.reason)
			}
			if err != nil && (strings.Contains(err.Error(), "p4ssw0rd") || strings.Contains(err.Error(), secret)) {
				t.Errorf("tells a secret: %v", err)
			}
			if err == nil && c.HasLookup() {
				t.Error("a lookup that nobody configured")
			}
		})
	}
}

func quietTLS(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func tokens(t *testing.T) string {
	server := httptest.NewServer(always(200, "Content-Type: application/json", `{"access_token":"token-number-1"}`))
	t.Cleanup(server.Close)
	return server.URL
}

func TestCertificatesAreChecked(t *testing.T) {
	sent := 0
	server := quietTLS(t, func(w http.ResponseWriter, r *http.Request) {
		sent++
		always(200, "", answer)(w, r)
	})
	untrusting := newClient(t, options(server.URL, tokens(t)))
	if got := untrusting.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten || sent > 0 || !strings.Contains(got.Reason, "certificate is not trusted") {
		t.Errorf("an unknown certificate, %d requests: %+v", sent, got)
	}
	o := options(server.URL, tokens(t))
	o.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if got := newClient(t, o).Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || sent != 1 {
		t.Errorf("a certificate of ca_file: %+v", got)
	}
	plain := httptest.NewServer(always(200, "", answer))
	t.Cleanup(plain.Close)
	o.BaseURL = strings.Replace(plain.URL, "http:", "https:", 1)
	if got := newClient(t, o).Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten {
		t.Errorf("no TLS at all: %+v", got)
	}
}

func newClient(t *testing.T, o service.Options) *service.Client {
	t.Helper()
	service.Patient(&o)
	c, err := service.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestProxyIsForHTTPSOnly(t *testing.T) {
	for base, want := range map[string]int{"http://127.0.0.1:1": 0, "https://127.0.0.1:1": 1} {
		asked := 0
		o := options(base, tokens(t))
		o.Proxy = func(*http.Request) (*url.URL, error) {
			asked++
			return nil, errors.New("no proxy today")
		}
		if got := newClient(t, o).Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten || asked != want {
			t.Errorf("%s: the proxy was asked for %d times: %+v", base, asked, got)
		}
	}
}

// A real network resets connections; a pipe can't.
func TestResets(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{}, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- struct{}{}
			var first [1]byte
			_, _ = conn.Read(first[:]) // the request is on its way
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}()
	c := newClient(t, options("http://"+listener.Addr().String(), tokens(t)))
	if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unclear || len(accepted) != 1 {
		t.Errorf("a reset, %d connections: %+v", len(accepted), got)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten || !strings.Contains(got.Reason, "refused") {
		t.Errorf("nobody listens: %+v", got)
	}
}

// Each fault of the sandbox: what the client makes of it, beside what the ledger says. A
// client that calls a transfer not made that was made would pay it twice.
func TestAgainstTheSandbox(t *testing.T) {
	tests := map[string]struct {
		fault string
		kind  executor.AnswerKind
		made  bool
	}{
		"no fault":             {"latency=0s", executor.Answered, true},
		"a reset before":       {"reset-before", executor.Unclear, false},
		"an error before":      {"error-before", executor.Unclear, false},
		"a redirect":           {"redirect", executor.Unclear, false},
		"throttled":            {"throttled=2s", executor.NotProcessed, false},
		"too early":            {"too-early", executor.NotProcessed, false},
		"refused":              {"refuse", executor.Rejected, false},
		"an expired token":     {"token-expired=#1", executor.TokenRefused, false},
		"a lost answer":        {"lost-answer", executor.Unclear, true},
		"an error after":       {"error-after", executor.Unclear, true},
		"half an answer":       {"half-answer", executor.Unclear, true},
		"an endless answer":    {"endless", executor.Unclear, true},
		"garbage":              {"garbage", executor.Unclear, true},
		"no content":           {"answer=none", executor.Unclear, true},
		"optional fields only": {"bare", executor.Answered, true},
		"unknown fields":       {"novel", executor.Answered, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fault, err := sandbox.ParseFault(tt.fault)
			if err != nil {
				t.Fatal(err)
			}
			c, box := withSandbox(t)
			box.SetFaults(sandbox.Faults{fault})
			got := c.Submit(t.Context(), path, []byte(request))
			if got.Kind != tt.kind {
				t.Errorf("%+v", got)
			}
			totals, err := box.Debits(t.Context())
			if err != nil || (totals.Count() == 1) != tt.made {
				t.Errorf("the ledger has %d transfers: %v", totals.Count(), err)
			}
			box.SetFaults(nil)
			again := c.Submit(t.Context(), path, []byte(request))
			found, err := c.Find(t.Context(), []string{"a", "b"})
			if err != nil || again.Kind != executor.Answered || len(found["a"]) != 2 || len(found) != 1 {
				t.Fatalf("sent again: %+v; found %d: %v", again, len(found["a"]), err)
			}
			// Two answers have a time each, which a second may lie between.
			anyTime := cmpopts.IgnoreFields(transfer.Record{}, "AnsweredAt")
			if found["a"][0].AnsweredAt.IsZero() || again.Record.AnsweredAt.IsZero() {
				t.Errorf("the lookup is of %v, the answer of %v", found["a"][0].AnsweredAt, again.Record.AnsweredAt)
			}
			if diff := cmp.Diff(found["a"][0], *again.Record, anyTime); diff != "" || found["a"][1].Direction != transfer.Credit {
				t.Errorf("the lookup shows another record than the answer:\n%s", diff)
			}
		})
	}
	t.Run("another request with the ref_id", func(t *testing.T) {
		c, box := withSandbox(t)
		box.SetFaults(sandbox.Faults{{Kind: sandbox.Replay, Mode: sandbox.ReplayExisting}})
		first := c.Submit(t.Context(), path, []byte(request))
		second := c.Submit(t.Context(), path, []byte(strings.Replace(request, `"10"`, `"11"`, 1)))
		if second.Kind != executor.Exists || second.Record == nil || second.Record.ID != first.Record.ID {
			t.Errorf("%+v", second)
		}
	})
}

func withSandbox(t *testing.T) (*service.Client, *sandbox.Sandbox) {
	t.Helper()
	box, err := sandbox.Open(t.Context(), sandbox.Options{Now: time.Now, ClientID: "finance", ClientSecret: secret})
	if err != nil {
		t.Fatal(err)
	}
	server, err := box.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(server.Close(), box.Close()) })
	o := options(server.URL, server.URL+sandbox.TokenPath)
	o.LookupPath = sandbox.LookupPath("")
	c := newClient(t, o)
	if date, err := c.Ready(t.Context()); err != nil || time.Since(date).Abs() > time.Hour {
		t.Fatalf("Ready: %s, %v", date, err)
	}
	return c, box
}
