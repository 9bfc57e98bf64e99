package jointest_test

import (
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"
)

var (
	throughput = flag.Int("join.throughput", 4000, "transfers of each run of BenchmarkRunners")
	inFlight   = flag.Int("join.inflight", 8, "max_in_flight of each runner of BenchmarkRunners")
)

// BenchmarkRunners measures how fast one runner sends at 20 ms a request, and three together, and what each component takes for
// it: processors, which a busy machine does not change, and commits, which are one after the other.
// The bounds of the machine are in docs/scale.md.
//
//	go test ./internal/proof/jointest -run '^$' -bench Runners -benchtime 2x -join.throughput 4000
func BenchmarkRunners(b *testing.B) {
	program := program.Build(b)
	for _, runners := range []int{1, 3} {
		b.Run(fmt.Sprint(runners), func(b *testing.B) {
			var best sent
			for b.Loop() {
				if s := send(b, program, runners); s.rate > best.rate {
					best = s
				}
			}
			b.ReportMetric(best.rate, "transfers/s")
			each := float64(*throughput)
			b.ReportMetric(best.runners.Seconds()*1000/each, "ms-runners/transfer")
			b.ReportMetric(best.database.Seconds()*1000/each, "ms-database/transfer")
			b.ReportMetric(best.service.Seconds()*1000/each, "ms-service/transfer")
			b.ReportMetric(each/float64(best.commits), "transfers/commit")
			b.ReportMetric(float64(best.log)/each, "B-log/transfer")
		})
	}
}

// sent is what one run took.
type sent struct {
	rate                       float64       // transfers a second, in the middle of the run: from where all take part to where the last parts are begun
	runners, database, service time.Duration // of processors
	commits, log               int64         // of the database, and the bytes of its log
}

// send has so many runners send a plan.
func send(b *testing.B, program string, runners int) (s sent) {
	w := newWorld(b, program, options{rows: *throughput, inFlight: *inFlight, latency: 20 * time.Millisecond, unchecked: true})
	before := w.taken(b)
	all := []*runner{w.start("apply", "--auto-approve", "--json")}
	w.await(1)
	for range runners - 1 {
		all = append(all, w.start("apply", "--join", "--json"))
	}
	for _, r := range all {
		if code := r.end(); code != 0 {
			b.Errorf("exit code %d\n%s", code, &r.stderr)
		}
		s.runners += r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
	}
	after := w.taken(b)
	s.database, s.service = after.database-before.database, after.service-before.service
	s.commits, s.log = after.commits-before.commits, after.log-before.log
	w.check(*throughput)
	first, last := *throughput/4, *throughput*9/10
	s.rate = float64(last-first) / w.arrivals[last].at.Sub(w.arrivals[first].at).Seconds()
	return s
}

// taken is what the server and this process, which is the service, have taken until now.
func (w *world) taken(b *testing.B) (s sent) {
	b.Helper()
	var err error
	if s.database, err = w.server.CPU(); err != nil {
		b.Fatal(err)
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	s.service = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	// A session tells what it did when it ends.
	err = w.db.QueryRow(b.Context(), `SELECT xact_commit, (pg_current_wal_lsn() - '0/0')::bigint FROM pg_stat_database WHERE datname = current_database()`).Scan(&s.commits, &s.log)
	if err != nil {
		b.Fatal(err)
	}
	return s
}
