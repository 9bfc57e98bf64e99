package jointest_test

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var (
	throughput = flag.Int("join.throughput", 4000, "transfers of each run of BenchmarkRunners")
	inFlight   = flag.Int("join.inflight", 8, "max_in_flight of each runner of BenchmarkRunners")
)

// BenchmarkRunners measures how fast one runner sends at 20 ms a request, and three together.
// The bounds of the machine are in docs/scale.md.
//
//	go test ./internal/proof/jointest -run '^$' -bench Runners -benchtime 2x -join.throughput 4000
func BenchmarkRunners(b *testing.B) {
	program := program.Build(b)
	for _, runners := range []int{1, 3} {
		b.Run(fmt.Sprint(runners), func(b *testing.B) {
			best := 0.0
			for b.Loop() {
				best = max(best, rateOf(b, program, runners))
			}
			b.ReportMetric(best, "transfers/s")
		})
	}
}

// rateOf is how many transfers so many runners send in a second, in the middle of a run: from
// where all take part to where the last parts are begun.
func rateOf(b *testing.B, program string, runners int) float64 {
	w := newWorld(b, program, options{rows: *throughput, inFlight: *inFlight, latency: 20 * time.Millisecond, unchecked: true})
	all := []*runner{w.start("apply", "--auto-approve", "--json")}
	w.await(1)
	for range runners - 1 {
		all = append(all, w.start("apply", "--join", "--json"))
	}
	for _, r := range all {
		if code := r.end(); code != 0 {
			b.Errorf("exit code %d\n%s", code, &r.stderr)
		}
	}
	w.check(*throughput)
	first, last := *throughput/4, *throughput*9/10
	return float64(last-first) / w.arrivals[last].at.Sub(w.arrivals[first].at).Seconds()
}
