package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"remit/executor"
)

var errLate = &noConnectionError{executor.StartMax}

// noConnectionError says that there was no connection in time.
type noConnectionError struct{ within time.Duration }

func (e *noConnectionError) Error() string { return fmt.Sprintf("no connection within %s", e.within) }

// exchange is one request and its answer.
type exchange struct {
	begun  bool        // a byte of the request may have left
	status int         // 0 where no answer came
	header http.Header // of the answer
	body   []byte      // of the answer, without secrets
	err    error       // why there is no whole answer; nil where there is
}

// call is one request to be written.
type call struct {
	method    string
	target    *url.URL
	body      []byte // nil for none
	answerMax int64  // bytes of the answer's body

	signature http.Header // one header of this request alone; nil for none

	refIDs []string // that it is about, for logs and traces; nil where nobody watches

	// startMax is how long it may take to have a connection, and asked tells when more than
	// [Client.startMax] have passed, after which nothing begins; 0 is no bound.
	startMax time.Duration
	asked    stopwatch
}

// do writes one request with the given token and reads its answer, within the client's
// timeout. Where no connection is had within what.startMax, nothing is written. An answer that is read
// after the timeout is not believed, because the process may have been stopped in between, and much
// may have happened since.
func (c *Client) do(ctx context.Context, what call, with *token) exchange {
	whole := ctx
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	defer time.AfterFunc(c.wording.timeout, func() { giveUp(context.DeadlineExceeded) }).Stop()
	started := func() bool { return true }
	var connected atomic.Bool
	if what.startMax > 0 {
		started = time.AfterFunc(what.startMax, func() { giveUp(errLate) }).Stop
		defer started()
	}

	body := newRequestBody(what.body)
	if what.startMax > 0 {
		body.late = func() bool {
			isLate := what.asked.passed() > c.startMax
			if isLate {
				giveUp(errLate)
			}
			return isLate
		}
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:          func(httptrace.GotConnInfo) { connected.Store(true); started() },
		WroteHeaderField: func(string, []string) { body.begin() },
	})
	began, watch := c.now(), c.watches.start()
	with.uses.begin()
	answer, err := c.roundTrip(newRequest(ctx, what, with, body))
	var ex exchange
	if err != nil {
		ex = exchange{begun: body.seal(), err: err}
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errLate):
			ex.err = cause
		case errors.Is(cause, context.DeadlineExceeded) && whole.Err() == nil && !connected.Load():
			ex.err = &noConnectionError{c.wording.timeout}
		}
	} else {
		ex = readAnswer(answer, what.answerMax)
		var signed []string
		for _, signature := range what.signature {
			signed = append(signed, signature...)
		}
		ex.body = c.wording.secrets.Scrub(withoutMark(ex.body), signed...)
		if ex.err != nil {
			ex.body = withoutCut(ex.body)
		}
	}
	if ex.err == nil && watch.passed() > c.wording.timeout {
		ex = exchange{begun: true, err: context.DeadlineExceeded}
	}
	if errors.Is(ex.err, context.DeadlineExceeded) && whole.Err() != nil {
		ex.err = context.Canceled // by the caller, whatever its cause was
	}
	with.uses.end(what.target.Path, ex.err == nil && ex.status != http.StatusUnauthorized)
	seen := Seen{Method: what.method, Path: what.target.Path, RefIDs: what.refIDs, Began: began, Ended: c.now(), Status: ex.status, Begun: ex.begun}
	if ex.err != nil {
		seen.Reason = c.wording.describe(ex.err)
	}
	c.witness.tell(seen)
	return ex
}

// roundTrip sends a request to create directly, unless a proxy is in between or the name of the
// host has to be translated first. Lookups go the usual way.
func (c *Client) roundTrip(r *http.Request) (*http.Response, error) {
	isForeign := func(c rune) bool { return c >= utf8.RuneSelf }
	if r.Method != http.MethodPost || strings.ContainsFunc(r.URL.Host, isForeign) {
		return c.transport.RoundTrip(r)
	}
	if proxy := c.transport.Proxy; proxy != nil {
		switch through, err := proxy(r); {
		case err != nil:
			return nil, err
		case through != nil:
			return c.transport.RoundTrip(r)
		}
	}
	return c.direct.RoundTrip(r)
}

// header returns the header of every request with a token. It is made once, and never changed.
func (c *Client) header(token string) http.Header {
	return http.Header{
		"Accept":          {"application/json, application/problem+json"},
		"Accept-Encoding": {identity},
		"Authorization":   {"Bearer " + token},
		"Content-Type":    {"application/json"},
		"User-Agent":      {c.userAgent},
	}
}

// newRequest makes one without GetBody and without an idempotency header, either of which would
// let the transport write it a second time by itself.
func newRequest(ctx context.Context, what call, with *token, body *requestBody) *http.Request {
	r := &http.Request{
		Method: what.method, URL: what.target, Host: what.target.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: with.header,
	}
	if what.signature != nil {
		r.Header = maps.Clone(with.header) // which requests share
		maps.Copy(r.Header, what.signature)
	}
	if what.method == http.MethodGet {
		r.Header = maps.Clone(r.Header)
		r.Header.Set("Cache-Control", "no-cache") // asked of the service, and of no cache in between
	}
	if what.body != nil {
		r.Body, r.ContentLength = io.NopCloser(&body.bytes), int64(len(what.body))
	}
	return r.WithContext(ctx)
}

// withoutCut returns a body that was not read whole without its last word: it may begin a secret.
func withoutCut(body []byte) []byte {
	return body[:bytes.LastIndexAny(body, "\" \t\r\n")+1]
}

// readAnswer reads an answer whose header is there. An error wrapped around errOutOfStep says that the whole answer may be
// that of an earlier request.
func readAnswer(answer *http.Response, bytesMax int64) exchange {
	unpack(answer)
	ex := readBody(answer, bytesMax)
	if err := answer.Body.Close(); err != nil && ex.err == nil {
		ex.err = err
	}
	return ex
}

func readBody(answer *http.Response, bytesMax int64) exchange {
	ex := exchange{begun: true, status: answer.StatusCode, header: answer.Header}
	if answer.StatusCode == 0 { // "000" is three digits, so it is let through
		ex.err = errors.New("the answer has no status")
		return ex
	}
	if answer.StatusCode < 200 { // the body of a switched protocol is the connection itself
		return ex
	}
	if n := answer.ContentLength; 0 < n && n <= bytesMax { // net/http gives no more and takes no less
		ex.body = make([]byte, n)
		var read int
		read, ex.err = io.ReadFull(answer.Body, ex.body)
		ex.body = ex.body[:read]
		return ex
	}
	ex.body, ex.err = io.ReadAll(io.LimitReader(answer.Body, bytesMax+1))
	if int64(len(ex.body)) > bytesMax {
		ex.body, ex.err = ex.body[:bytesMax], fmt.Errorf("the answer is longer than %d bytes", bytesMax)
	}
	return ex
}

// requestBody is the body of a request, until it is sealed: net/http reads it after the header, and
// nobody can carry out a request that announces bytes and never has them. Its
// reader is one that net/http knows to be in memory, because it then writes the header and
// the body in one piece.
type requestBody struct {
	late func() bool // it is too late to begin; nil for never

	mu     sync.Mutex
	bytes  bytes.Reader
	begun  bool
	sealed bool
}

func newRequestBody(b []byte) *requestBody {
	body := new(requestBody)
	body.bytes.Reset(b)
	return body
}

// begin is called before the first byte of the request is written and before the body is read. Where the body was sealed
// there is nothing left of it, and it is sealed where it is too late: a timer that should have sealed it does not run
// while the machine sleeps.
func (b *requestBody) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begun && b.late != nil && b.late() {
		b.sealed = true
	}
	if b.sealed {
		b.bytes.Reset(nil)
		return
	}
	b.begun = true
}

// seal reports whether the request may have begun, and lets none begin from now on.
func (b *requestBody) seal() (begun bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed = true
	return b.begun
}
