//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Kill kills a node at once, its Patroni and its server, as the end of its machine does. [Node.Start] brings it back.
func (n *Node) Kill() {
	list := n.processes()
	_ = n.server.signal(syscall.SIGSTOP, list) // so that none does a thing after another one was killed
	_ = n.server.signal(syscall.SIGKILL, list)
	if n.patroni != nil {
		n.patroni.stop(syscall.SIGKILL)
		n.patroni = nil
	}
	for _, pid := range list {
		for state, _ := processState(pid); state != "" && state != "Z"; state, _ = processState(pid) {
			time.Sleep(pauseReady)
		}
	}
}

// Freeze stops every process of a node, as a machine that hangs does: connections stay, and nothing is answered.
func (n *Node) Freeze() error {
	list := n.processes()
	return errors.Join(n.server.signal(syscall.SIGSTOP, list), n.server.signal(syscall.SIGSTOP, n.processes()))
}

// Thaw lets a frozen node go on.
func (n *Node) Thaw() error { return n.server.signal(syscall.SIGCONT, n.processes()) }

// CutOff lets nothing pass between a node and everybody else, without telling anybody.
func (n *Node) CutOff() {
	for _, l := range n.links {
		l.cut()
	}
}

// HoldCopies lets nothing pass any more between a node that leads and the others that copy it. Runners still reach it
// through a [Proxy].
func (n *Node) HoldCopies() { n.links["server"].cut() }

// Connect ends what CutOff or HoldCopies began.
func (n *Node) Connect() {
	for _, l := range n.links {
		l.mend()
	}
}

// Switch has the cluster make another node its leader, as an administrator does before maintenance, and returns once
// another one leads. Patroni declines where no copy answers it in time, with exit code 0: then it is asked again.
func (c *Cluster) Switch() error {
	path, err := exec.LookPath("patronictl")
	if err != nil {
		return err
	}
	var from *Node
	var said []byte
	var failed error
	if err := c.wait("Patroni switches over", func() bool {
		leader := c.Leader()
		switch {
		case leader == nil:
			return false
		case from != nil && leader != from:
			return true // Patroni did more than it said
		}
		from = leader
		said, failed = c.command(path, "-c", from.configuration(), "switchover", "pay", "--master", from.Name, "--force").CombinedOutput()
		return failed == nil && strings.Contains(string(said), "Successfully switched over")
	}); err != nil {
		return fmt.Errorf("%w\npatronictl: %s", errors.Join(err, failed), said)
	}
	return c.Moved(from)
}

// Moved waits until another node than from leads.
func (c *Cluster) Moved(from *Node) error {
	return c.wait("another server leads", func() bool {
		leader := c.Leader()
		return leader != nil && leader != from
	})
}

// First is the node that led first.
func (c *Cluster) First() *Node { return c.nodes[0] }

// Lead has the cluster make a node its leader, if it does not lead. The cluster chooses among the nodes that have every
// commit, so it is asked until it chooses this one.
func (c *Cluster) Lead(n *Node) error {
	const choices = 5 * nodesOfCluster
	for range choices {
		if c.Leader() == n {
			return c.Ready()
		}
		if err := errors.Join(c.Switch(), c.Ready()); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s does not lead", n.Name)
}
