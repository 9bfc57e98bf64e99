//go:build linux

// Command bench measures remit as whole processes, side by side with what a user would pick
// instead and with floors below which nothing can go, and writes docs/performance.md.
//
// Its one invariant: numbers that are divided by one another were measured in turns, in one session on
// one machine, and did the same work.
//
//	go run ./internal/bench -json internal/bench/results.json -markdown
//	go run ./internal/bench -only plan-nothing -sizes 100000
//	go run ./internal/bench -compare internal/bench/results.json
//	go run ./internal/bench -profile plan-first -sizes 100000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"remit/internal/bench/figures"
)

// The files that -markdown writes, and the results that it reads where -json names none.
const (
	resultsFile = "internal/bench/results.json"
	chartFile   = "docs/performance/cpu.svg"
)

func main() {
	var copied string
	var err error
	code := 1
	if isSession(os.Args[1:]) {
		copied, err = beginAgain()
	}
	if err == nil {
		code = begun()
	} else {
		_, _ = fmt.Fprintln(os.Stderr, err)
	}
	if copied != "" {
		_ = os.Remove(copied) // of a temporary directory
	}
	os.Exit(code) //nolint:forbidigo // this is a main
}

// begun carries out a session, or a part of one.
func begun() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// run returns 0 where all was measured and nothing regressed, 1 where something did not work
// or regressed, and 2 where the arguments are wrong.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if !isSession(args) {
		err := runPart(ctx, args[0], args[1:], stdout)
		if code := exitCode(0); errors.As(err, &code) {
			return int(code)
		}
		if err != nil {
			_, _ = fmt.Fprintf(stderr, "bench %s: %v\n", args[0], err)
			return 1
		}
		return 0
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 2
	}
	if err := o.carryOut(ctx, stdout, stderr); err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// isSession reports whether the arguments are those of a session, and not of a part of it, which a session runs.
func isSession(args []string) bool { return len(args) == 0 || strings.HasPrefix(args[0], "-") }

// options are what the command line asks for.
type options struct {
	runs     int
	sizes    []int // nil: the usual ones
	only     []string
	slow     bool
	json     string
	compare  string
	markdown bool
	restapi  string
	work     string
	keep     string // like work, and the next session finds there the files that this one prepares
	profiled string // name of the scenario to profile
	into     string // directory of its profiles
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var sizes, only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.runs, "runs", 5, "how often each scenario is run; medians are shown")
	flags.StringVar(&sizes, "sizes", "", "numbers of transfers, such as 1000,10000; default "+join(usualSizes(false)))
	flags.StringVar(&only, "only", "", "measure these scenarios, and what they are compared with")
	flags.BoolVar(&o.slow, "slow", false, "also sizes that take minutes a run")
	flags.StringVar(&o.json, "json", "", "put the results into this `FILE`")
	flags.StringVar(&o.compare, "compare", "", "measure a few scenarios and fail where one is slower than in this `FILE`")
	flags.BoolVar(&o.markdown, "markdown", false, "write the tables and the chart of "+figures.Pages[0]+" and its parts; alone, from "+resultsFile+" without measuring")
	flags.StringVar(&o.restapi, "restapi", "", "the `PATH` of terraform-provider-restapi; default where PATH finds it")
	flags.StringVar(&o.work, "work", "", "work in this `directory`, on the disk to measure; default a temporary one")
	flags.StringVar(&o.keep, "keep", "", "work in this `directory`, and leave it with what was prepared for the next session")
	flags.StringVar(&o.profiled, "profile", "", fmt.Sprintf("write CPU and heap profiles of the scenario `NAME`, at %d transfers or those of -sizes", profiledSize))
	flags.StringVar(&o.into, "into", ".", "the `directory` of the profiles")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.runs < 1 {
		return o, errors.New("bench takes flags only, and at least one run; see -help")
	}
	var err error
	if o.sizes, err = parseSizes(sizes); err != nil {
		return o, err
	}
	known := names(scenarios())
	if o.profiled != "" && !slices.Contains(known, o.profiled) {
		return o, fmt.Errorf("-profile: there is no scenario %q; there are %s", o.profiled, strings.Join(known, ", "))
	}
	o.only, err = parseNames(only, known)
	return o, err
}

func parseSizes(list string) ([]int, error) {
	var sizes []int
	for text := range strings.SplitSeq(list, ",") {
		if text == "" {
			continue
		}
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 {
			return nil, fmt.Errorf("-sizes: %q is not a number of transfers", text)
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}

func parseNames(list string, known []string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name == "" {
			continue
		}
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-only: there is no scenario %q; there are %s", name, strings.Join(known, ", "))
		}
		names = append(names, name)
	}
	return names, nil
}

func join(sizes []int) string {
	texts := make([]string, len(sizes))
	for i, size := range sizes {
		texts[i] = strconv.Itoa(size)
	}
	return strings.Join(texts, ",")
}

// carryOut measures, writes and compares, as far as each is asked for.
func (o options) carryOut(ctx context.Context, stdout, stderr io.Writer) error {
	if o.compare != "" {
		return o.guard(ctx, stdout, stderr)
	}
	if o.profiled != "" {
		return o.profile(ctx, stdout, stderr)
	}
	from := o.json
	if o.json != "" || !o.markdown {
		if err := o.measure(ctx, stdout, stderr); err != nil {
			return err
		}
	}
	if from == "" {
		from = resultsFile
	}
	if !o.markdown {
		return nil
	}
	results, err := figures.Read(from)
	if err != nil {
		return err
	}
	return write(results)
}

// write brings the pages and their chart up to the results.
func write(results figures.Results) error {
	old := make([]string, len(figures.Pages))
	for i, name := range figures.Pages {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		old[i] = string(text)
	}
	pages, err := figures.Document(old, results)
	if err != nil {
		return fmt.Errorf("%s and its parts: %w", figures.Pages[0], err)
	}
	for i, name := range figures.Pages {
		if err := os.WriteFile(name, []byte(pages[i]), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(chartFile, []byte(figures.Chart(results)), 0o644)
}
