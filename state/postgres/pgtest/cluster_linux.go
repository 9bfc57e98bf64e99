package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// StartClusterOnDisk is [StartCluster] with a disk of so many MB for the node that leads first. It skips the test where this
// machine lets this user mount nothing.
func StartClusterOnDisk(tb testing.TB, synchronous bool, size int) *Cluster {
	tb.Helper()
	c := &Cluster{sync: synchronous}
	c.prepare = func(n *Node) error {
		if len(c.nodes) > 0 {
			return nil
		}
		err := mount(n.server.dir, size)
		if errors.Is(err, ErrNoMount) {
			tb.Skip(err)
		}
		if err != nil {
			return err
		}
		n.Room = Room{n.server.dir}
		tb.Cleanup(func() {
			c.Close()
			if err := unmount(n.dir); err != nil {
				tb.Error(err)
			}
		})
		return nil
	}
	return started(tb, c)
}

// networkVariable says to a test that it runs in a network of its own.
const networkVariable = "REMIT_TEST_OWN_NETWORK"

// InOwnNetwork runs the test again in a network namespace of its own, where rules of the kernel's firewall concern nobody
// else, and end with it. It reports true there; outside it reports false, once that ended, and the test returns. It skips the
// test where this machine does not let this user make one. The test there gets flags.
func InOwnNetwork(t *testing.T, flags ...string) bool {
	t.Helper()
	if os.Getenv(networkVariable) == t.Name() {
		if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			t.Fatalf("ip link set lo up: %v %s", err, out)
		}
		return true
	}
	for _, name := range []string{"ip", "iptables"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed here (Debian: apt-get install iproute2 iptables)", name)
		}
	}
	deadline, hasDeadline := t.Deadline()
	ctx := t.Context()
	if hasDeadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Args = append(cmd.Args, flags...)
	cmd.Env = append(os.Environ(), networkVariable+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM):
		t.Skip("this machine does not let this user make a network of its own")
	case err != nil:
		t.Fatalf("in a network of its own: %v\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatalf("in a network of its own it did not run\n%s", out)
	}
	t.Logf("in a network of its own:\n%s", out)
	return false
}

// Drop has the kernel drop each packet between a node and everybody else, in both directions: connections hang, new ones are
// not answered, and nobody is told. The test is in a network of its own.
func (n *Node) Drop() error { return n.firewall("-I") }

// Undrop ends what Drop began.
func (n *Node) Undrop() error { return n.firewall("-D") }

func (n *Node) firewall(change string) error {
	if os.Getenv(networkVariable) == "" {
		return errors.New("this is the network of the machine")
	}
	for _, l := range n.links {
		for _, side := range []string{"--dport", "--sport"} {
			out, err := exec.Command("iptables", change, "INPUT", "-p", "tcp", side, strconv.Itoa(l.port), "-j", "DROP").CombinedOutput()
			if err != nil {
				return fmt.Errorf("iptables: %w %s", err, out)
			}
		}
	}
	return nil
}

// EndLog uses up the files of the write-ahead log of a server whose disk is full, so that its next commit needs room. The
// server then ends all connections, and starts anew or not at all.
func (n *Node) EndLog() {
	const segments = 20 // more than are kept
	for range segments {
		// The copies have room: a commit would wait for them.
		if _, err := n.ask(`SELECT pg_logical_emit_message(false, 'fill', repeat('x', 1000))::text`); err != nil {
			return
		}
		if _, err := n.ask(`SELECT pg_switch_wal()::text`); err != nil {
			return
		}
	}
}
