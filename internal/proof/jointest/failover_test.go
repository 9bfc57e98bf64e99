package jointest_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

var (
	failovers    = flag.Int("failovers", 0, "how many failovers TestAFailoverNeedsNobody plays; 0 is the dose of the run")
	failoverRows = flag.Int("failover.rows", 400, "transfers of a run in which the cluster fails over")
)

// outage is a way in which the server that leads a cluster goes away.
type outage struct {
	name string
	fail func(*pgtest.Cluster, *pgtest.Node) error
	mend func(*pgtest.Node) error
}

func outages() []outage {
	none := func(*pgtest.Node) error { return nil }
	return []outage{
		{"killed", func(_ *pgtest.Cluster, n *pgtest.Node) error { n.Kill(); return nil }, (*pgtest.Node).Start},
		{
			"cut off",
			func(_ *pgtest.Cluster, n *pgtest.Node) error { n.CutOff(); return nil },
			func(n *pgtest.Node) error { n.Connect(); return nil },
		},
		{"switched over", func(c *pgtest.Cluster, _ *pgtest.Node) error { return c.Switch() }, none},
		{"frozen", func(_ *pgtest.Cluster, n *pgtest.Node) error { return n.Freeze() }, (*pgtest.Node).Thaw},
	}
}

// TestAFailoverNeedsNobody has the server that leads a cluster go away in the middle of runs of one runner and of three:
// each run goes on by itself on the server that leads next, every transfer is made once, and none is missing in the state.
//
//	go test ./internal/proof/jointest -run FailoverNeedsNobody -v -timeout 2h -failovers 20 -failover.rows 2000
func TestAFailoverNeedsNobody(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	cluster := pgtest.StartCluster(t, true)
	playFailovers(t, cluster, cluster, outages(), dose(1, 2))
}

// TestAFailoverBehindAProxyNeedsNobody is [TestAFailoverNeedsNobody] with HAProxy between the runners and the cluster.
func TestAFailoverBehindAProxyNeedsNobody(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	cluster := pgtest.StartCluster(t, true)
	playFailovers(t, cluster, cluster.Proxy(t), outages(), dose(1, 4))
}

// dose is how many failovers are played: as many as the flag says, or those of a plain run or of a full one.
func dose(plain, full int) int {
	if *failovers > 0 {
		return *failovers
	}
	return suite.Dose(0, plain, full)
}

// playFailovers has a cluster fail over n times, in ways by turns, in the middle of runs that reach it at an address.
func playFailovers(t *testing.T, cluster *pgtest.Cluster, at database, ways []outage, n int) {
	t.Helper()
	program := program.Build(t)
	var longest time.Duration
	for i := range n {
		way := ways[i%len(ways)]
		turn := i
		if len(ways)%2 == 0 {
			turn += i / len(ways) // else each way would always have the same
		}
		runners := 3 - 2*(turn%2) // three and one by turns, each in every way
		f := newFailoverRun(t, program, at, *failoverRows)
		pause := f.play(cluster, way, runners)
		t.Logf("failover %d, the leader %s, runners: %d: the longest pause between two requests was %v", i+1, way.name, runners, pause.Round(time.Millisecond))
		longest = max(longest, pause)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d failovers of runs of %d transfers: the longest pause was %v", n, *failoverRows, longest.Round(time.Millisecond))
}

// newFailoverRun makes a run of so many transfers, with faults of the service.
func newFailoverRun(t *testing.T, program string, at database, rows int) *failoverRun {
	t.Helper()
	return &failoverRun{newWorld(t, program, options{
		rows: rows, inFlight: 8, latency: 20 * time.Millisecond, at: at, unchecked: true,
		service: "lookup_path = \"/v2/transfers\"\n  rate_limit { internal = \"100/1s\" }",
		faults:  []string{"too-early=2%"},
	})}
}

// failoverRun is one run, during which the cluster fails over.
type failoverRun struct{ *world }

// play plays it, and returns the longest time between two requests.
func (f *failoverRun) play(c *pgtest.Cluster, way outage, runners int) time.Duration {
	f.t.Helper()
	all := f.startAll(runners, *failoverRows-leftOfRun)
	f.await(*failoverRows / 3)
	leader := c.Leading(f.t)
	if err := way.fail(c, leader); err != nil {
		f.t.Fatal(err)
	}
	f.release()
	wentOn := 0
	for i, r := range all {
		code := r.end()
		if i > 0 && r.satOut(code) { // the state went away while it still read it
			f.t.Logf("the leader is %s: runner %d sent nothing", way.name, i+1)
			continue
		}
		if code != 0 {
			f.t.Errorf("the leader is %s: runner %d ends with %d\n%s\n%s", way.name, i+1, code, &r.stdout, r.said())
		}
		if !strings.Contains(strings.Join(strings.Fields(r.stdout.String()), " "), fmt.Sprintf("recorded %d ", *failoverRows)) {
			f.t.Errorf("the leader is %s: the table of runner %d is not about all\n%s", way.name, i+1, &r.stdout)
		}
		wentOn += strings.Count(r.said(), "goes on with what run")
	}
	if wentOn == 0 {
		f.t.Errorf("the leader is %s: no runner saw anything of it", way.name)
	}
	if err := way.mend(leader); err != nil {
		f.t.Fatal(err)
	}
	if err := c.Ready(); err != nil {
		f.t.Fatal(err)
	}
	f.check(*failoverRows)
	return f.pause()
}

// leftOfRun is how many transfers of a run nobody answers before the test has done what the run meets.
const leftOfRun = 50

// startAll starts one runner, and others that take part in its run before it goes on. Only the first n requests are
// answered before release.
func (f *failoverRun) startAll(runners, n int) []*runner {
	f.t.Helper()
	f.hold()
	defer f.holdFrom(n)
	all := []*runner{f.start("apply", "--auto-approve", outlasts)}
	f.await(1)
	for range runners - 1 {
		all = append(all, f.join(outlasts))
	}
	if runners > 1 {
		f.joined(runners)
	}
	return all
}

// satOut reports whether a runner that ended with code sent nothing: on a busy machine the state goes away while it still reads
// it, or reserves its first request. Its exit code 1 is true, and the others carry the run on.
func (r *runner) satOut(code int) bool {
	return code == 1 && strings.Contains(r.said(), "nothing was sent")
}

// TestACopyThatLagsAndLeadsStopsTheRun kills the leader of a cluster whose copies follow when they can, once they lack what
// it has. The run stops, says what is missing, and believes nothing of it. The next apply settles it by lookup; where there
// is none, the run says that an apply would pay again.
func TestACopyThatLagsAndLeadsStopsTheRun(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const rows = 400
	program := program.Build(t)
	cluster := pgtest.StartCluster(t, false)
	proxy := cluster.Proxy(t)
	const alone, together = "of the server that took over is number", "may lack what other runners of this run wrote"
	for name, c := range map[string]struct {
		runners int
		lookup  string
		says    []string
	}{
		"one runner":               {1, "lookup_path = \"/v2/transfers\"\n", []string{alone, "as lookup_path says", "remit audit verify"}},
		"three runners":            {3, "lookup_path = \"/v2/transfers\"\n", []string{together, "as lookup_path says", "remit apply"}},
		"one runner, no lookup":    {1, "", []string{alone, "it would send them again", "remit import FILE"}},
		"three runners, no lookup": {3, "", []string{together, "it would send them again", "remit import FILE"}},
	} {
		if c.lookup == "" && c.runners != suite.Dose(0, 1, c.runners) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f := &failoverRun{newWorld(t, program, options{
				rows: rows, inFlight: 8, latency: 20 * time.Millisecond, at: proxy, unchecked: true,
				service: c.lookup + `rate_limit { internal = "100/1s" }`,
			})}
			f.adopts = true
			leader := cluster.Leading(t)
			all := f.startAll(c.runners, rows/4)
			f.await(rows / 4)
			leader.HoldCopies()
			f.holdFrom(rows - leftOfRun)
			f.await(rows / 2)
			leader.Kill()
			f.release()
			idle := 0
			for i, r := range all {
				code := r.end()
				said := r.said()
				if r.satOut(code) {
					idle++
					continue
				}
				if code != 4 {
					t.Errorf("runner %d ends with %d, want 4\n%s\n%s", i+1, code, &r.stdout, r.said())
				}
				for _, want := range append(c.says, "In doubt: each transfer of this run of which that server lacks the events") {
					if !strings.Contains(said, want) {
						t.Errorf("runner %d does not say %q\n%s", i+1, want, &r.stderr)
					}
				}
			}
			if idle == c.runners {
				t.Error("every runner says that it sent nothing")
			}
			if f.count() == rows {
				t.Error("everything was sent")
			}
			leader.Connect()
			if err := leader.Start(); err != nil {
				t.Fatal(err)
			}
			if err := cluster.Ready(); err != nil {
				t.Fatal(err)
			}
			if c.lookup != "" {
				f.must(4, "apply", "--auto-approve") // the state lacks events until an import says that it does not
				f.check(rows)
			}
		})
	}
}

// pause is the longest time between two requests.
func (w *world) pause() (longest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.arrivals, func(a, b arrival) int { return a.at.Compare(b.at) })
	for i := 1; i < len(w.arrivals); i++ {
		longest = max(longest, w.arrivals[i].at.Sub(w.arrivals[i-1].at))
	}
	return longest
}
