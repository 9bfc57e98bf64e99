package postgres_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// cut is what a network does to a connection on which marked bytes come by.
type cut struct {
	forwards bool          // the server still gets them
	after    time.Duration // when it does
	first    func()        // called before; nil for nothing
}

// proxy is a network between a client and a server.
type proxy struct {
	address string
	server  string

	mu   sync.Mutex
	mark []byte // guarded by mu; what the next cut waits for
	cut  cut    // guarded by mu
	cuts int    // guarded by mu; how often it happened
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &proxy{address: listener.Addr().String(), server: server}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.pass(client)
		}
	}()
	return p
}

// arm has the next connection on which mark comes by be cut, once.
func (p *proxy) arm(mark string, c cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark, p.cut = []byte(mark), c
}

func (p *proxy) happened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

func (p *proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	for buf := make([]byte, 1<<20); ; {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if c, isCut := p.sees(buf[:n]); isCut {
			if c.first != nil {
				c.first()
			}
			client.Close()
			if c.forwards {
				time.Sleep(c.after)
				_, _ = server.Write(buf[:n])
				// The server hears of the end of the connection only after it has done
				// what it was told.
				time.Sleep(time.Second)
			}
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) sees(data []byte) (cut, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mark == nil || !bytes.Contains(data, p.mark) {
		return cut{}, false
	}
	p.mark = nil
	p.cuts++
	return p.cut, true
}
