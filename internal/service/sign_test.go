package service_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/service"
)

func TestASignatureIsMadeForEachAttempt(t *testing.T) {
	var headers, bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		headers, bodies = append(headers, r.Header.Get("X-Proof")), append(bodies, string(body))
		always(400, "", `{"title":"no","detail":"you sent `+r.Header.Get("X-Proof")+`"}`)(w, r)
	}))
	t.Cleanup(server.Close)
	o := options(server.URL+"/base", tokens(t))
	attempts := 0
	o.SignatureHeader = "x-proof"
	o.Sign = func(_ context.Context, what service.ToSign) (string, error) {
		attempts++
		if what.Method != "POST" || what.URL != server.URL+"/base"+path || string(what.Body) != request {
			t.Errorf("to sign: %+v", what)
		}
		return strings.Repeat("proof", attempts), nil
	}
	c := newClient(t, o)
	for range 2 {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Rejected || strings.Contains(got.Reason+string(got.Problem), "proof") {
			t.Errorf("it keeps the signature: %+v", got)
		}
	}
	if len(headers) != 2 || headers[0] != "proof" || headers[1] != "proofproof" || bodies[0] != request || bodies[1] != request {
		t.Errorf("sent %q with %q", bodies, headers)
	}
}

func TestWithoutASignatureNothingIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		err   error
		stop  bool
	}{
		"an error":       {"", errors.New("no key"), true},
		"nothing":        {"", nil, true},
		"another header": {"a\r\nX-Other: b", nil, true},
		"too long":       {strings.Repeat("a", 1<<20), nil, true},
	} {
		sent := 0
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
		t.Cleanup(server.Close)
		o := options(server.URL, tokens(t))
		o.SignatureHeader = "X-Proof"
		o.Sign = func(context.Context, service.ToSign) (string, error) { return c.value, c.err }
		got := newClient(t, o).Submit(t.Context(), path, []byte(request))
		if got.Kind != executor.Unwritten || got.Stop != c.stop || sent > 0 || !strings.Contains(got.Reason, "could not be signed") {
			t.Errorf("%s: %d requests, %+v", name, sent, got)
		}
	}
}

// A signer that takes too long costs one attempt, and a late signature is never sent.
func TestASignatureInTimeOrNone(t *testing.T) {
	for name, late := range map[string]func(context.Context) (string, error){
		"it minds the end": func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"it does not":      func(context.Context) (string, error) { time.Sleep(time.Minute); return "proof", nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{api: always(200, "", answer)}
			signed := func(o *service.Options) {
				o.SignatureHeader = "X-Proof"
				o.Sign = func(ctx context.Context, _ service.ToSign) (string, error) { return late(ctx) }
			}
			w.in(t, func(t *testing.T, c *service.Client) {
				got := c.Submit(t.Context(), path, []byte(request))
				synctest.Wait()
				if got.Kind != executor.Unwritten || got.Stop || !strings.Contains(got.Reason, "no signature within 4s") {
					t.Errorf("%+v", got)
				}
			}, signed)
			if w.requests != 0 {
				t.Errorf("%d requests were sent", w.requests)
			}
		})
	}
}

// The time that a signature takes is part of the time within which a request begins: a connection is awaited for the rest of it.
func TestAConnectionIsAwaitedForWhatASignatureLeaves(t *testing.T) {
	w := &world{dial: func(ctx context.Context) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }}
	w.in(t, func(t *testing.T, c *service.Client) {
		if _, err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten || time.Since(began) != executor.StartMax {
			t.Errorf("after %s, want %s: %+v", time.Since(began), executor.StartMax, got)
		}
	}, func(o *service.Options) {
		o.SignatureHeader = "X-Proof"
		o.Sign = func(context.Context, service.ToSign) (string, error) {
			time.Sleep(executor.StartMax / 2)
			return "proof", nil
		}
	})
}

func TestHeadersOfSignatures(t *testing.T) {
	for _, name := range []string{"", "authorization", "Idempotency-Key", "x-idempotency-key", "Content-Length", "X Y", "X:Y", "X\r\n", strings.Repeat("x", 65)} {
		o := options("https://api.example.com", "https://api.example.com/token")
		o.SignatureHeader = name
		o.Sign = func(context.Context, service.ToSign) (string, error) { return "", nil }
		if _, err := service.New(o); err == nil || !strings.Contains(err.Error(), "header") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
