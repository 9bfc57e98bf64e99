// Package ask shows one page to one person on their own machine, and takes one answer from it.
//
// Its one invariant: nobody but that page answers. The address has a token that is made for this page, the page is
// served to and answered from http://localhost at its port alone, and nothing listens once the answer was taken.
package ask

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"remit/internal/syserror"
)

// Bounds of what a browser may ask for.
const (
	answerBytesMax = 64 << 10
	answersMax     = 100 // wrong ones; then nothing listens any more
	readTimeout    = 10 * time.Second
	writeTimeout   = 2 * time.Minute // a page of a large plan
	closeTimeout   = time.Second     // a browser may hold a connection that it never used
)

// ErrTooMany says that a page gave too many wrong answers.
var ErrTooMany = errors.New("the page gave too many wrong answers")

// ErrTaken says that another program listens at the port.
var ErrTaken = errors.New("another program listens there")

// ErrTime says that nobody answered in time.
var ErrTime = errors.New("nobody answered in time")

// File is a part of the page.
type File struct {
	Type    string // of its content, for the browser
	Content []byte
}

// Page is seen by a person, and takes their answer. All fields are needed.
type Page struct {
	Port   int
	Wait   time.Duration // after which nobody is asked any more
	Write  func(w io.Writer) error
	Files  map[string]File // which the page loads, by their names
	Answer func(ctx context.Context, answer []byte) (Taken, error)
	// Tell is called once the page is served: with its address, and with one that leads there and is good for one visit. The second
	// is for a browser alone: the first visitor is led to the page, so no other user may read it before, as they can read the
	// arguments of programs.
	Tell func(address, once string)
}

// Taken is what the page says once its answer was taken.
type Taken struct {
	Said string
	Now  any // what changed with it of the things that the page shows, as JSON for its script; nil for nothing
}

// PortMin is the least port of a page: browsers leave the port of http out of an origin, and systems keep those below for themselves.
const PortMin = 1024

// Origin is what a browser calls a page at a port of this machine.
func Origin(port int) string { return "http://localhost:" + strconv.Itoa(port) }

// Serve shows the page until an answer was taken, ctx ends, or the wait is over. It returns the error that ended it:
// nil where an answer was taken. Answer is called for one answer at a time; where it returns an error,
// the page shows that, and the person may try again.
func (p *Page) Serve(ctx context.Context) error {
	listeners, err := listen(ctx, p.Port)
	if err != nil {
		return err
	}
	s := &server{page: p, token: newToken(), ticket: newToken(), done: make(chan error, 1), turn: make(chan struct{}, 1)}
	serving := &http.Server{
		Handler: s, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, MaxHeaderBytes: 16 << 10,
		ErrorLog: nil, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	var ended sync.WaitGroup
	for _, l := range listeners {
		ended.Go(func() { _ = serving.Serve(l) }) // it ends by Shutdown, and closes the listener, even where it had not begun
	}
	p.Tell(Origin(p.Port)+"/"+s.token+"/", Origin(p.Port)+"/"+s.ticket)
	wait := time.NewTimer(p.Wait)
	defer wait.Stop()
	select {
	case err = <-s.done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-wait.C:
		err = ErrTime
	}
	if err != nil {
		err = s.close(err)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if serving.Shutdown(closing) != nil {
		_ = serving.Close() // a browser that keeps a connection open
	}
	ended.Wait()
	return err
}

// close takes no answer any more. It returns why the page ended, or nil where an answer was being taken by then: it counts.
func (s *server) close(why error) error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.over = true
	select {
	case err := <-s.done:
		return err
	default:
		return why
	}
}

// listen listens at a port of both addresses that localhost may mean, of which one is enough.
func listen(ctx context.Context, port int) ([]net.Listener, error) {
	var listeners []net.Listener
	var first error
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			listeners = append(listeners, l)
			continue
		}
		if syserror.IsTaken(err) { // a browser may reach the other listener
			for _, l := range listeners {
				_ = l.Close()
			}
			return nil, fmt.Errorf("listen at port %d of localhost: %w", port, ErrTaken)
		}
		if first == nil {
			first = err
		}
	}
	if len(listeners) == 0 {
		return nil, fmt.Errorf("listen at port %d of localhost: %w", port, first)
	}
	return listeners, nil
}

func newToken() string {
	const size = 24
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// server answers requests of one page.
type server struct {
	page   *Page
	token  string
	ticket string // leads to the token once
	used   atomic.Bool
	turn   chan struct{} // of the one answer that is looked at
	done   chan error
	wrong  int // answers so far; the holder of the turn counts them
	over   bool
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(w.Header())
	if !s.isAddressed(w, r) {
		return
	}
	token, name, isBelow := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	isVisit := !isBelow && r.Method == http.MethodGet
	switch {
	case isVisit && (same(token, s.token) || same(token, s.ticket) && s.used.CompareAndSwap(false, true)):
		http.Redirect(w, r, "http://"+s.host()+"/"+s.token+"/", http.StatusSeeOther)
		return
	case !same(token, s.token):
		http.NotFound(w, r)
		return
	}
	file, isFile := s.page.Files[name]
	switch {
	case name == "answer":
		s.take(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Only GET.", http.StatusMethodNotAllowed)
	case name == "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = s.page.Write(w) // the browser has gone
	case isFile:
		w.Header().Set("Content-Type", file.Type)
		_, _ = w.Write(file.Content)
	default:
		http.NotFound(w, r)
	}
}

func (s *server) host() string { return net.JoinHostPort("localhost", strconv.Itoa(s.page.Port)) }

// isAddressed answers a request that is not for a page of this server by its one name, and is false then.
func (s *server) isAddressed(w http.ResponseWriter, r *http.Request) bool {
	port, host := strconv.Itoa(s.page.Port), s.host()
	switch {
	case (r.Host == net.JoinHostPort("127.0.0.1", port) || r.Host == net.JoinHostPort("::1", port)) && r.Method == http.MethodGet:
		// A browser has no passkeys at an address. The path is kept, the token in it is checked there.
		http.Redirect(w, r, "http://"+host+r.URL.EscapedPath(), http.StatusPermanentRedirect)
		return false
	case r.Host != host: // a name of somebody else's that leads here
		http.Error(w, "This page is at http://"+host+" alone.", http.StatusMisdirectedRequest)
		return false
	case r.URL.Path == "/favicon.ico": // browsers ask for one unasked
		w.WriteHeader(http.StatusNoContent)
		return false
	case r.URL.RawQuery != "":
		http.NotFound(w, r)
		return false
	}
	return true
}

// same compares without telling by its time how much agrees.
func same(given, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

// guard keeps other pages away from this one, and this one from everything else, by headers.
func guard(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Permissions-Policy", "publickey-credentials-get=(self), publickey-credentials-create=(self)")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// reply is what the page is told of its answer.
type reply struct {
	Said  string `json:"said,omitempty"`
	Now   any    `json:"now,omitempty"`
	Error string `json:"error,omitempty"`
}

// take takes an answer of the page.
func (s *server) take(w http.ResponseWriter, r *http.Request) {
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		http.Error(w, "Only POST.", http.StatusMethodNotAllowed)
		return
	case r.Header.Get("Origin") != Origin(s.page.Port) || site != "" && site != "same-origin":
		http.Error(w, "Only this page may answer.", http.StatusForbidden)
		return
	case r.Header.Get("Content-Type") != "application/json":
		http.Error(w, "Only application/json.", http.StatusUnsupportedMediaType)
		return
	}
	answer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, answerBytesMax))
	if err != nil {
		http.Error(w, "The answer is too long, or was cut.", http.StatusRequestEntityTooLarge)
		return
	}
	select {
	case s.turn <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	defer func() { <-s.turn }()
	if s.over {
		http.Error(w, "This page takes no answer any more: one was taken, or remit has ended. Look at its terminal.", http.StatusGone)
		return
	}
	taken, err := s.page.Answer(r.Context(), answer)
	if err == nil {
		tell(w, http.StatusOK, reply{Said: taken.Said, Now: taken.Now})
		s.end(nil)
		return
	}
	tell(w, http.StatusUnprocessableEntity, reply{Error: err.Error()})
	if s.wrong++; s.wrong == answersMax {
		s.end(ErrTooMany)
	}
}

// tell writes a reply, and returns once the system has all of it: the connection may end soon after that. The answer counts, also
// where the browser has gone.
func tell(w http.ResponseWriter, status int, said reply) {
	var text bytes.Buffer
	_ = json.NewEncoder(&text).Encode(said) // a buffer takes all
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
	_ = http.NewResponseController(w).Flush()
}

func (s *server) end(err error) {
	s.over = true
	s.done <- err
}
