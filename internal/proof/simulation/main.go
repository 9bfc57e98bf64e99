//go:build unix

// Command simulation plays seeded histories of remit against a bank, a network, people and
// crashes that are simulated, with one runner or several of one run, and says whether any transfer was made
// twice or lost.
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
	"os"
	"os/signal"
	"runtime"
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

// arguments are those of the command line.
type arguments struct {
	part
	seed      uint64
	alone     bool // the history of seed is played, and no other
	store     string
	clocks    bool
	processes int
	isPart    bool
}

// read returns false where they are wrong, and has said why.
func (a *arguments) read(args []string, stderr io.Writer) bool {
	flags := flag.NewFlagSet("simulation", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&a.count, "seeds", 1000, "how many histories to play")
	flags.Uint64Var(&a.from, "from", 0, "the seed of the first one")
	flags.Uint64Var(&a.every, "every", 1, "by how much the seed of the next one is greater")
	flags.Uint64Var(&a.seed, "seed", 0, "play this one alone and print it")
	flags.StringVar(&a.store, "store", "sqlite", "what the state is kept in: sqlite or postgres")
	flags.BoolVar(&a.clocks, "clocks", false, "all clocks are right, but at one command, which each history is played with")
	flags.IntVar(&a.processes, "processes", 0, "how many processes play, each some of the histories; 0 for one a processor, or for one on PostgreSQL")
	flags.BoolVar(&a.isPart, "part", false, "end with the totals as JSON, for another process")
	if flags.Parse(args) != nil {
		return false
	}
	flags.Visit(func(f *flag.Flag) { a.alone = a.alone || f.Name == "seed" })
	if a.processes == 0 && a.store == "sqlite" {
		a.processes = runtime.NumCPU()
	}
	return true
}

// run plays what the arguments ask for. It returns 0 where every invariant held, 1 where
// one did not, and 2 where the arguments or the machine are wrong.
func run(args []string, stdout, stderr io.Writer) int {
	var a arguments
	if !a.read(args, stderr) {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	began := time.Now() //nolint:forbidigo // how fast the simulation itself is
	var sum totals
	var err error
	if !a.alone && !a.isPart && a.processes > 1 {
		sum, err = playParts(ctx, &a, stdout, stderr)
	} else {
		sum, err = playHere(ctx, &a, stdout)
	}
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(stderr, err)
		return 2
	case a.isPart:
		sum.hand(stdout)
	case !a.alone:
		sum.print(stdout, time.Since(began))
	}
	return sum.code()
}

// playHere plays in this process.
func playHere(ctx context.Context, a *arguments, stdout io.Writer) (totals, error) {
	disk, done, err := diskOf(a.store)
	if err != nil {
		return totals{}, err
	}
	defer done()
	player, err := history.NewPlayer(disk)
	if err != nil {
		return totals{}, err
	}
	defer func() { _ = player.Close() }() // a temporary directory
	play := func(seed uint64) []history.Report { return []history.Report{player.Play(seed, history.Client{})} }
	if a.clocks {
		play = func(seed uint64) []history.Report { return player.PlayWrongClocks(seed, history.Client{}) }
	}
	if a.alone {
		return playAlone(play(a.seed), stdout), nil
	}
	return playAll(ctx, play, a.part, stdout), nil
}

// diskOf returns the disk that keeps the states, and the function that ends it.
func diskOf(store string) (history.Disk, func(), error) {
	switch store {
	case "sqlite":
		return history.Files{}, func() {}, nil
	case "postgres":
		server, err := pgtest.New()
		if err != nil {
			return nil, nil, err
		}
		return history.NewDatabase(server), func() { server.Close(); pgtest.CloseShared() }, nil
	}
	return nil, nil, fmt.Errorf("-store=%s is neither sqlite nor postgres", store)
}

// playAlone prints the history of one seed. Of one that was played with several clocks it prints the
// first that broke an invariant, or else the last.
func playAlone(reports []history.Report, stdout io.Writer) (sum totals) {
	r := reports[len(reports)-1]
	for _, one := range slices.Backward(reports) {
		if one.Violation != nil {
			r = one
		}
	}
	_, _ = fmt.Fprintln(stdout, strings.Join(r.Lines, "\n"))
	sum.count(r)
	sum.Failures = explain(stdout, r)
	return sum
}

// playAll plays until there were so many histories, or until an interrupt, and says what they add up to.
func playAll(ctx context.Context, play func(seed uint64) []history.Report, p part, stdout io.Writer) (sum totals) {
	for seed := p.from; sum.Histories < p.count && sum.Failures < failuresMax && ctx.Err() == nil; seed += p.every {
		for _, r := range play(seed) {
			sum.count(r)
			sum.Failures += explain(stdout, r)
		}
	}
	return sum
}

// explain says how to see a history that broke an invariant, and returns 1 of one that did.
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
