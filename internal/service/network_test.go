package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"remit/internal/service"
)

const (
	secret  = "secret-of-the-client"
	request = `{"amount":"10","asset":"USD","from_profile_id":"p1","ref_id":"a","to_profile_id":"p2"}`
	path    = "/v2/transfer/internal"
	answer  = `{"id":"t1","customer_id":"c","profile_id":"p1","amount":"10","total":"10","fee":"0","asset":"USD","direction":"DEBIT",
		"type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","created_at":"2026-11-27T09:00:00Z","updated_at":"2026-11-27T09:00:00Z","ref_id":"a","group_id":"g"}`
)

// world is a network of two hosts in virtual time: a token endpoint and the service. A goroutine
// that is left at its end fails the test.
type world struct {
	t   *testing.T
	log bytes.Buffer

	// The behaviour of the hosts; token has a good default. dial, if set, opens the connections to
	// the service; serve, if set, has them instead of api.
	token http.Handler
	api   http.HandlerFunc
	serve func(net.Conn)
	dial  func(context.Context) (net.Conn, error)

	mu       sync.Mutex
	dials    int
	requests int // that api was given
	tokens   int // that were handed out by the default token endpoint
	lifetime time.Duration
	conns    []net.Conn
	serving  sync.WaitGroup
}

// in runs f in virtual time with a client of w.
func (w *world) in(t *testing.T, f func(t *testing.T, c *service.Client), change ...func(*service.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w.t = t
		tokens, api := newPipes(), newPipes()
		if w.token == nil {
			w.token = http.HandlerFunc(w.issue)
		}
		quiet := log.New(io.Discard, "", 0)
		servers := []*http.Server{{Handler: w.token, ErrorLog: quiet}, {Handler: http.HandlerFunc(w.count), ErrorLog: quiet}}
		go func() { _ = servers[0].Serve(tokens) }()
		go func() { _ = servers[1].Serve(api) }()
		o := service.Options{
			BaseURL: "http://127.0.0.1:2", TokenURL: "http://127.0.0.1:1/oauth2/token", LookupPath: "/v2/transfers",
			ClientID: "finance", ClientSecret: secret, Scopes: []string{"a", "b"}, UserAgent: "remit/1.2.3",
			Log: zerolog.New(zerolog.SyncWriter(&w.log)).Level(zerolog.TraceLevel), Now: time.Now,
			Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
				if strings.HasSuffix(address, ":1") {
					return tokens.open()
				}
				return w.open(ctx, api)
			},
		}
		for _, c := range change {
			c(&o)
		}
		c, err := service.New(o)
		if err != nil {
			t.Fatal(err)
		}
		f(t, c)
		c.Close()
		for _, s := range servers {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, conn := range w.conns {
			_ = conn.Close()
		}
		w.serving.Wait()
		if text := w.log.String(); strings.Contains(text, secret) || strings.Contains(text, "token-number") {
			t.Errorf("the log tells a secret:\n%s", text)
		}
	})
}

func (w *world) open(ctx context.Context, api *pipes) (net.Conn, error) {
	w.mu.Lock()
	w.dials++
	w.mu.Unlock()
	switch {
	case w.dial != nil:
		return w.dial(ctx)
	case w.serve != nil:
		ours, theirs := net.Pipe()
		w.mu.Lock()
		w.conns = append(w.conns, ours)
		w.mu.Unlock()
		w.serving.Go(func() { w.serve(ours) })
		return theirs, nil
	}
	return api.open()
}

func (w *world) count(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.requests++
	w.mu.Unlock()
	w.api(rw, r)
}

func (w *world) issue(rw http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens++
	if w.lifetime == 0 {
		w.lifetime = time.Hour
	}
	rw.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(rw, `{"access_token":"token-number-%d","token_type":"bearer","expires_in":%d}`, w.tokens, int(w.lifetime.Seconds()))
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
		return nil, errors.New("connection refused")
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr implements net.Listener.
func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// always answers every request alike.
func always(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
