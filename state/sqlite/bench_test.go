package sqlite_test

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"remit/state"
	"remit/state/statetest"
)

// rowCount is how many rows BenchmarkTransfers and its kin read: a million shows what a plan costs.
var rowCount = flag.Int("rows", 10_000, "rows of BenchmarkTransfers")

// BenchmarkAppend takes a transfer through its intent and its outcome, both durable, from so
// many goroutines at once.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("%d at once", callers), func(b *testing.B) {
			s, _ := create(b)
			j := lock(b, s)
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range callers {
				wg.Go(func() {
					for {
						i := next.Add(1)
						if i > int64(b.N) {
							return
						}
						refID := scattered(i)
						for _, entry := range []state.Entry{
							statetest.Intent(refID, "run", "10.00"),
							statetest.Outcome(refID, "run", state.SourceAnswer, state.Recorded),
						} {
							if err := j.Append(b.Context(), entry); err != nil {
								b.Error(err)
								return
							}
						}
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

// scattered are ref_ids in no order.
func scattered(i int64) string { return fmt.Sprintf("ref-%08x", uint32(i)*2654435761) }

// BenchmarkTransfers streams rows as a run does.
func BenchmarkTransfers(b *testing.B) {
	benchmarkRows(b, func(snap state.Snapshot) (n int) {
		for _, err := range snap.Transfers(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		return n
	})
}

// BenchmarkOutlines streams rows as a plan does.
func BenchmarkOutlines(b *testing.B) {
	benchmarkRows(b, func(snap state.Snapshot) (n int) {
		for _, err := range snap.Outlines(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		return n
	})
}

// BenchmarkAllDetails streams rows with their events as an export does.
func BenchmarkAllDetails(b *testing.B) {
	benchmarkRows(b, func(snap state.Snapshot) (n int) {
		for _, err := range state.AllDetails(b.Context(), snap) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		return n
	})
}

func benchmarkRows(b *testing.B, scan func(state.Snapshot) int) {
	s, _ := many(b, *rowCount)
	snap, err := s.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	b.ReportAllocs()
	for b.Loop() {
		if got := scan(snap); got != *rowCount {
			b.Fatalf("%d rows", got)
		}
	}
	rows := float64(b.N * *rowCount)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/rows, "ns/row")
	b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
}
