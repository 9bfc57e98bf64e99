package jointest_test

import (
	"flag"
	"testing"
	"time"
)

var (
	throughput = flag.Int("join.throughput", 0, "measure how fast this many transfers are sent by one runner and by three; 0 measures nothing")
	inFlight   = flag.Int("join.inflight", 8, "with -join.throughput: max_in_flight of each runner")
)

// TestThroughput measures, and promises nothing: what the machine bounds is in docs/scale.md.
//
//	go test ./internal/jointest -run Throughput -v -join.throughput 6000
func TestThroughput(t *testing.T) {
	if *throughput == 0 {
		t.Skip("it is measured with -join.throughput")
	}
	program := build(t)
	rate := make(map[int]float64)
	for _, runners := range []int{1, 3, 1, 3} {
		w := newWorld(t, program, options{rows: *throughput, inFlight: *inFlight, latency: 20 * time.Millisecond, unchecked: true})
		all := []*runner{w.start("apply", "--auto-approve", "--json")}
		w.await(1)
		for range runners - 1 {
			all = append(all, w.start("apply", "--join", "--json"))
		}
		for _, r := range all {
			if code := r.end(); code != 0 {
				t.Errorf("exit code %d\n%s", code, &r.stderr)
			}
		}
		w.check(*throughput)
		// The middle: from where all take part to where the last parts are begun.
		from, to := w.arrivals[*throughput/4].at, w.arrivals[*throughput*9/10].at
		rate[runners] = max(rate[runners], float64(*throughput*9/10-*throughput/4)/to.Sub(from).Seconds())
		t.Logf("%d runners: %.0f transfers a second", runners, rate[runners])
	}
	t.Logf("three runners send %.2f times what one does", rate[3]/rate[1])
}
