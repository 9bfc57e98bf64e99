//go:build unix

package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"remit/internal/sandbox"
)

const (
	transitMin = time.Millisecond
	transitMax = 80 * time.Millisecond
	dialSlow   = 4 * time.Second // at most, so that it alone is never too late
	startMax   = 5 * time.Second // after which a request may not begin (ADR 5)
)

var (
	errReset   = errors.New("connection reset by peer")
	errNoRoute = errors.New("no route to host")
)

// beginningKey is that of the ref_id in the context of a request.
type beginningKey struct{}

// message is a request that was written, whole.
type message struct {
	method, path, query string
	token               string
	body                string
	refID               string // of a request to create

	from     *process  // who wrote it
	intended time.Time // of a request to create, when its intent was written, by the clock of that
}

// conn is one connection of the service's client. It carries one request.
type conn struct {
	process *process

	mu      sync.Mutex
	changed *sync.Cond
	isOver  bool         // the deadline of a read: nobody waits for bytes that are not there
	in      bytes.Buffer // what the client has not read yet
	end     error        // the error after it; nil where none is known yet
	out     []byte       // what the client has written
	sent    bool
}

// dial opens a connection for the service's client.
func (p *process) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	refID, _ := ctx.Value(beginningKey{}).(string)
	w := p.world
	var refused bool
	var slow time.Duration
	err := p.do("dial "+refID, func() {
		refused = w.faulty(noConnection)
		if w.faulty(sandbox.Latency) {
			slow = w.kernel.between(0, dialSlow)
		}
	})
	if err == nil && slow > 0 {
		err = p.later(slow, "dial slowly "+refID, nil)
	}
	switch {
	case err != nil:
		return nil, err
	case refused:
		return nil, errNoRoute
	}
	c := &conn{process: p}
	c.changed = sync.NewCond(&c.mu)
	p.conns.add(c)
	return c, nil
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.in.Len() == 0 && c.end == nil && !c.isOver {
		c.changed.Wait()
	}
	if c.end == nil && c.in.Len() == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	if c.in.Len() > 0 {
		return c.in.Read(b)
	}
	return 0, c.end
}

// Write implements net.Conn. A request is on its way when its last byte was written.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return 0, c.end
	}
	c.out = append(c.out, b...)
	if m, whole := parseMessage(c.out); whole && !c.sent {
		c.sent = true
		c.process.world.network.route(c, m)
	}
	return len(b), nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.fail(net.ErrClosed)
	return nil
}

// answer lets the client read b, and then end.
func (c *conn) answer(b []byte, end error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		c.in.Write(b)
		c.end = end
		c.changed.Broadcast()
	}
}

// isOpen reports whether anybody waits for an answer.
func (c *conn) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end == nil
}

// fail ends the connection at once.
func (c *conn) fail(end error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.Reset()
	c.end = end
	c.changed.Broadcast()
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline implements net.Conn; the world has no deadlines of its own.
func (c *conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn. A deadline is one that is over, with which the client looks
// whether a connection that nobody uses has ended.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isOver = !t.IsZero()
	c.changed.Broadcast()
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// parseMessage reads a request as HTTP/1.1 writes it, and reports whether it is whole.
func parseMessage(b []byte) (message, bool) {
	head, body, ok := bytes.Cut(b, []byte("\r\n\r\n"))
	if !ok {
		return message{}, false
	}
	lines := strings.Split(string(head), "\r\n")
	first := strings.Fields(lines[0])
	m := message{method: first[0]}
	m.path, m.query, _ = strings.Cut(first[1], "?")
	length := 0
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		switch strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.Atoi(value) // the client writes a number
		case "authorization":
			m.token = strings.TrimPrefix(value, "Bearer ")
		}
	}
	m.body = string(body)
	return m, len(body) >= length
}

// reply is an answer as the service gives it.
type reply struct {
	status     int
	retryAfter time.Duration
	location   string
	body       string
}

// written is an answer as it leaves the bank.
func (b *bank) written(r reply) []byte {
	var date time.Time
	if !b.world.traits.clocks.noDate {
		date = b.clock()
	}
	return r.bytes(date)
}

// bytes writes the answer, without a Date where that is zero.
func (r reply) bytes(date time.Time) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n", r.status, len(r.body))
	if !date.IsZero() {
		fmt.Fprintf(&b, "Date: %s\r\n", date.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"))
	}
	if r.retryAfter > 0 {
		fmt.Fprintf(&b, "Retry-After: %d\r\n", int(r.retryAfter.Seconds()))
	}
	if r.location != "" {
		fmt.Fprintf(&b, "Location: %s\r\n", r.location)
	}
	b.WriteString("\r\n" + r.body)
	return b.Bytes()
}

// network is between the commands and the service.
type network struct {
	world    *world
	underWay map[string]int // requests to create that may still arrive, by ref_id
}

// route takes over a request that was written.
func (n *network) route(c *conn, m message) {
	w := n.world
	transit := func(name string, then func()) {
		w.kernel.after(nil, w.kernel.between(transitMin, transitMax), name, then)
	}
	switch {
	case m.path == tokenPath:
		w.kernel.first("route token", func() {
			transit("token", func() {
				r := w.bank.grant()
				transit("token answer", func() { c.answer(w.bank.written(r), io.EOF) })
			})
		})
	case m.method == "GET":
		w.kernel.first("route lookup "+m.query, func() { n.routeLookup(c, m) })
	default:
		begun := n.submission(c.process, m)
		w.kernel.first("route "+begun, func() {
			m.refID, m.from = w.oracle.request(c.process, m), c.process
			m.intended = c.process.intended[m.refID].local
			n.routeCreate(c, m)
		})
	}
}

func (n *network) routeLookup(c *conn, m message) {
	w := n.world
	if w.faulty(sandbox.Hang) {
		return // the executor's own bound ends it
	}
	w.kernel.after(nil, w.kernel.between(transitMin, transitMax), "lookup "+m.query, func() {
		r := w.bank.find(c.process, m)
		w.kernel.after(nil, w.kernel.between(transitMin, transitMax), "found "+m.query, func() {
			c.answer(w.bank.written(r), io.EOF)
		})
	})
}

// routeCreate decides when, and how often, a request to create arrives.
func (n *network) routeCreate(c *conn, m message) {
	w := n.world
	k := w.kernel
	arrive := func(d time.Duration, then func(reply, fate)) {
		n.underWay[m.refID]++
		k.after(nil, d, "arrive "+m.refID, func() {
			n.underWay[m.refID]--
			then(w.bank.create(m))
		})
	}
	unheard := func(reply, fate) {}
	switch {
	case w.faulty(sandbox.ResetBefore):
		w.log("the request of %s is lost", m.refID)
		k.after(nil, k.between(transitMin, transitMax), "reset "+m.refID, func() { c.fail(errReset) })
	case w.faulty(sandbox.Hang):
		w.log("the request of %s hangs", m.refID)
		k.after(nil, k.between(time.Second, 90*time.Second), "reset "+m.refID, func() { c.fail(errReset) })
	case w.faulty(delayed):
		d := k.between(time.Second, w.traits.delayMax)
		w.log("the request of %s takes %v", m.refID, d)
		arrive(d, unheard)
		k.after(nil, min(d, requestTimeout), "reset "+m.refID, func() { c.fail(errReset) })
	default:
		arrive(k.between(transitMin, transitMax), func(r reply, f fate) {
			n.deliver(c, m, r, f)
			// A request that was refused for good is not carried out when it comes again: nobody
			// could know of that.
			isRefused := r.status >= 400 && r.status < 500 && r.status != 408
			if !isRefused && w.faulty(repeated) {
				w.log("the network repeats the request of %s", m.refID)
				n.underWay[m.refID]++
				k.after(nil, k.between(transitMin, w.traits.delayMax), "arrive again "+m.refID, func() {
					n.underWay[m.refID]--
					// No client keeps a network from repeating a request to a service whose clock was set meanwhile.
					if !w.bank.hasForgotten(m.refID) {
						w.bank.create(m)
					}
				})
			}
		})
	}
}

// fate is the end of an answer's way.
type fate uint8

const (
	arrives fate = iota
	lost
	hangs
	halved
)

func (n *network) deliver(c *conn, m message, r reply, f fate) {
	w := n.world
	k := w.kernel
	k.after(nil, k.between(transitMin, transitMax), "answer "+m.refID, func() {
		whole := w.bank.written(r)
		switch f {
		case arrives:
			w.log("answer to %s: %d %.120s", m.refID, r.status, r.body)
			if r.status == 409 && c.isOpen() {
				c.process.heard.told(m.refID)
			}
			c.answer(whole, io.EOF)
		case lost:
			w.log("the answer to %s is lost", m.refID)
			c.fail(errReset)
		case hangs:
			w.log("the answer to %s never comes", m.refID)
		case halved:
			w.log("half of the answer to %s comes", m.refID)
			c.answer(whole[:len(whole)-len(r.body)/2-1], errReset)
		}
	})
}

// connections are those of one process, which end with it.
type connections struct {
	mu   sync.Mutex
	list []*conn
	dead bool
}

func (s *connections) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, c)
	if s.dead {
		c.fail(errReset)
	}
}

// kill ends all of them, those to come included.
func (s *connections) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
	for _, c := range s.list {
		c.fail(errReset)
	}
}
