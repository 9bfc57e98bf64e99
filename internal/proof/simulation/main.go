// Command simulation plays seeded histories of remit against a bank, a network, people and
// crashes that are simulated, and says whether any transfer was made twice or lost.
//
// Its one invariant: a seed that fails is printed with the command that replays it.
//
//	go run ./internal/proof/simulation -seeds 10000
//	go run ./internal/proof/simulation -seed 4711
//	go run ./internal/proof/simulation -seeds 1000 -store postgres
//	go run ./internal/proof/simulation -clocks -seeds 10000
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"remit/internal/proof/simulation/history"
	"remit/state/postgres/pgtest"
)

// failuresMax is after how many histories that break an invariant the others are not played.
const failuresMax = 5

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) //nolint:forbidigo // this is a main
}

// run plays what the arguments ask for. It returns 0 where every invariant held, 1 where
// one did not, and 2 where the arguments or the machine are wrong.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("simulation", flag.ContinueOnError)
	flags.SetOutput(stderr)
	seeds := flags.Int("seeds", 1000, "how many histories to play")
	from := flags.Uint64("from", 0, "the seed of the first one")
	seed := flags.Uint64("seed", 0, "play this one alone and print it")
	store := flags.String("store", "sqlite", "what the state is kept in: sqlite or postgres")
	clocks := flags.Bool("clocks", false, "all clocks are right, but at one command, which each history is played with")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	alone := false
	flags.Visit(func(f *flag.Flag) { alone = alone || f.Name == "seed" })
	disk, done, err := diskOf(*store)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 2
	}
	defer done()
	player, err := history.NewPlayer(disk)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 2
	}
	defer func() { _ = player.Close() }() // a temporary directory
	play := func(seed uint64) []history.Report { return []history.Report{player.Play(seed, history.Client{})} }
	if *clocks {
		play = func(seed uint64) []history.Report { return player.PlayWrongClocks(seed, history.Client{}) }
	}
	if alone {
		return playAlone(play(*seed), stdout)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return playAll(ctx, play, *from, *seeds, stdout)
}

// diskOf is what a state is kept in, and what ends that.
func diskOf(store string) (history.Disk, func(), error) {
	switch store {
	case "sqlite":
		return history.Files{}, func() {}, nil
	case "postgres":
		server, err := pgtest.New()
		if err != nil {
			return nil, nil, err
		}
		return history.NewDatabase(server), server.Close, nil
	}
	return nil, nil, fmt.Errorf("-store=%s is neither sqlite nor postgres", store)
}

// playAlone prints the history of one seed. Of one that was played with several clocks it prints the
// first that broke an invariant, or else the last.
func playAlone(reports []history.Report, stdout io.Writer) int {
	r := reports[len(reports)-1]
	for _, one := range slices.Backward(reports) {
		if one.Violation != nil {
			r = one
		}
	}
	_, _ = fmt.Fprintln(stdout, strings.Join(r.Lines, "\n"))
	return explain(stdout, r)
}

// playAll plays until there were so many histories, or until an interrupt, and says what they add up to.
func playAll(ctx context.Context, play func(seed uint64) []history.Report, from uint64, count int, stdout io.Writer) int {
	var sum totals
	began := time.Now() //nolint:forbidigo // how fast the simulation itself is
	for seed := from; sum.histories < count && sum.failures < failuresMax && ctx.Err() == nil; seed++ {
		for _, r := range play(seed) {
			sum.add(r)
			if explain(stdout, r) != 0 {
				sum.failures++
			}
		}
	}
	sum.print(stdout, time.Since(began))
	if sum.failures > 0 {
		return 1
	}
	return 0
}

// explain says how to see a history that broke an invariant.
func explain(stdout io.Writer, r history.Report) int {
	if r.Violation == nil {
		return 0
	}
	flag := ""
	if r.WrongClock != "" {
		flag = "-clocks "
	}
	_, _ = fmt.Fprintf(stdout, "seed %d: %v\n  go run ./internal/proof/simulation %s-seed %d (with the same -store; clock: %s)\n",
		r.Seed, r.Violation, flag, r.Seed, cmp.Or(r.WrongClock, "as drawn"))
	return 1
}

// totals are what many histories add up to.
type totals struct {
	histories, steps, runs, crashes, transfers, duplicates, lost, failures int
	days                                                                   float64 // of virtual time: more than a Duration holds
	faults                                                                 map[string]int
}

func (t *totals) add(r history.Report) {
	t.histories++
	t.steps += r.Steps
	t.runs += r.Runs
	t.crashes += r.Crashes
	t.transfers += r.Transfers
	t.duplicates += r.Duplicates
	t.lost += r.Lost
	t.days += r.Lasted.Hours() / 24
	if t.faults == nil {
		t.faults = make(map[string]int)
	}
	for kind, n := range r.Faults {
		t.faults[kind] += n
	}
}

func (t *totals) print(stdout io.Writer, took time.Duration) {
	line := func(name string, value any) { _, _ = fmt.Fprintf(stdout, "%-28s %v\n", name, value) }
	line("histories", t.histories)
	line("steps", t.steps)
	line("commands run", t.runs)
	line("crashes", t.crashes)
	line("transfers made", t.transfers)
	line("virtual time", fmt.Sprintf("%.0f days", t.days))
	line("real time", took.Round(100*time.Millisecond))
	_, _ = fmt.Fprintln(stdout, "faults")
	for _, kind := range slices.Sorted(maps.Keys(t.faults)) {
		line("  "+strings.TrimSpace(kind), t.faults[kind])
	}
	line("invariants broken", t.failures)
	line("duplicates", t.duplicates)
	line("lost", t.lost)
}
