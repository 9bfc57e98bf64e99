//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"remit/internal/proof/simulation/history"
)

// totals are what many histories add up to.
type totals struct {
	Histories, Steps, Runs, Crashes, Transfers, Duplicates, Lost, Failures int
	Days                                                                   float64 // of virtual time: more than a Duration holds
	Faults                                                                 map[string]int
}

// count adds a history.
func (t *totals) count(r history.Report) {
	t.add(totals{
		Histories: 1, Steps: r.Steps, Runs: r.Runs, Crashes: r.Crashes, Transfers: r.Transfers, Duplicates: r.Duplicates, Lost: r.Lost,
		Days: r.Lasted.Hours() / 24, Faults: r.Faults,
	})
}

// add adds those of a part.
func (t *totals) add(part totals) {
	t.Histories += part.Histories
	t.Steps += part.Steps
	t.Runs += part.Runs
	t.Crashes += part.Crashes
	t.Transfers += part.Transfers
	t.Duplicates += part.Duplicates
	t.Lost += part.Lost
	t.Failures += part.Failures
	t.Days += part.Days
	if t.Faults == nil {
		t.Faults = make(map[string]int)
	}
	for kind, n := range part.Faults {
		t.Faults[kind] += n
	}
}

// code is how a program ends with them.
func (t *totals) code() int {
	if t.Failures > 0 {
		return 1
	}
	return 0
}

// hand writes them for another process.
func (t *totals) hand(stdout io.Writer) {
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // numbers
	}
	_, _ = fmt.Fprintf(stdout, "%s\n", text)
}

func (t *totals) print(stdout io.Writer, took time.Duration) {
	line := func(name string, value any) { _, _ = fmt.Fprintf(stdout, "%-28s %v\n", name, value) }
	line("histories", t.Histories)
	line("steps", t.Steps)
	line("commands run", t.Runs)
	line("crashes", t.Crashes)
	line("transfers made", t.Transfers)
	line("virtual time", fmt.Sprintf("%.0f days", t.Days))
	line("real time", took.Round(100*time.Millisecond))
	_, _ = fmt.Fprintln(stdout, "faults")
	for _, kind := range slices.Sorted(maps.Keys(t.Faults)) {
		line("  "+strings.TrimSpace(kind), t.Faults[kind])
	}
	line("invariants broken", t.Failures)
	line("duplicates", t.Duplicates)
	line("lost", t.Lost)
}
