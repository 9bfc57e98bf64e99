//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"time"

	"remit/internal/bench/load"
)

// runPart is a process of its own that the bench starts: a floor, the service, the seed, or remit
// where it is profiled.
func runPart(ctx context.Context, name string, args []string, stdout io.Writer) error {
	if name == "profiled" {
		return runProfiled(ctx, args[0], args[1], args[2:], stdout)
	}
	if name == "pinned" {
		return runPinned(args[0], args[1:])
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	latency := flags.Duration("latency", 0, "how long an answer takes")
	keep := flags.Bool("keep", false, "remember every transfer")
	url := flags.String("url", "", "the service's address")
	at := flags.String("at", "", "when what is written was made; default now")
	inFlight := flags.Int("in-flight", 1, "how many requests at a time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	arg := func(i int) string { return flags.Arg(i) }
	switch name {
	case "floor-nothing":
		return nil
	case "floor-csv":
		return load.FloorCSV(stdout, arg(0), *keep)
	case "floor-scan":
		return load.FloorScan(ctx, stdout, arg(0))
	case "floor-journal":
		return load.FloorJournal(ctx, stdout, arg(0))
	case "floor-book":
		return load.FloorBook(ctx, stdout, arg(0))
	case "floor-records":
		return load.FloorRecords(stdout, arg(0))
	case "floor-plan-file":
		return load.FloorPlanFile(stdout, arg(0))
	case "floor-copy":
		return load.FloorCopy(arg(0))
	case "floor-format":
		return load.FloorFormat(stdout, arg(0))
	case "floor-http":
		return load.FloorHTTP(ctx, stdout, *url, arg(0), *inFlight)
	case "serve":
		return load.NewService(*latency, *keep, time.Now).Serve(ctx, stdout)
	case "seed", "seed-months":
		return runSeed(ctx, name, arg(0), arg(1), *at)
	}
	return fmt.Errorf("there is no such part")
}

// runSeed writes so many transfers into a state.
func runSeed(ctx context.Context, name, path, count, at string) error {
	size, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	now := time.Now
	if at != "" {
		paid, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			return err
		}
		now = func() time.Time { return paid }
	}
	if name == "seed-months" {
		return load.SeedMonths(ctx, path, size, now)
	}
	return load.Seed(ctx, path, size, now)
}
