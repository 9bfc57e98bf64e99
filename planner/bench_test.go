package planner_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"remit/config"
	"remit/planner"
	"remit/state"
)

// The sizes of the benchmarks: a batch over some months of history.
const (
	benchDeclared = 10_000
	benchRecorded = 100_000
)

// sorted is a memory whose rows are made beforehand, so that a benchmark measures the
// planner.
type sorted struct {
	*memory
	rows []state.Outline
}

func newSorted(m *memory) sorted {
	s := sorted{memory: m}
	for t, err := range m.Outlines(context.Background()) {
		if err != nil {
			panic(err)
		}
		s.rows = append(s.rows, t)
	}
	return s
}

func (s sorted) Outlines(context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		for _, t := range s.rows {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func benchWorld(recorded, declared int) (*memory, []config.Transfer) {
	m := newMemory()
	transfers := make([]config.Transfer, 0, declared)
	for i := range max(recorded, declared) {
		d := declare(fmt.Sprintf("payroll-2026-%07d", i), inBatch("pay"))
		if i < recorded {
			m.details[d.Request.RefID] = record(d, state.Recorded)
		}
		if i < declared {
			transfers = append(transfers, d)
		}
	}
	return m, transfers
}

func BenchmarkNew(b *testing.B) {
	worlds := map[string]struct{ recorded, skipped int }{
		"nothing to do": {benchRecorded, 0},
		"all are new":   {benchRecorded, benchRecorded},
	}
	for name, w := range worlds {
		b.Run(name, func(b *testing.B) {
			m, transfers := benchWorld(w.recorded, w.skipped+benchDeclared)
			transfers = transfers[w.skipped:]
			r := newSorted(m)
			b.ReportAllocs()
			for b.Loop() {
				p, err := planner.New(b.Context(), slices.Values(transfers), r, planner.Controls{}, now)
				if err != nil || p.Count(planner.Submit)+p.Count(planner.None) != benchDeclared {
					b.Fatal(err, p)
				}
			}
		})
	}
}
