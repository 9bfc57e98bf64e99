//go:build unix

package pgtest

import (
	"fmt"
	"io"
	"net"
	"sync"

	"remit/internal/proof/suite"
)

// link is a network between everybody and a port.
type link struct {
	port     int // where it listens
	listener net.Listener
	to       string

	mu    sync.Mutex
	open  chan struct{} // closed while bytes pass
	conns map[net.Conn]bool
}

func newLink(to int) (*link, error) {
	port, err := suite.FreePort()
	if err != nil {
		return nil, err
	}
	l := &link{port: port, to: fmt.Sprintf("127.0.0.1:%d", to), open: make(chan struct{}), conns: make(map[net.Conn]bool)}
	close(l.open)
	if l.listener, err = suite.Listen(port); err != nil {
		return nil, err
	}
	go func() {
		for {
			client, err := l.listener.Accept()
			if err != nil {
				return
			}
			go l.pass(client)
		}
	}()
	return l, nil
}

// pass carries bytes both ways until one side ends.
func (l *link) pass(client net.Conn) {
	if !l.keep(client) {
		return
	}
	defer l.forget(client)
	<-l.isOpen()
	server, err := net.Dial("tcp", l.to)
	if err != nil || !l.keep(server) {
		return
	}
	defer l.forget(server)
	back := make(chan struct{})
	go func() {
		defer close(back)
		l.carry(client, server)
		_ = client.Close()
	}()
	l.carry(server, client)
	_ = server.Close()
	<-back
}

// carry copies bytes while the link is open, and holds them while it is cut.
func (l *link) carry(to io.Writer, from io.Reader) {
	for buf := make([]byte, 64<<10); ; {
		n, err := from.Read(buf)
		<-l.isOpen()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *link) isOpen() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.open:
		l.open = make(chan struct{})
	default:
	}
}

// mend lets bytes pass again. Bytes under way are lost, as of a network that was away for long.
func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop()
	select {
	case <-l.open:
	default:
		close(l.open)
	}
}

// drop ends every connection. The caller has the lock.
func (l *link) drop() {
	for conn := range l.conns {
		_ = conn.Close()
	}
}

func (l *link) keep(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		_ = conn.Close()
		return false
	}
	l.conns[conn] = true
	return true
}

func (l *link) forget(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = conn.Close()
	delete(l.conns, conn)
}

// close ends the link and its connections.
func (l *link) close() {
	_ = l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop()
	l.conns = nil
	select {
	case <-l.open:
	default:
		close(l.open)
	}
}
