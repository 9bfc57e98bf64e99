//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"remit/internal/bench/figures"
	"remit/internal/bench/load"
	"remit/internal/cli/exit"
)

// reading is a command that reads much and submits nothing.
type reading struct {
	name    string
	kind    string // of the directory that it works in
	args    []string
	exit    int
	against []string
	most    int
	guard   int
	watched bool // its progress on a terminal, and how it takes an interrupt, are measured as well

	prepare func(context.Context, *session, int) error
}

// paidMonth stands in arguments for the month in which the state's transfers were made.
const paidMonth = "MONTH"

// guardCommands is the size at which -compare watches the long commands: one that results.json has on a machine where a
// process starts as quickly as usual. There a command takes tens of milliseconds, so what makes it a third slower is not seen.
const guardCommands = 1_000

// readings are the long commands, each beside the floors that nothing which does its work can go below.
func readings() []reading {
	plan := []string{"floor-csv", "floor-scan"}
	journal := []string{"floor-journal", "floor-scan"}
	book := []string{"floor-book"}
	both := []string{"floor-records", "floor-book"}
	file := []string{"floor-plan-file"}
	return []reading{
		{name: "status", kind: "recorded", args: []string{"status"}, against: plan, guard: guardCommands},
		{name: "why", kind: "recorded", args: []string{"why", "payout-P-00000000"}, against: plan},
		{name: "graph", kind: "recorded", args: []string{"graph"}, against: plan, guard: guardCommands},
		{name: "validate", kind: "recorded", args: []string{"validate"}, against: []string{"floor-csv-streamed"}, guard: guardCommands},
		{name: "state-list", kind: "recorded", args: []string{"state", "list"}, against: []string{"floor-scan"}, guard: guardCommands},
		{name: "state-list-json", kind: "recorded", args: []string{"state", "list", "--json"}, against: []string{"floor-scan"}},
		{name: "state-show", kind: "recorded", args: []string{"state", "show", "payout-P-00000000"}, against: []string{"floor-nothing"}, guard: guardCommands},
		{name: "state-export", kind: "recorded", args: []string{"state", "export"}, against: journal, guard: guardCommands},
		{name: "audit-verify", kind: "recorded", args: []string{"audit", "verify"}, against: journal, guard: guardCommands, watched: true},
		{name: "audit-log", kind: "recorded", args: []string{"audit", "log"}, against: []string{"floor-journal"}, guard: guardCommands},
		{name: "export-csv", kind: "recorded", args: []string{"export", "--format=csv"}, against: book, guard: guardCommands, watched: true},
		{name: "export-jsonl", kind: "recorded", args: []string{"export", "--format=jsonl"}, against: book},
		{name: "export-hledger", kind: "recorded", args: []string{"export", "--format=hledger"}, against: book},
		{name: "export-ledger", kind: "recorded", args: []string{"export", "--format=ledger"}, against: book},
		{name: "export-beancount", kind: "recorded", args: []string{"export", "--format=beancount"}, against: book},
		{name: "export-pain002", kind: "recorded", args: []string{"export", "--format=pain002"}, against: book},
		{name: "report", kind: "recorded", args: []string{"report", "--month=" + paidMonth}, against: book, guard: guardCommands, watched: true},
		{name: "reconcile", kind: "recorded", args: []string{"reconcile", "export.jsonl"}, against: both, guard: guardCommands, watched: true, prepare: prepareExports},
		{name: "reconcile-others", kind: "recorded", args: []string{"reconcile", "others.jsonl"}, exit: exit.Look, against: both, prepare: prepareExports},
		{name: "show-run", kind: "recorded", args: []string{"show", "--run=bench-seed"}, against: []string{"floor-journal"}, guard: guardCommands, watched: true},
		{name: "show-plan", kind: "declared", args: []string{"show", savedPlan}, against: file, guard: guardCommands, watched: true, prepare: prepareSaved},
		{name: "show-plan-html", kind: "declared", args: []string{"show", savedPlan, "--html"}, against: file, guard: guardCommands, prepare: prepareSaved},
		{name: "show-plan-json", kind: "declared", args: []string{"show", savedPlan, "--json"}, against: file, prepare: prepareSaved},
		{name: "fmt", kind: "blocks", args: []string{"fmt", "--check"}, against: []string{"floor-format"}, most: 100_000, guard: guardCommands, prepare: prepareBlocks},
	}
}

// commands are the readings as scenarios, and those that write.
func commands() []scenario {
	all := []scenario{
		{name: "floor-journal", least: 1_000, prepare: prepareRecorded, run: floorState("floor-journal")},
		{name: "floor-book", least: 1_000, prepare: prepareRecorded, run: floorState("floor-book")},
		{name: "floor-copy", least: 1_000, prepare: prepareRecorded, run: floorState("floor-copy")},
		{name: "floor-records", least: 1_000, prepare: prepareExports, run: floorFile("floor-records", "recorded", "export.jsonl")},
		{name: "floor-plan-file", least: 1_000, prepare: prepareSaved, run: floorFile("floor-plan-file", "declared", savedPlan)},
		{name: "floor-format", least: 1_000, most: 100_000, prepare: prepareBlocks, run: floorFile("floor-format", "blocks", "main.hcl")},
	}
	var watched []scenario
	for _, r := range readings() {
		one := scenario{name: r.name, least: 1_000, most: r.most, guard: r.guard, against: r.against, prepare: r.prepare, run: r.run}
		if one.prepare == nil {
			one.prepare = prepareRecorded
		}
		all = append(all, one)
		if r.watched {
			watched = append(watched, scenario{name: r.name + "-progress", least: 100_000, prepare: one.prepare, run: r.watch})
		}
	}
	all = append(
		all,
		scenario{name: "state-backup", least: 1_000, guard: guardCommands, against: []string{"floor-copy", "floor-journal", "floor-scan"}, prepare: prepareRecorded, run: backUp},
		scenario{name: "evidence", least: 1_000, guard: guardCommands, against: []string{"floor-journal"}, prepare: prepareRecorded, run: exportEvidence},
		scenario{name: "evidence-verify", least: 1_000, guard: guardCommands, against: []string{"floor-journal"}, prepare: preparePack, run: verifyEvidence},
		scenario{name: "import", least: 1_000, guard: guardCommands, against: []string{"floor-csv", "floor-records"}, prepare: prepareExports, run: importRecords},
	)
	return append(all, watched...)
}

func (r reading) run(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.exec(ctx, s.dir(r.kind, size), r.line(s), r.exit)
}

// line is the command line.
func (r reading) line(s *session) []string {
	args := slices.Clone(r.args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], paidMonth, s.paidAt.Format("2006-01"))
	}
	return s.remit(args...)
}

// watch measures the command with a terminal, and interrupts it at another moment each time.
func (r reading) watch(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.watch(ctx, s.dir(r.kind, size), func() []string { return r.line(s) }, r.exit)
}

// savedPlan is the plan that commands show.
const savedPlan = "saved.plan"

// prepareSaved makes a directory with a saved plan of the first transfers.
func prepareSaved(ctx context.Context, s *session, size int) error {
	if err := prepareDeclared(ctx, s, size); err != nil {
		return err
	}
	dir := s.dir("declared", size)
	return s.once(filepath.Join(dir, savedPlan), func() error {
		_, err := s.exec(ctx, dir, s.remit("plan", "--out", savedPlan))
		return err
	})
}

// prepareExports makes two exports of the service beside a state: one that has what the state has, and
// one that has as many other transfers.
func prepareExports(ctx context.Context, s *session, size int) error {
	if err := prepareRecorded(ctx, s, size); err != nil {
		return err
	}
	dir := s.dir("recorded", size)
	path := filepath.Join(dir, "export.jsonl")
	return s.once(path, func() error {
		if err := load.WriteExport(path, 0, size, s.paidAt); err != nil {
			return err
		}
		return load.WriteExport(filepath.Join(dir, "others.jsonl"), size, size, s.paidAt)
	})
}

// preparePack makes a pack of evidence.
func preparePack(ctx context.Context, s *session, size int) error {
	if err := prepareRecorded(ctx, s, size); err != nil {
		return err
	}
	dir := s.dir("recorded", size)
	return s.once(filepath.Join(dir, "pack"), func() error {
		_, err := s.exec(ctx, dir, s.remit("audit", "export", "--run=bench-seed", "--out=pack"))
		return err
	})
}

func verifyEvidence(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.exec(ctx, s.dir("recorded", size), s.remit("audit", "verify", "pack"))
}

func exportEvidence(ctx context.Context, s *session, size int) (figures.Sample, error) {
	dir := s.dir("recorded", size)
	out := filepath.Join(dir, fmt.Sprintf("pack-%d", s.number()))
	defer func() { _ = os.RemoveAll(out) }()
	return s.exec(ctx, dir, s.remit("audit", "export", "--run=bench-seed", "--out="+filepath.Base(out)))
}

func backUp(ctx context.Context, s *session, size int) (figures.Sample, error) {
	dir := s.dir("recorded", size)
	out := filepath.Join(dir, fmt.Sprintf("backup-%d.db", s.number()))
	defer func() { _ = os.Remove(out) }()
	return s.exec(ctx, dir, s.remit("state", "backup", "--out="+filepath.Base(out)))
}

// importRecords takes over all that the service has into a new state.
func importRecords(ctx context.Context, s *session, size int) (figures.Sample, error) {
	dir := s.dir("import-"+strconv.Itoa(s.number()), size)
	defer func() { _ = os.RemoveAll(dir) }()
	if err := s.prepare(ctx, dir, load.RemitRows, size, ""); err != nil {
		return figures.Sample{}, err
	}
	return s.exec(ctx, dir, s.remit("import", "--auto-approve", filepath.Join(s.dir("recorded", size), "export.jsonl")))
}

// floorState runs a part over the recorded state.
func floorState(name string) func(context.Context, *session, int) (figures.Sample, error) {
	return floorFile(name, "recorded", "remit.db")
}

func floorFile(name, kind, file string) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, size int) (figures.Sample, error) {
		return part(name, filepath.Join(s.dir(kind, size), file))(ctx, s, size)
	}
}
