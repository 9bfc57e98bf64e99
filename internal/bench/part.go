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
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	latency := flags.Duration("latency", 0, "how long an answer takes")
	keep := flags.Bool("keep", false, "remember every transfer")
	url := flags.String("url", "", "the service's address")
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
	case "floor-http":
		return load.FloorHTTP(ctx, stdout, *url, arg(0), *inFlight)
	case "serve":
		return load.NewService(*latency, *keep, time.Now).Serve(ctx, stdout)
	case "seed", "seed-months":
		size, err := strconv.Atoi(arg(1))
		if err != nil {
			return err
		}
		if name == "seed-months" {
			return load.SeedMonths(ctx, arg(0), size, time.Now)
		}
		return load.Seed(ctx, arg(0), size, time.Now)
	}
	return fmt.Errorf("there is no such part")
}
