//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
)

// ErrNoProxy says that HAProxy is not installed.
var ErrNoProxy = errors.New("there is no HAProxy here (Debian: apt-get install haproxy)")

// Proxy is HAProxy, one address that leads to the node of a cluster that leads, as a virtual address does.
type Proxy struct {
	*Cluster
	port int
	run  *program
}

// Proxy starts HAProxy before a cluster. It asks each node's Patroni who leads, and ends the connections to one that does
// not any more. It ends with the test, which it skips where HAProxy is not installed.
func (c *Cluster) Proxy(tb testing.TB) *Proxy {
	tb.Helper()
	var nodes strings.Builder
	for _, n := range c.nodes {
		fmt.Fprintf(&nodes, "  server %s 127.0.0.1:%d check port %d\n", n.Name, n.links["proxy"].port, n.links["rest"].port)
	}
	p := &Proxy{Cluster: c}
	var err error
	if p.port, p.run, err = c.haproxy(time.Hour, "  option httpchk GET /primary\n  http-check expect status 200\n"+
		"  default-server inter 500ms fastinter 200ms fall 2 rise 1 on-marked-down shutdown-sessions\n"+nodes.String()); err == nil {
		tb.Cleanup(func() { p.run.stop(os.Kill) })
		// It takes every node for the leader until it has asked it.
		inRow := 0
		err = errors.Join(p.run.answers(p.URL()), c.wait("HAProxy leads to the server that leads, and to no other", func() bool {
			if ping(context.Background(), p.URL()) != nil {
				inRow = -1
			}
			inRow++
			return inRow == 10 || p.run.hasEnded()
		}))
	}
	if errors.Is(err, ErrNoProxy) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatalf("start HAProxy: %v\n%s", err, c.logs())
	}
	return p
}

// URL is that of the superuser, with the proxy's one address.
func (p *Proxy) URL() string {
	return fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres?sslmode=disable&target_session_attrs=read-write", Password, p.port)
}

// IdleProxy starts HAProxy before a server until the test ends, and returns its address. It ends a connection on which
// nothing was said for a while, as the balancers of managed services do. It skips the test where HAProxy is not installed.
func (s *Server) IdleProxy(tb testing.TB, idle time.Duration) (address string) {
	tb.Helper()
	c := &Cluster{dir: s.dir}
	port, run, err := c.haproxy(idle, fmt.Sprintf("  server one 127.0.0.1:%d\n", s.port))
	if errors.Is(err, ErrNoProxy) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatalf("start HAProxy: %v", err)
	}
	tb.Cleanup(func() { run.stop(os.Kill) })
	address = fmt.Sprintf("127.0.0.1:%d", port)
	if err := run.answers(strings.Replace(s.URL(), s.Address(), address, 1)); err != nil {
		tb.Fatalf("start HAProxy: %v", err)
	}
	return address
}

// haproxy runs HAProxy on a port of its own, before what the lines say.
func (c *Cluster) haproxy(idle time.Duration, lines string) (port int, run *program, err error) {
	if _, err := exec.LookPath("haproxy"); err != nil {
		return 0, nil, ErrNoProxy
	}
	if port, err = suite.FreePort(); err != nil {
		return 0, nil, err
	}
	name := fmt.Sprintf("haproxy-%d", port)
	file := filepath.Join(c.dir, name+".cfg")
	text := fmt.Sprintf("global\n  maxconn 200\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout check 5s\n  timeout client %[1]dms\n  timeout server %[1]dms\n"+
		"listen pay\n  bind 127.0.0.1:%[2]d\n%[3]s", idle.Milliseconds(), port, lines)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return 0, nil, err
	}
	run, err = c.run(name, "haproxy", "-db", "-f", file)
	return port, run, err
}
