package reconcile_test

import (
	"strings"
	"testing"

	"remit/internal/accounts/reconcile"
	"remit/internal/accounts/records"
)

// BenchmarkReconcile reads both sides of each transfer as JSON Lines and holds them against a
// SQLite state; a time is that of one transfer.
func BenchmarkReconcile(b *testing.B) {
	const transfers = 20_000
	w := newWorld(b, transfers)
	text := format(0, w.export)
	for name, memory := range map[string]int{"held": 64 << 20, "on disk": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := reconcile.New(reconcile.Options{MemoryMax: memory, TempDir: b.TempDir()})
				r.AddFile("export.jsonl")
				for record, err := range records.NewReader("export.jsonl", strings.NewReader(text), 1<<40).All() {
					if err == nil {
						err = r.Add(record.Record, record.Line)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				summary, err := r.Judge(b.Context(), w.snapshot)
				if err != nil || summary.Matched != transfers {
					b.Fatalf("%d matched: %v", summary.Matched, err)
				}
				r.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/transfers, "ns/transfer")
		})
	}
}
