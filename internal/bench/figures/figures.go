// Package figures holds what the bench measured, and makes of it ratios, tables, a chart and
// a verdict on regressions.
//
// Its one invariant: a ratio is one of medians that were measured in one session on one
// machine, and is kept with its row, so that rows of different sessions are never divided.
package figures

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Sample is what one run of one process took. A zero field was not measured.
type Sample struct {
	CPU   float64 // seconds, of the process and the children that it waited for
	Wall  float64 // seconds
	Peak  float64 // megabytes (10^6 bytes) resident, of the largest single process
	Rate  float64 // transfers a second, as the service saw them
	First float64 // seconds to the first output on a terminal
	Stop  float64 // seconds from an interrupt to the exit

	Waits map[string]Wait // of an editor after a keystroke, by what it asked for
}

// Wait is how long somebody waits for answers of one kind, in seconds.
type Wait struct {
	P50, P95 float64
}

// NewWait sums up waits, of which there must be one at least: so many of a hundred are no longer.
func NewWait(all []float64) Wait {
	sorted := slices.Sorted(slices.Values(all))
	return Wait{sorted[(len(sorted)*50-1)/100], sorted[(len(sorted)*95-1)/100]}
}

// Waits are those of some runs.
type Waits struct {
	P50 Spread `json:"p50_s"`
	P95 Spread `json:"p95_s"`
}

// Spread is the median of some runs and how far they lie apart.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Row is one scenario at one size.
type Row struct {
	Name    string `json:"name"`
	Size    int    `json:"size"` // transfers
	Runs    int    `json:"runs"`
	Session string `json:"session"` // key of Results.Sessions

	CPU   Spread `json:"cpu_s"`
	Wall  Spread `json:"wall_s"`
	Peak  Spread `json:"peak_mb"`
	Rate  Spread `json:"rate,omitzero"`
	First Spread `json:"first_s,omitzero"`
	Stop  Spread `json:"stop_s,omitzero"`

	Waits map[string]Waits `json:"waits,omitempty"`

	Ratio Ratio `json:"ratio,omitzero"`
}

// Ratio is a row divided by the sum of others of its size, measured in the same session.
type Ratio struct {
	Against []string `json:"against,omitempty"`
	CPU     float64  `json:"cpu,omitempty"`
	Wall    float64  `json:"wall,omitempty"`
	Peak    float64  `json:"peak,omitempty"`
	Rate    float64  `json:"rate,omitempty"`
	FloorS  float64  `json:"against_cpu_s,omitempty"` // the divisor of CPU
}

// IsZero reports whether there was nothing to divide by.
func (r Ratio) IsZero() bool { return len(r.Against) == 0 }

// Session is where and when rows were measured.
type Session struct {
	Machine   string   `json:"machine"`
	Kernel    string   `json:"kernel"`
	Go        string   `json:"go"`
	Commit    string   `json:"commit"`
	Fsync     float64  `json:"fsync_ms"`      // median of a 4 KiB write and its fsync
	PeakLeast float64  `json:"peak_least_mb"` // a smaller peak cannot be told from this
	Others    []string `json:"others,omitempty"`
	LeftOut   []string `json:"left_out,omitempty"` // scenarios that were not measured, and why
}

// Results are what the bench wrote down: one row of a name and a size.
type Results struct {
	Sessions map[string]Session `json:"sessions"`
	Rows     []Row              `json:"rows"`
}

// Median returns the middle of values, the mean of the two middle ones of an even number,
// and 0 of none. It leaves values as they are.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// NewRow sums up runs. There must be one at least.
func NewRow(name string, size int, session string, samples []Sample) Row {
	spread := func(field func(Sample) float64) Spread {
		values := make([]float64, len(samples))
		for i, s := range samples {
			values[i] = field(s)
		}
		return Spread{Median: Median(values), Min: slices.Min(values), Max: slices.Max(values)}
	}
	var waits map[string]Waits
	for what := range samples[0].Waits {
		if waits == nil {
			waits = make(map[string]Waits)
		}
		waits[what] = Waits{
			P50: spread(func(s Sample) float64 { return s.Waits[what].P50 }),
			P95: spread(func(s Sample) float64 { return s.Waits[what].P95 }),
		}
	}
	return Row{
		Name: name, Size: size, Runs: len(samples), Session: session, Waits: waits,
		CPU:   spread(func(s Sample) float64 { return s.CPU }),
		Wall:  spread(func(s Sample) float64 { return s.Wall }),
		Peak:  spread(func(s Sample) float64 { return s.Peak }),
		Rate:  spread(func(s Sample) float64 { return s.Rate }),
		First: spread(func(s Sample) float64 { return s.First }),
		Stop:  spread(func(s Sample) float64 { return s.Stop }),
	}
}

// Divide sets the ratio of r against the sum of others. It is left out where there are none.
func (r *Row) Divide(others ...Row) {
	if len(others) == 0 {
		return
	}
	var sum Row
	var ratio Ratio
	for _, o := range others {
		ratio.Against = append(ratio.Against, o.Name)
		sum.CPU.Median += o.CPU.Median
		sum.Wall.Median += o.Wall.Median
		sum.Peak.Median += o.Peak.Median
		sum.Rate.Median += o.Rate.Median
	}
	over := func(a, b Spread) float64 {
		if b.Median == 0 {
			return 0
		}
		return a.Median / b.Median
	}
	ratio.CPU, ratio.Wall = over(r.CPU, sum.CPU), over(r.Wall, sum.Wall)
	ratio.Rate = over(r.Rate, sum.Rate)
	if len(others) == 1 {
		ratio.Peak = over(r.Peak, sum.Peak) // peaks of several processes have no sum
	}
	ratio.FloorS = sum.CPU.Median
	r.Ratio = ratio
}

// Row returns the row of a name and a size.
func (r *Results) Row(name string, size int) (Row, bool) {
	for _, row := range r.Rows {
		if row.Name == name && row.Size == size {
			return row, true
		}
	}
	return Row{}, false
}

// Put takes rows of one session in, each in the place of an older one of its name and size,
// and forgets sessions of which no row is left.
func (r *Results) Put(key string, session Session, rows ...Row) {
	for _, row := range rows {
		r.Rows = slices.DeleteFunc(r.Rows, func(old Row) bool { return old.Name == row.Name && old.Size == row.Size })
		r.Rows = append(r.Rows, row)
	}
	slices.SortStableFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Size, b.Size))
	})
	if r.Sessions == nil {
		r.Sessions = make(map[string]Session)
	}
	r.Sessions[key] = session
	used := make(map[string]bool)
	for _, row := range r.Rows {
		used[row.Session] = true
	}
	for old := range r.Sessions {
		if !used[old] {
			delete(r.Sessions, old)
		}
	}
}

// Read reads what Write wrote. A file that is not there holds nothing.
func Read(path string) (Results, error) {
	var r Results
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return Results{}, fmt.Errorf("read results: %w", err)
	}
	return r, nil
}

// Write writes results for people to read and to compare in a review: three significant
// digits say all that a measurement can.
func (r *Results) Write(path string) error {
	raw, err := json.MarshalIndent(r.rounded(), "", "\t")
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

func (r *Results) rounded() Results {
	out := Results{Sessions: r.Sessions, Rows: slices.Clone(r.Rows)}
	for i := range out.Rows {
		row := &out.Rows[i]
		for _, s := range []*Spread{&row.CPU, &row.Wall, &row.Peak, &row.Rate, &row.First, &row.Stop} {
			s.Median, s.Min, s.Max = significant(s.Median), significant(s.Min), significant(s.Max)
		}
		q := &row.Ratio
		q.CPU, q.Wall, q.Peak, q.Rate = significant(q.CPU), significant(q.Wall), significant(q.Peak), significant(q.Rate)
		q.FloorS = significant(q.FloorS)
	}
	return out
}
