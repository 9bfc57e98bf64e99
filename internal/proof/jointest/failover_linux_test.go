package jointest_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// TestAFailoverBehindAFirewallNeedsNobody is [TestAFailoverNeedsNobody] where the kernel drops each packet between the server
// that leads and everybody else: no connection ends, and no new one is refused.
func TestAFailoverBehindAFirewallNeedsNobody(t *testing.T) {
	t.Parallel()
	n := dose(0, 2)
	if n == 0 {
		t.Skip("slow: the full dose has it")
	}
	if !pgtest.InOwnNetwork(t, forwarded()...) {
		return
	}
	cluster := pgtest.StartCluster(t, true)
	ways := []outage{{
		"behind a firewall", func(_ *pgtest.Cluster, n *pgtest.Node) error { return n.Drop() }, (*pgtest.Node).Undrop,
	}}
	playFailovers(t, cluster, cluster, ways, n)
}

// forwarded are the flags of this run that the test in a network of its own gets as well.
func forwarded() (flags []string) {
	flag.Visit(func(f *flag.Flag) {
		if name, isTest := strings.CutPrefix(f.Name, "test."); !isTest || name == "short" || name == "timeout" {
			flags = append(flags, "-"+f.Name+"="+f.Value.String())
		}
	})
	return flags
}

// TestAFullDiskOfTheLeaderNeedsNobody fills the disk of the server that leads a cluster in the middle of a run. The run sends
// nothing while the server writes nothing, and goes on by itself: on another server, or on this one once there is room. Where the
// log of the server needs room as well, the server ends.
func TestAFullDiskOfTheLeaderNeedsNobody(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const size = 400
	program := program.Build(t)
	cluster := pgtest.StartClusterOnDisk(t, true, size)
	cases := []struct {
		runners int
		endLog  bool
	}{{1, false}, {3, true}, {3, false}}
	for _, c := range cases[:suite.Dose(0, 1, len(cases))] {
		playFullDisk(t, program, cluster, c.runners, c.endLog)
	}
	endsByTheTimeout(t, program, cluster)
}

// leftOnDisk is how many bytes of a full disk are free.
const leftOnDisk = 16 << 10

// playFullDisk fills the disk in a run of so many runners.
func playFullDisk(t *testing.T, program string, cluster *pgtest.Cluster, runners int, endLog bool) {
	t.Helper()
	const rows = 400
	leader := cluster.First()
	if err := cluster.Lead(leader); err != nil {
		t.Fatal(err)
	}
	f := newFailoverRun(t, program, cluster, rows)
	all := f.startAll(runners, rows-leftOfRun)
	f.await(rows / 3)
	if err := leader.Fill(leftOnDisk); err != nil {
		t.Fatal(err)
	}
	if endLog {
		leader.EndLog()
	}
	f.release()
	time.Sleep(8 * time.Second)
	isLeading := cluster.Leading(t) == leader
	t.Logf("runners: %d, at the end of the log: %t: %d of %d were sent while the disk was full; the same server leads: %t", runners, endLog, f.count(), rows, isLeading)
	if isLeading && f.count() == rows {
		t.Error("the full disk was in nobody's way")
	}
	if err := leader.Empty(); err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		if code := r.end(); code != 0 && (i == 0 || !r.satOut(code)) {
			t.Errorf("runner %d ends with %d\n%s\n%s", i+1, code, &r.stdout, r.said())
		}
	}
	if err := cluster.Ready(); err != nil {
		t.Fatal(err)
	}
	f.check(rows)
}

// endsByTheTimeout fills the disk for longer than a run waits. The run ends and says why, and the next one goes on; or another
// server leads in time.
func endsByTheTimeout(t *testing.T, program string, cluster *pgtest.Cluster) {
	t.Helper()
	const rows = 200
	leader := cluster.First()
	if err := cluster.Lead(leader); err != nil {
		t.Fatal(err)
	}
	f := newFailoverRun(t, program, cluster, rows)
	f.holdFrom(rows - leftOfRun)
	r := f.start("apply", "--auto-approve", "--failover-timeout=5s")
	f.await(rows / 3)
	if err := leader.Fill(leftOnDisk); err != nil {
		t.Fatal(err)
	}
	f.release()
	began := time.Now()
	code, said := r.end(), r.said()
	isInTime := code == 0 && cluster.Leading(t) != leader
	if !isInTime && (code != 4 || !strings.Contains(said, "--failover-timeout=5s") || !strings.Contains(said, "remit apply")) {
		t.Errorf("it ends with %d\n%s\n%s", code, &r.stdout, said)
	}
	// The server says so, unless its log needed room: then it can't be asked.
	if !isInTime && !strings.Contains(said, "No space left on device") && !strings.Contains(said, "recovery mode") && !strings.Contains(said, "No server came back") {
		t.Errorf("it does not say what the server said\n%s", said)
	}
	t.Logf("it ended %v after the disk was full, with %d", time.Since(began).Round(time.Millisecond), code)
	const most = 10 // of 5 seconds, in which the pauses grow
	if n := strings.Count(said, "The state is back"); n > most {
		t.Errorf("it went on %d times\n%s", n, said)
	}
	if err := leader.Empty(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Ready(); err != nil {
		t.Fatal(err)
	}
	if code == 0 {
		f.check(rows)
		return
	}
	f.adopts = true
	f.must(0, "apply", "--auto-approve")
	f.check(rows)
}
