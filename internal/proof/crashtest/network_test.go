package crashtest_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// network is the wire between remit and a server. It can be cut, so that connections end and none
// is made, and it can fall silent, so that they stay and nothing comes through.
type network struct {
	address string // where it listens
	server  string

	mu     sync.Mutex
	open   *sync.Cond // its condition is !silent
	silent bool
	isCut  bool
	conns  map[net.Conn]bool
}

func newNetwork(t *testing.T, server string) *network {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{address: listener.Addr().String(), server: server, conns: make(map[net.Conn]bool)}
	n.open = sync.NewCond(&n.mu)
	t.Cleanup(func() {
		listener.Close()
		n.cut()
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go n.join(client)
		}
	}()
	return n
}

func (n *network) join(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", n.server)
	if err != nil {
		return
	}
	defer server.Close()
	if !n.add(client, server) {
		return
	}
	done := make(chan struct{}, 2)
	for to, from := range map[net.Conn]net.Conn{client: server, server: client} {
		go func() {
			n.carry(to, from)
			done <- struct{}{}
		}()
	}
	<-done
}

// add has connections end with the next cut. It reports false where there is one now.
func (n *network) add(conns ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range conns {
		n.conns[conn] = true
	}
	return !n.isCut
}

// carry copies until an end of the connection, and holds bytes back in a silence.
func (n *network) carry(to io.Writer, from io.Reader) {
	for buf := make([]byte, 1<<16); ; {
		count, err := from.Read(buf)
		n.mu.Lock()
		for n.silent {
			n.open.Wait()
		}
		n.mu.Unlock()
		if _, failed := to.Write(buf[:count]); failed != nil || err != nil {
			return
		}
	}
}

// cut ends all connections; none is made until mend.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.isCut, n.silent = true, false
	n.open.Broadcast()
	for conn := range n.conns {
		conn.Close()
	}
	clear(n.conns)
}

// silence has nothing come through until mend; bytes under way arrive then.
func (n *network) silence() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent = true
}

func (n *network) mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.isCut, n.silent = false, false
	n.open.Broadcast()
}
