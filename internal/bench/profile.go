//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"remit/internal/cli"
)

// The kinds of profiles. Time and memory are profiled in processes of their own, since counting
// memory takes time.
const (
	profileCPU    = "cpu"    // where the time goes
	profileHeap   = "heap"   // memory at the moment at which most is held
	profileAllocs = "allocs" // all allocations, until the end
)

// profiling has remit's processes write profiles. Its zero value has none written.
type profiling struct {
	kind string // profileCPU, or profileHeap for both kinds that are of memory
	path string // without the command's name, the kind and the extension
}

// remit is a command line of the program under measurement.
func (s *session) remit(args ...string) []string {
	if s.profiling.kind == "" || args[0] == "init" {
		return append([]string{s.program}, args...)
	}
	return append([]string{s.self, "profiled", s.profiling.kind, s.profiling.path}, args...)
}

// profile runs the scenario that o names and has it write its profiles.
func (o options) profile(ctx context.Context, stdout, stderr io.Writer) (err error) {
	s, err := begin(ctx, o, stderr)
	defer func() { err = errors.Join(err, s.end()) }()
	if err != nil {
		return err
	}
	sizes := o.sizes
	if sizes == nil {
		sizes = []int{profiledSize}
	}
	for _, size := range sizes {
		files, err := o.profileAt(ctx, s, size)
		if err := errors.Join(err, s.forget()); err != nil {
			return fmt.Errorf("profile %s at %d: %w", o.profiled, size, err)
		}
		for _, file := range files {
			if _, err := fmt.Fprintln(stdout, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// profiledSize is the size at which a scenario is profiled where -sizes names none.
const profiledSize = 100_000

// profileAt profiles one size, and returns the files that were written.
func (o options) profileAt(ctx context.Context, s *session, size int) ([]string, error) {
	all := scenarios()
	one := all[slices.IndexFunc(all, func(s scenario) bool { return s.name == o.profiled })]
	if !one.fits(size, true) {
		return nil, errors.New("it is not measured at that size; name another with -sizes")
	}
	dir, err := filepath.Abs(o.into)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	ready, err := s.ready(ctx, one, size)
	if err != nil || !ready {
		return nil, err
	}
	for turn := range o.runs {
		for _, kind := range []string{profileCPU, profileHeap} {
			s.profiling = profiling{kind, filepath.Join(dir, fmt.Sprintf("%s-%d-%d", one.name, size, turn+1))}
			sample, err := one.run(ctx, s, size)
			s.profiling = profiling{}
			if err != nil {
				return nil, err
			}
			s.say("%s, %d, %s profile %d of %d: %s", one.name, size, kind, turn+1, o.runs, sample)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%s-%d-*.pprof", one.name, size)))
	if err == nil && len(files) == 0 {
		err = errors.New("no process of remit runs in it")
	}
	return files, err
}

// runProfiled is remit, with profiles of what it does at path.COMMAND.KIND.pprof. It returns
// remit's exit code where that is not 0.
func runProfiled(ctx context.Context, kind, path string, args []string, stdout io.Writer) (err error) {
	path += "." + args[0]
	stop := stopCPU(path)
	if kind == profileHeap {
		stop = watchHeap(ctx, path)
	}
	defer func() { err = errors.Join(err, stop()) }()
	if code := cli.Run(ctx, args, os.Stdin, stdout, os.Stderr, os.LookupEnv); code != 0 {
		return exitCode(code)
	}
	return nil
}

// exitCode is what a part of the bench ends with where that says what it found.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// stopCPU begins to profile time, and returns the function that ends it.
func stopCPU(path string) func() error {
	runtime.MemProfileRate = 0
	var profile bytes.Buffer
	err := pprof.StartCPUProfile(&profile)
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(err, writeProfile(path, profileCPU, profile.Bytes()))
	}
}

const (
	heapRate  = 64 << 10             // bytes allocated from one sample to the next
	heapEvery = 5 * time.Millisecond // how often the heap is looked at
)

// watchHeap begins to profile memory, and returns the function that ends it.
func watchHeap(ctx context.Context, path string) func() error {
	runtime.MemProfileRate = heapRate
	ctx, cancel := context.WithCancel(ctx)
	highest := make(chan []byte)
	go func() { highest <- highestHeap(ctx) }()
	return func() error {
		cancel()
		var all bytes.Buffer
		err := pprof.Lookup(profileAllocs).WriteTo(&all, 0)
		return errors.Join(err, writeProfile(path, profileHeap, <-highest), writeProfile(path, profileAllocs, all.Bytes()))
	}
}

// highestHeap looks at the heap until ctx ends, and returns the profile of the moment at which
// most was held.
func highestHeap(ctx context.Context) []byte {
	var profile bytes.Buffer
	var most uint64
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticker := time.NewTicker(heapEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
		metrics.Read(live)
		if now := live[0].Value.Uint64(); now > most || profile.Len() == 0 {
			most = now
			profile.Reset()
			_ = pprof.Lookup(profileHeap).WriteTo(&profile, 0) // a buffer takes all
		}
	}
	return profile.Bytes()
}

func writeProfile(path, kind string, profile []byte) error {
	return os.WriteFile(strings.Join([]string{path, kind, "pprof"}, "."), profile, 0o644)
}
