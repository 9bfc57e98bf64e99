package service

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"
)

// direct sends requests that must not be written twice, each on a connection that it has for
// itself: the caller's goroutine writes the request and reads the answer. An [http.Transport] has two
// goroutines more for each connection, and hands every request to one and every answer from the
// other, which takes 9 % more CPU of an apply and lets both wait for their turn to run (ADR 16).
//
// Its invariant: on a connection, one whole request follows one whole answer, and nothing is
// written again.
type direct struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	address string
	tls     *tls.Config // nil for plain http
	watches watches

	idleMax int // connections

	mu   sync.Mutex
	idle []*wire // the one that was used last comes last
}

// newDirect connects to the host of base as t would without a proxy.
func newDirect(base *url.URL, t *http.Transport, watches watches) *direct {
	d := &direct{dial: t.DialContext, idleMax: t.MaxIdleConnsPerHost, watches: watches}
	port := "80"
	if base.Scheme == "https" {
		port = "443"
		d.tls = t.TLSClientConfig.Clone()
		d.tls.ServerName = base.Hostname()
		d.tls.NextProtos = []string{"http/1.1"}
	}
	d.address = net.JoinHostPort(base.Hostname(), cmp.Or(base.Port(), port))
	return d
}

// RoundTrip implements [http.RoundTripper] for requests to the host of newDirect. The answer's
// body has to be read to its end, or the connection ends with it.
func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	l, err := d.take(ctx)
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: l.conn})
	}
	if ctx.Err() != nil {
		d.keep(l)
		return nil, context.Cause(ctx)
	}
	detach := context.AfterFunc(ctx, l.hangUp)
	wait := l.lingers()
	began := d.watches.start()
	answer, err := l.exchange(r)
	if err != nil {
		detach()
		l.hangUp()
		return nil, causeOr(ctx, err)
	}
	l.slowest = max(l.slowest, began.passed())
	isRefusal := 400 <= answer.StatusCode && answer.StatusCode < 500
	if !isRefusal {
		wait = 0
	}
	answer.Body = &answerBody{Reader: answer.Body, of: d, on: l, ctx: ctx, detach: detach, last: answer.Close, refusal: isRefusal, wait: wait}
	return answer, nil
}

// causeOr returns why ctx ended, if it has: err only follows from that. Otherwise it returns err.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// take returns a kept connection that is still good, or a new one.
func (d *direct) take(ctx context.Context) (*wire, error) {
	for {
		l := d.pop()
		if l == nil {
			return d.open(ctx)
		}
		if age := l.kept.passed(); 0 <= age && age < idleMax && l.isQuiet() {
			return l, nil
		}
		l.hangUp()
	}
}

func (d *direct) pop() *wire {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.idle) == 0 {
		return nil
	}
	l := d.idle[len(d.idle)-1]
	d.idle = d.idle[:len(d.idle)-1]
	return l
}

// keep has a connection on which nothing is under way for another request.
func (d *direct) keep(l *wire) {
	l.kept = d.watches.start()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.idle) == d.idleMax {
		l.hangUp()
		return
	}
	d.idle = append(d.idle, l)
}

// CloseIdleConnections ends the kept connections.
func (d *direct) CloseIdleConnections() {
	for l := d.pop(); l != nil; l = d.pop() {
		l.hangUp()
	}
}

func (d *direct) open(ctx context.Context) (*wire, error) {
	conn, err := d.dial(ctx, "tcp", d.address)
	if err != nil {
		return nil, err
	}
	if d.tls != nil {
		secured := tls.Client(conn, d.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // nothing was written through it
			return nil, err
		}
		conn = secured
	}
	l := &wire{conn: conn, out: bufio.NewWriter(conn)}
	l.in = bufio.NewReader(l)
	return l, nil
}

// wire is one connection.
type wire struct {
	conn net.Conn
	out  *bufio.Writer
	in   *bufio.Reader // of the line itself
	left int64         // bytes that may still be read
	kept stopwatch     // since nothing is under way on it

	slowest time.Duration // that an answer took; 0 before the first
}

// A service, or a proxy before it, that answers one request twice may send the second answer while the next request is under
// way. Nothing tells it from the answer to that one, but that the right one follows. Where it is a record it is compared; where it says
// that nothing was made, it is believed once nothing followed for twice as long as the slowest answer on this connection
// took, within these bounds. No request follows a refusal on its connection: a second one would be believed of that request.
const (
	lingerMin = 50 * time.Millisecond
	lingerMax = 2 * time.Second
)

var errOutOfStep = errors.New("another answer followed")

// lingers is how long a refusal has to be the last answer; 0 of the first request on a connection, which no earlier one precedes.
func (l *wire) lingers() time.Duration {
	if l.slowest == 0 {
		return 0
	}
	return min(max(2*l.slowest, lingerMin), lingerMax)
}

// isFollowed reports whether anything comes in within wait. The connection ends.
func (l *wire) isFollowed(wait time.Duration) bool {
	defer l.hangUp()
	defer time.AfterFunc(wait, l.hangUp).Stop()
	_, err := l.in.Peek(1)
	return err == nil
}

var errLongHeader = fmt.Errorf("the header of the answer is longer than %d bytes", headerBytesMax)

// Read reads what the service sends, within the bound.
func (l *wire) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, io.EOF
	}
	n, err := l.conn.Read(b)
	l.left -= int64(n)
	return n, err
}

// exchange writes a request and reads the header of its answer.
func (l *wire) exchange(r *http.Request) (*http.Response, error) {
	if err := r.Write(l.out); err != nil {
		return nil, err
	}
	if err := l.out.Flush(); err != nil {
		return nil, err
	}
	l.left = headerBytesMax
	for {
		answer, err := http.ReadResponse(l.in, r)
		switch {
		case err != nil && l.left <= 0:
			return nil, errLongHeader
		case err != nil:
			return nil, err
		}
		if isInterim := 100 <= answer.StatusCode && answer.StatusCode < 200; !isInterim || answer.StatusCode == http.StatusSwitchingProtocols {
			l.left = math.MaxInt64 // the reader of the body bounds it
			return answer, nil
		}
	}
}

// hangUp ends the connection.
func (l *wire) hangUp() { _ = l.conn.Close() } // nobody needs the rest

// isQuiet reports whether nothing has come in since the last answer, not the end of the
// connection either.
func (l *wire) isQuiet() bool {
	conn := l.conn
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return l.in.Buffered() == 0 && isQuiet(conn)
}

// answerBody is the body of an answer, after which its connection is kept or ends.
type answerBody struct {
	io.Reader
	of     *direct
	on     *wire
	ctx    context.Context
	detach func() bool

	last    bool          // the service lets no other request follow
	refusal bool          // it says that nothing was made
	wait    time.Duration // for which nothing may follow the answer; 0 for none
	whole   bool          // it was read to its end
	closed  bool
}

// Read reads the next part. Its error is the context's where that has ended.
func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		b.whole = true
	case err != nil:
		err = causeOr(b.ctx, err)
	}
	return n, err
}

// Close gives the connection back, once. It returns an error wrapped around errOutOfStep where the answer may be that of an
// earlier request.
func (b *answerBody) Close() (err error) {
	switch {
	case b.closed:
	case b.wait > 0 && b.whole && !b.last:
		if b.on.isFollowed(b.wait) || b.ctx.Err() != nil { // which ended the wait
			err = causeOr(b.ctx, errOutOfStep)
		}
		b.detach()
	case b.detach() && b.whole && !b.last && !b.refusal:
		b.of.keep(b.on)
	default:
		b.on.hangUp()
	}
	b.closed = true
	return err
}
