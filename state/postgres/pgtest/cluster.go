//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"remit/internal/proof/suite"

	"github.com/jackc/pgx/v5"
)

// nodesOfCluster is how many servers a cluster has: one leads, and each commit waits for one of the others.
const nodesOfCluster = 3

// Cluster is Patroni with etcd and three servers, of which one leads and the others follow.
type Cluster struct {
	bin   string
	dir   string
	etcd  *program
	nodes []*Node
	sync  bool

	client int // the port of etcd

	prepare func(*Node) error // called with the directory of each node, before it has files; nil for nothing
}

// Node is one server of a cluster, with the Patroni that looks after it. Everybody reaches the node, and its Patroni
// reaches etcd, through links that a test can cut. A proxy has a link of its own to each server, beside that of the copies.
type Node struct {
	Name    string
	cluster *Cluster
	server  Server // its files and its port; Patroni runs it
	patroni *program
	rest    int // the port of Patroni

	links map[string]*link
	Room  // of its disk, where it has one of its own
}

// ErrNoCluster says that Patroni or etcd is not installed.
var ErrNoCluster = errors.New("there are no Patroni and etcd here (Debian: apt-get install patroni etcd-server)")

// StartCluster starts a cluster, which ends with the test. A commit waits for a copy of it where it is
// synchronous, as Patroni's synchronous_mode has it. It skips the test where Patroni, etcd or PostgreSQL is not installed.
func StartCluster(tb testing.TB, synchronous bool) *Cluster {
	tb.Helper()
	return started(tb, &Cluster{sync: synchronous})
}

func started(tb testing.TB, c *Cluster) *Cluster {
	tb.Helper()
	err := c.make()
	if errors.Is(err, ErrMissing) || errors.Is(err, ErrNoCluster) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// make makes the files of a cluster and starts it. The error is [ErrMissing] or [ErrNoCluster] where a program is not
// installed.
func (c *Cluster) make() (err error) {
	if c.bin, err = programs(); err != nil {
		return err
	}
	for _, name := range []string{"patroni", "patronictl", "etcd"} {
		if _, err := exec.LookPath(name); err != nil {
			return ErrNoCluster
		}
	}
	if c.dir, err = os.MkdirTemp(memory(), "remit-cluster-"); err != nil {
		return err
	}
	if err := c.start(); err != nil {
		log := c.logs()
		c.Close()
		return fmt.Errorf("start a cluster: %w\n%s", err, log)
	}
	return nil
}

// start starts etcd, then the nodes, and waits until all of them follow one.
func (c *Cluster) start() error {
	if os.Geteuid() == 0 {
		if err := os.Chown(c.dir, nobody, nobody); err != nil {
			return err
		}
	}
	peer, err := suite.FreePort()
	if err != nil {
		return err
	}
	if c.client, err = suite.FreePort(); err != nil {
		return err
	}
	client, peers := fmt.Sprintf("http://127.0.0.1:%d", c.client), fmt.Sprintf("http://127.0.0.1:%d", peer)
	if c.etcd, err = c.run("etcd", "etcd", "--name=one", "--data-dir="+filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync", "--enable-v2",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=one="+peers); err != nil {
		return err
	}
	// A Patroni that asks before etcd has agreed on its version ends at once.
	if err := c.wait("etcd has its version", func() bool {
		return strings.Contains(get(c.client, "/version"), `"etcdcluster":"3.`)
	}); err != nil {
		return err
	}
	for i := range nodesOfCluster {
		n, err := c.newNode(fmt.Sprintf("node%d", i+1))
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, n)
	}
	// The others copy the first one, so that it has to lead.
	for i, n := range c.nodes {
		if err := n.Start(); err != nil {
			return err
		}
		if i == 0 {
			if err := c.wait("the first server leads", func() bool { return c.Leader() == n }); err != nil {
				return err
			}
		}
	}
	return c.Ready()
}

// newNode makes the ports, the links and the configuration of a node.
func (c *Cluster) newNode(name string) (*Node, error) {
	n := &Node{Name: name, cluster: c, links: make(map[string]*link), server: Server{bin: c.bin, dir: filepath.Join(c.dir, name)}}
	if err := os.Mkdir(n.server.dir, 0o755); err != nil {
		return nil, err
	}
	if c.prepare != nil {
		if err := c.prepare(n); err != nil {
			return nil, err
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(n.server.dir, nobody, nobody); err != nil {
			return nil, err
		}
	}
	var err error
	if n.server.port, err = suite.FreePort(); err != nil {
		return nil, err
	}
	if n.rest, err = suite.FreePort(); err != nil {
		return nil, err
	}
	for what, port := range map[string]int{"server": n.server.port, "proxy": n.server.port, "rest": n.rest, "etcd": c.client} {
		if n.links[what], err = newLink(port); err != nil {
			return nil, err
		}
	}
	return n, os.WriteFile(n.configuration(), []byte(n.settings()), 0o644)
}

func (n *Node) configuration() string { return filepath.Join(n.server.dir, "patroni.yml") }

// settings are the file that Patroni reads. It speaks version 2 to etcd: with version 3 a leader that stood still writes itself down as
// the leader again when it wakes, whoever leads by then, and the cluster loses what the other one had committed (Patroni
// 3.0.2, which Debian 12 has; patroni/patroni pull request 2689). Its times are short, so that a failover takes seconds, and
// long enough for a busy machine: ttl is at least loop_wait and twice retry_timeout together.
func (n *Node) settings() string {
	return fmt.Sprintf(`scope: pay
name: %[1]s
restapi: {listen: '127.0.0.1:%[2]d', connect_address: '127.0.0.1:%[3]d'}
etcd: {hosts: ['127.0.0.1:%[4]d'], use_proxies: true}
bootstrap:
  dcs:
    ttl: 10
    loop_wait: 1
    retry_timeout: 3
    primary_start_timeout: 0
    maximum_lag_on_failover: 1073741824
    synchronous_mode: %[5]v
    synchronous_mode_strict: %[5]v
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 100, shared_buffers: 32MB, max_wal_size: 128MB, wal_keep_size: 64MB}
  initdb: [{encoding: UTF8}, {locale: C}, no-sync]
postgresql:
  listen: 127.0.0.1:%[6]d
  connect_address: 127.0.0.1:%[7]d
  data_dir: %[8]s
  bin_dir: %[9]s
  pgpass: %[10]s
  pg_hba: [host all all 127.0.0.1/32 scram-sha-256, host replication all 127.0.0.1/32 scram-sha-256]
  authentication:
    superuser: {username: postgres, password: %[11]s}
    replication: {username: replicator, password: %[11]s}
  parameters: {unix_socket_directories: '', password_encryption: scram-sha-256}
  basebackup: [{checkpoint: fast}, no-sync]
`, n.Name, n.rest, n.links["rest"].port, n.links["etcd"].port, n.cluster.sync, n.server.port, n.links["server"].port,
		n.server.data(), n.cluster.bin, filepath.Join(n.server.dir, "pgpass"), Password)
}

// run starts a program whose words go to a file of the cluster's directory.
func (c *Cluster) run(log, name string, args ...string) (*program, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(c.dir, log+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the program has its own
	cmd := c.command(path, args...)
	cmd.Stdout, cmd.Stderr = file, file
	return start(cmd)
}

func (c *Cluster) command(path string, args ...string) *exec.Cmd {
	server := Server{dir: c.dir}
	cmd := server.command("", args...)
	cmd.Path, cmd.Args[0], cmd.Err = path, path, nil
	cmd.Env = []string{"HOME=" + c.dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	asNobody := cmd.SysProcAttr.Credential
	cmd.SysProcAttr = endingWithUs(syscall.SIGTERM) // at which Patroni stops its server
	cmd.SysProcAttr.Credential = asNobody
	return cmd
}

// Start starts a node that is not running.
func (n *Node) Start() error {
	var err error
	n.patroni, err = n.cluster.run(n.Name, "patroni", n.configuration())
	return err
}

// Leader is the node that leads by what its Patroni says; nil where none does.
func (c *Cluster) Leader() *Node {
	for _, n := range c.nodes {
		if n.says("/leader") {
			return n
		}
	}
	return nil
}

// Leading is the node that leads, once one does.
func (c *Cluster) Leading(tb testing.TB) (leader *Node) {
	tb.Helper()
	if err := c.wait("a server leads", func() bool {
		leader = c.Leader()
		return leader != nil
	}); err != nil {
		tb.Fatal(err)
	}
	return leader
}

// says reports whether a node's Patroni says yes to a question.
func (n *Node) says(path string) bool {
	first, _, _ := strings.Cut(get(n.rest, path), "\n")
	return strings.Contains(first, " 200 ")
}

// get is what a port of this machine answers to a request by HTTP, as far as it comes within a moment.
func get(port int, path string) string {
	const patience = 3 * time.Second
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), patience)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	hangsUp := time.AfterFunc(patience, func() { _ = conn.Close() })
	defer hangsUp.Stop()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\n\r\n", path); err != nil {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(conn, 64<<10))
	return string(text)
}

// Ready waits until one node leads and all others follow it.
func (c *Cluster) Ready() error {
	return c.wait("one server leads and the others follow", func() bool {
		leader := c.Leader()
		if leader == nil {
			return false
		}
		synchronous := !c.sync // one that Patroni lets lead next: it has all that was committed
		for _, n := range c.nodes {
			if n != leader && !n.says("/replica?lag=1MB") {
				return false
			}
			synchronous = synchronous || n.says("/synchronous")
		}
		follow, err := leader.ask(`SELECT count(*)::text FROM pg_stat_replication WHERE state = 'streaming'`)
		return err == nil && synchronous && follow == strconv.Itoa(len(c.nodes)-1)
	})
}

// ask returns the first column of the first row that a node answers with, past every link.
func (n *Node) ask(statement string, args ...any) (text string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, n.server.URL())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	err = conn.QueryRow(ctx, statement, args...).Scan(&text)
	return text, err
}

// A wait for the cluster has a bound that the busiest machine keeps.
const (
	pauseCluster    = 100 * time.Millisecond
	patienceCluster = 8 * time.Minute
)

func (c *Cluster) wait(what string, is func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patienceCluster)
	defer cancel()
	for ctx.Err() == nil {
		if is() {
			return nil
		}
		time.Sleep(pauseCluster)
	}
	return fmt.Errorf("it never came that %s\n%s", what, c.logs())
}

// logs is the end of what each program said.
func (c *Cluster) logs() string {
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.log")) // the pattern is well formed
	var b strings.Builder
	for _, file := range files {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(&b, "--- %s\n%s", filepath.Base(file), text[max(0, len(text)-4000):])
	}
	return b.String()
}

// URL is that of the superuser, with the links to all nodes, of which a session takes the one that leads.
func (c *Cluster) URL() string {
	var hosts []string
	for _, n := range c.nodes {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", n.links["server"].port))
	}
	return fmt.Sprintf("postgres://postgres:%s@%s/postgres?sslmode=disable&target_session_attrs=read-write", Password, strings.Join(hosts, ","))
}

// Schema is the name of a schema that is nobody else's.
func (c *Cluster) Schema() string { return new(Server).Schema() }

// Close stops every program and removes the files.
func (c *Cluster) Close() {
	for _, n := range c.nodes {
		n.Kill()
		for _, l := range n.links {
			l.close()
		}
	}
	if c.etcd != nil {
		c.etcd.stop(os.Kill)
	}
	_ = os.RemoveAll(c.dir)
}

// processes are those of the node: Patroni, the server's first one, and those that it started.
func (n *Node) processes() []int {
	var list []int
	if n.patroni != nil && !n.patroni.hasEnded() {
		list = append(list, n.patroni.cmd.Process.Pid)
	}
	text, _ := os.ReadFile(filepath.Join(n.server.data(), "postmaster.pid"))
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil || !n.owns(pid) {
		return list
	}
	return append(list, childrenOf(pid)...)
}

// owns reports whether a process is this node's server: its number may be another one's by now.
func (n *Node) owns(pid int) bool {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && slices.Contains(strings.Split(string(command), "\x00"), n.server.data())
}
