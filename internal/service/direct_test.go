package service_test

import (
	"bufio"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"remit/executor"
	"remit/internal/service"
)

// kept is a service on a real network that counts its connections.
type kept struct {
	*httptest.Server
	opened atomic.Int64

	mu  sync.Mutex
	now map[net.Conn]http.ConnState
}

func newKept(t *testing.T, secured bool, handler http.Handler) *kept {
	k := &kept{Server: httptest.NewUnstartedServer(handler), now: make(map[net.Conn]http.ConnState)}
	k.Config.ConnState = func(conn net.Conn, now http.ConnState) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if now == http.StateNew {
			k.opened.Add(1)
		}
		k.now[conn] = now
	}
	if secured {
		k.StartTLS()
	} else {
		k.Start()
	}
	t.Cleanup(k.Close)
	return k
}

// options are those of a client that trusts k.
func (k *kept) options(t *testing.T) service.Options {
	o := options(k.URL, tokens(t))
	if k.Certificate() != nil {
		o.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.Certificate().Raw})
	}
	return o
}

// hangUp ends every connection once nothing is under way on it, and returns when they have ended.
func (k *kept) hangUp(t *testing.T) {
	t.Helper()
	all := func(is http.ConnState) bool {
		for _, now := range k.now {
			if now != is && now != http.StateClosed {
				return false
			}
		}
		return true
	}
	k.eventually(t, func() bool { return all(http.StateIdle) })
	k.CloseClientConnections()
	k.eventually(t, func() bool { return all(http.StateClosed) })
}

// eventually waits for an event beside the test.
func (k *kept) eventually(t *testing.T, happened func() bool) {
	t.Helper()
	for t.Context().Err() == nil {
		k.mu.Lock()
		has := happened()
		k.mu.Unlock()
		if has {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not happen")
}

// A connection that the service closes while nothing is under way is not written on, or a transfer
// would be in doubt; one that it keeps is used again.
func TestKeptConnections(t *testing.T) {
	for name, secured := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t, secured, always(200, "", answer))
			c := newClient(t, k.options(t))
			submit := func(opened int64) {
				t.Helper()
				if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || k.opened.Load() != opened {
					t.Errorf("%d connections, want %d: %+v", k.opened.Load(), opened, got)
				}
			}
			submit(1)
			submit(1)
			for opened := range int64(3) {
				k.hangUp(t)
				submit(opened + 2)
			}
		})
	}
}

// Bytes after an answer are the answer to nothing: their connection is not used again.
func TestUnaskedAnswer(t *testing.T) {
	for name, length := range map[string]string{"of a known length": "Content-Length", "in chunks": ""} {
		t.Run(name, func(t *testing.T) {
			var opened atomic.Int64
			k := newKept(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				opened.Add(1)
				one := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(answer), answer) + "0\r\n\r\n"
				if length != "" {
					one = "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(answer)) + "\r\n\r\n" + answer
				}
				_, _ = io.WriteString(conn, one+strings.Replace(one, "200 OK", "422 No", 1))
				_, _ = conn.Read(make([]byte, 1)) // until the client hangs up
				_ = conn.Close()
			}))
			c := newClient(t, k.options(t))
			for i := range int64(3) {
				if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || opened.Load() != i+1 {
					t.Errorf("request %d, %d connections: %+v", i, opened.Load(), got)
				}
			}
		})
	}
}

// TestAnAnswerTooMuch has a service, or what is in between, that answers a request twice, the second time
// while the next one is under way. What says then that nothing was made is not of that next request.
func TestAnAnswerTooMuch(t *testing.T) {
	tests := map[string]struct {
		surplus string // the answer too much
		late    bool   // the right answer follows it, or there is none
		want    executor.AnswerKind
	}{
		"a refusal, and the right answer behind it": {"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno", true, executor.Unclear},
		"a 429, and the right answer behind it":     {"HTTP/1.1 429 Slow Down\r\nContent-Length: 0\r\n\r\n", true, executor.Unclear},
		"a refusal alone":                           {"HTTP/1.1 422 No\r\nContent-Length: 2\r\n\r\nno", false, executor.Rejected},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			made := 0
			w := &world{serve: func(conn net.Conn) {
				defer func() { _ = conn.Close() }()
				for in := bufio.NewReader(conn); ; {
					next, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, next.Body)
					made++
					if made == 2 {
						_, _ = io.WriteString(conn, tt.surplus)
						if !tt.late {
							_, _ = io.Copy(io.Discard, conn) // until it is hung up, or kept
							return
						}
					}
					time.Sleep(20 * time.Millisecond)
					_, _ = fmt.Fprintf(conn, "HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
				}
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
					t.Fatalf("the first answer: %+v", got)
				}
				if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != tt.want {
					t.Errorf("kind %v, want %v: %s", got.Kind, tt.want, got.Reason)
				}
			})
			if w.dials != 1 {
				t.Errorf("%d connections, want 1: no request followed another one", w.dials)
			}
		})
	}
}

// A header without an end is given up, and says so.
func TestEndlessHeader(t *testing.T) {
	k := newKept(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		for err == nil {
			_, err = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\n\r\n")
		}
		_ = conn.Close()
	}))
	got := newClient(t, k.options(t)).Submit(t.Context(), path, []byte(request))
	if got.Kind != executor.Unclear || !strings.Contains(got.Reason, "the header of the answer is longer than 65536 bytes") {
		t.Errorf("%+v", got)
	}
}

// A proxy is asked to connect, and sees nothing of the request. Each request has a connection of its own, whatever the one before it
// got: a refusal that comes twice is not the answer to the next one.
func TestThroughAProxy(t *testing.T) {
	var requests atomic.Int64
	k := newKept(t, true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			always(422, "", `{"detail": "no"}`).ServeHTTP(w, r)
			return
		}
		always(200, "", answer).ServeHTTP(w, r)
	}))
	var connects atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || "https://"+r.Host != k.URL {
			t.Errorf("the proxy was asked for %s %s", r.Method, r.Host)
		}
		connects.Add(1)
		theirs, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", r.Host)
		if err != nil {
			t.Error(err)
			return
		}
		ours, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(ours, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(theirs, ours); _ = theirs.Close() }()
		_, _ = io.Copy(ours, theirs)
		_ = ours.Close()
	}))
	t.Cleanup(proxy.Close)
	o := k.options(t)
	o.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	c := newClient(t, o)
	for i, kind := range []executor.AnswerKind{executor.Rejected, executor.Answered, executor.Answered} {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != kind || connects.Load() != int64(i+1) {
			t.Errorf("%d connections through the proxy for %d requests: %+v", connects.Load(), i+1, got)
		}
	}
	c.Close()
}
