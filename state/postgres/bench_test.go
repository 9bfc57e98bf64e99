package postgres_test

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"remit/state"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// rowCount is how many rows BenchmarkOutlines reads: a million shows what a plan costs.
var rowCount = flag.Int("rows", 10_000, "rows of BenchmarkOutlines")

// BenchmarkAppend takes a transfer through its intent and its outcome, both durable, from so
// many goroutines at once.
func BenchmarkAppend(b *testing.B) {
	server := pgtest.Shared(b)
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("%d at once", callers), func(b *testing.B) {
			s, _ := create(b, server)
			j := lock(b, s)
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range callers {
				wg.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						refID := fmt.Sprintf("ref-%08x", uint32(i)*2654435761) // in no order
						add(b, j, statetest.Intent(refID, "run", "10.00"))
						add(b, j, statetest.Outcome(refID, "run", state.SourceAnswer, state.Recorded))
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transfers/s")
			b.StopTimer()
			unlock(b, j)
		})
	}
}

// BenchmarkOutlines streams rows as a plan does.
func BenchmarkOutlines(b *testing.B) {
	s, _ := create(b, pgtest.Shared(b))
	j := lock(b, s)
	var entries []state.Entry
	for i := range *rowCount {
		entries = append(entries, statetest.Intent(fmt.Sprintf("ref-%08d", i), "run", "10.00"))
		if len(entries) == 4096 || i == *rowCount-1 {
			add(b, j, entries...)
			entries = entries[:0]
		}
	}
	unlock(b, j)
	snap, err := s.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range snap.Outlines(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != *rowCount {
			b.Fatalf("%d rows", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N**rowCount), "ns/row")
}
