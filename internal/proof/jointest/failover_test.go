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
	n := *failovers
	if n == 0 {
		n = suite.Dose(1, 1, 2)
	}
	program := program.Build(t)
	cluster := pgtest.StartCluster(t, true)
	var longest time.Duration
	for i := range n {
		way := outages()[i%len(outages())]
		runners := 3 - 2*((i+i/len(outages()))%2) // three and one by turns, each in every way
		f := &failoverRun{
			world: newWorld(t, program, options{
				rows: *failoverRows, inFlight: 8, latency: 20 * time.Millisecond, cluster: cluster, unchecked: true,
				service: "lookup_path = \"/v2/transfers\"\n  rate_limit { internal = \"100/1s\" }",
				faults:  []string{"too-early=2%"},
			}),
		}
		pause := f.play(cluster, way, runners)
		t.Logf("failover %d, the leader %s, runners: %d: the longest pause between two requests was %v", i+1, way.name, runners, pause.Round(time.Millisecond))
		longest = max(longest, pause)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d failovers of runs of %d transfers: the longest pause was %v", n, *failoverRows, longest.Round(time.Millisecond))
}

// failoverRun is one run, during which the cluster fails over.
type failoverRun struct{ *world }

// play plays it, and returns the longest time between two requests.
func (f *failoverRun) play(c *pgtest.Cluster, way outage, runners int) time.Duration {
	f.t.Helper()
	all := []*runner{f.start("apply", "--auto-approve")}
	f.await(1)
	for range runners - 1 {
		all = append(all, f.start("apply", "--join"))
	}
	if runners > 1 {
		f.waitFor("all take part", fmt.Sprintf(`SELECT count(*) >= %d FROM %s.runners WHERE joined`, runners, f.schema))
	}
	f.await(*failoverRows / 3)
	leader := c.Leader()
	if err := way.fail(c, leader); err != nil {
		f.t.Fatal(err)
	}
	wentOn := 0
	for i, r := range all {
		if code := r.end(); code != 0 {
			f.t.Errorf("the leader is %s: runner %d ends with %d\n%s\n%s", way.name, i+1, code, &r.stdout, &r.stderr)
		}
		if !strings.Contains(strings.Join(strings.Fields(r.stdout.String()), " "), fmt.Sprintf("recorded %d ", *failoverRows)) {
			f.t.Errorf("the leader is %s: the table of runner %d is not about all\n%s", way.name, i+1, &r.stdout)
		}
		wentOn += strings.Count(strings.Join(strings.Fields(r.stderr.String()), " "), "goes on with what run")
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
