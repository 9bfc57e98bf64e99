//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"remit/internal/bench/figures"
)

// scenario is one thing that is measured at some sizes.
type scenario struct {
	name    string
	least   int      // the smallest size; 0: any
	most    int      // the largest size; 0: any
	slow    int      // the largest size with -slow, where that is another
	exactly int      // its only size; 0: as above
	guard   int      // the size at which -compare watches it; 0: it does not
	against []string // what it is divided by, at its size
	needs   func(*session) error
	prepare func(context.Context, *session, int) error // once a size, not measured
	run     func(context.Context, *session, int) (figures.Sample, error)
}

// usualSizes are measured where -sizes names none.
func usualSizes(slow bool) []int {
	if slow {
		return []int{1, 1_000, 5_000, 10_000, 100_000, 1_000_000}
	}
	return []int{1, 1_000, 10_000, 100_000, 1_000_000}
}

// fits reports whether a scenario is measured at a size.
func (s scenario) fits(size int, slow bool) bool {
	if s.exactly > 0 {
		return size == s.exactly
	}
	most := s.most
	if slow && s.slow > 0 {
		most = s.slow
	}
	return size >= max(s.least, 2) && (most == 0 || size <= most)
}

// scenarios are all that is measured, in the order of their turns.
func scenarios() []scenario {
	all := []scenario{
		{name: "floor-nothing", exactly: 1, run: part("floor-nothing")},
		{name: "floor-csv", prepare: prepareDeclared, run: floorCSV("declared", "rows.csv", "-keep")},
		{name: "floor-csv-streamed", prepare: prepareDeclared, run: floorCSV("declared", "rows.csv")},
		{name: "floor-csv-grown", prepare: prepareRecorded, run: floorCSV("recorded", "grown.csv", "-keep")},
		{name: "floor-scan", prepare: prepareRecorded, run: floorScan},
		{name: "plan-one", exactly: 1, guard: 1, against: []string{"floor-nothing"}, prepare: prepareBlocks, run: planFirst("blocks")},
		{name: "plan-first", guard: 100_000, against: []string{"floor-csv", "floor-scan"}, prepare: prepareDeclared, run: planFirst("declared")},
		{name: "plan-nothing", guard: 100_000, against: []string{"floor-csv", "floor-scan"}, prepare: prepareRecorded, run: planRecorded("rows.csv")},
		{name: "plan-nothing-shuffled", against: []string{"floor-csv", "floor-scan"}, prepare: prepareRecorded, run: planRecorded("shuffled.csv")},
		{name: "plan-signals", guard: 100_000, against: []string{"floor-csv-grown", "floor-scan"}, prepare: prepareRecorded, run: planSignals},
		{name: "plan-month", least: 1_000, prepare: prepareMonths, run: planMonth},
		{name: "plan-csvdecode", most: 100_000, slow: 1_000_000, guard: 10_000, against: []string{"floor-csv"}, prepare: prepareCSVDecode, run: planFirst("csvdecode")},
		{name: "plan-blocks", most: 10_000, slow: 100_000, guard: 10_000, against: []string{"floor-csv"}, prepare: prepareBlocks, run: planFirst("blocks")},
		{name: "tree-parts", exactly: 1_000_000, prepare: prepareTree, run: planParts},
		{name: "tree", exactly: 1_000_000, against: []string{"tree-parts"}, prepare: prepareTree, run: planTree},
		{name: "rehearse", most: 100_000, slow: 1_000_000, against: []string{"floor-csv"}, prepare: prepareDeclared, run: rehearse},
		{name: "lsp", exactly: editedSize, prepare: prepareEdited, run: edit},
		{name: "plan-progress", least: 100_000, prepare: prepareDeclared, run: planProgress},
	}
	all = append(all, commands()...)
	all = append(all, applies()...)
	return append(all, others()...)
}

// applies send to the bench's service, with a floor each. Of those that are pinned, remit and the floor have
// one processor alike, and the service another one.
func applies() []scenario {
	var all []scenario
	for _, latency := range []time.Duration{20 * time.Millisecond, time.Millisecond} {
		for _, inFlight := range []int{256, 64} {
			name := fmt.Sprintf("%s-%d", latency, inFlight)
			most, guard := 100_000, 0
			if inFlight == 256 {
				guard = 10_000
			}
			if latency > time.Millisecond && inFlight < 256 {
				most = 10_000 // more only takes longer
			}
			all = append(
				all,
				scenario{
					name: "floor-http-" + name, most: most, slow: 1_000_000,
					prepare: prepareDeclared, run: floorHTTP(serving{latency: latency}, inFlight),
				},
				scenario{
					name: "apply-" + name, most: most, slow: 1_000_000, guard: guard,
					against: []string{"floor-http-" + name}, run: apply(serving{latency: latency}, inFlight),
				},
			)
		}
		name, what := fmt.Sprintf("%s-256-pinned", latency), serving{latency: latency, pinned: true}
		all = append(
			all,
			scenario{
				name: "floor-http-" + name, most: 100_000, slow: 1_000_000,
				needs: needsCores, prepare: prepareDeclared, run: floorHTTP(what, 256),
			},
			scenario{
				name: "apply-" + name, most: 100_000, slow: 1_000_000,
				against: []string{"floor-http-" + name}, needs: needsCores, run: apply(what, 256),
			},
		)
	}
	return all
}

// others are what a user would pick instead.
func others() []scenario {
	return []scenario{
		{name: "script-20ms", most: 1_000, slow: 10_000, against: []string{"apply-20ms-256"}, needs: needsPython, prepare: prepareDeclared, run: scriptPays(20 * time.Millisecond)},
		{name: "script-1ms", most: 10_000, slow: 100_000, against: []string{"apply-1ms-256"}, needs: needsPython, prepare: prepareDeclared, run: scriptPays(time.Millisecond)},
		{name: "script-nothing", most: 10_000, slow: 100_000, against: []string{"plan-nothing"}, needs: needsPython, prepare: prepareScript, run: scriptAgain},
		{name: "terraform-first", most: 1_000, slow: 5_000, against: []string{"plan-first"}, needs: needsTerraform, prepare: prepareTerraformRows, run: terraformFirst("terraform-rows")},
		{name: "terraform-nothing", most: 1_000, against: []string{"plan-nothing"}, needs: needsTerraform, prepare: prepareTerraformApplied, run: terraformNothing},
		{name: "terraform-apply", most: 1_000, against: []string{"apply-20ms-256"}, needs: needsTerraform, prepare: prepareTerraformRows, run: terraformApply},
		{name: "terraform-blocks", most: 10_000, against: []string{"plan-blocks"}, needs: needsTerraform, prepare: prepareTerraformBlocks, run: terraformFirst("terraform-blocks")},
		{name: "restapi-apply", most: 1_000, against: []string{"apply-20ms-256"}, needs: needsRestAPI, run: restAPIApply},
	}
}

func names(all []scenario) []string {
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = s.name
	}
	return list
}

// chosen are the scenarios that are asked for at a size, and those that they are divided by.
func (o options) chosen(size int) []scenario {
	all := scenarios()
	wanted := make(map[string]bool)
	for _, s := range all {
		if s.fits(size, o.slow) && (len(o.only) == 0 || slices.Contains(o.only, s.name)) {
			wanted[s.name] = true
		}
	}
	return closure(all, wanted)
}

// guarded are the scenarios that -compare watches at a size, and their floors.
func guarded(size int) []scenario {
	all := scenarios()
	wanted := make(map[string]bool)
	for _, s := range all {
		if s.guard == size {
			wanted[s.name] = true
		}
	}
	return closure(all, wanted)
}

// closure adds what the wanted are divided by, and what those are.
func closure(all []scenario, wanted map[string]bool) []scenario {
	for _, s := range slices.Backward(all) { // a scenario that others are divided by comes before them
		if wanted[s.name] {
			for _, name := range s.against {
				wanted[name] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(s scenario) bool { return !wanted[s.name] })
}
