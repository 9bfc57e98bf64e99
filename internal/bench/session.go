//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"remit/internal/bench/figures"
	"remit/internal/bench/measure"
)

// session is one run of the bench: programs, directories and services that its scenarios
// share.
type session struct {
	work     string // holds all below, and is removed at the end unless it is kept
	kept     bool
	program  string // the program under measurement
	self     string // this program, for its parts
	restapi  string // path of the provider, "" where there is none
	services map[serving]*service
	prepared map[string]bool // directories, by path
	paidAt   time.Time       // when what the states have was made
	runs     int             // how many processes were run, which numbers what each makes
	log      io.Writer
	about    figures.Session

	profiling profiling
}

// begin builds remit and describes the machine. The session is to be ended, also after an
// error.
func begin(ctx context.Context, o options, log io.Writer) (*session, error) {
	s := &session{
		services: make(map[serving]*service), prepared: make(map[string]bool), log: log, restapi: o.restapi,
		paidAt: time.Now().UTC(),
	}
	err := s.settle(o)
	if err != nil {
		return s, err
	}
	if s.self, err = os.Executable(); err != nil {
		return s, err
	}
	s.program = filepath.Join(s.work, "remit")
	build := []string{"build", "-trimpath", "-o", s.program, "."}
	if o.compare != "" {
		build = slices.Delete(build, 1, 2) // what the tests built already is as fast
	}
	s.say("go %s", strings.Join(build, " "))
	if out, err := exec.CommandContext(ctx, "go", build...).CombinedOutput(); err != nil {
		return s, fmt.Errorf("build remit; the bench runs at the top of its repository: %w\n%s", err, out)
	}
	if err := measure.Cold(s.program); err != nil {
		return s, err
	}
	syncs, err := measure.Fsync(s.work)
	s.about = figures.Session{
		Machine: measure.Machine(), Kernel: measure.Kernel(), Go: runtime.Version(), Commit: commit(ctx),
		Fsync: 1000 * figures.Median(syncs),
	}
	return s, err
}

// settle makes the directory of the session, or takes the one that an earlier session left.
func (s *session) settle(o options) (err error) {
	if o.keep == "" {
		if s.work, err = os.MkdirTemp(o.work, "remit-bench-"); err == nil {
			s.work, err = filepath.Abs(s.work)
		}
		return err
	}
	if s.work, err = filepath.Abs(o.keep); err != nil {
		return err
	}
	s.kept = true
	path := filepath.Join(s.work, "paid-at")
	if text, err := os.ReadFile(path); err == nil {
		s.paidAt, err = time.Parse(time.RFC3339Nano, string(text))
		return err
	}
	if err := os.MkdirAll(s.work, 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(s.paidAt.Format(time.RFC3339Nano)), 0o644)
}

// end stops running processes and removes made files, unless they are kept.
func (s *session) end() error {
	var errs []error
	for _, running := range s.services {
		errs = append(errs, running.stop())
	}
	if s.work != "" && !s.kept {
		errs = append(errs, os.RemoveAll(s.work))
	}
	return errors.Join(errs...)
}

func (s *session) say(format string, values ...any) {
	_, _ = fmt.Fprintf(s.log, format+"\n", values...)
}

// commit names the measured commit.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(out))
}

// measureAll runs scenarios in turns at one size and returns a row of each. A scenario that cannot
// run on this machine is left out, with the reason; so is one that fails, and the error says so
// beside the rows of all others. After an interrupt they are those of what was measured until then.
func (s *session) measureAll(ctx context.Context, key string, size, runs int, all []scenario) ([]figures.Row, error) {
	var failed []error
	fail := func(one scenario, err error) {
		err = fmt.Errorf("%s at %d: %w", one.name, size, err)
		s.leaveOut("%s at %d failed", one.name, size)
		failed = append(failed, err)
	}
	var can []scenario
	for _, one := range all {
		ready, err := s.ready(ctx, one, size)
		if err != nil {
			fail(one, err)
		}
		if ready {
			can = append(can, one)
		}
	}
	samples := make(map[string][]figures.Sample)
	for turn := range runs {
		for i := 0; i < len(can); i++ {
			one := can[i]
			sample, err := one.run(ctx, s, size)
			if ctx.Err() != nil {
				can = slices.DeleteFunc(can, func(one scenario) bool { return len(samples[one.name]) == 0 })
				return rowsOf(key, size, can, samples), context.Cause(ctx)
			}
			if err != nil {
				fail(one, err)
				can = slices.Delete(can, i, i+1)
				i--
				continue
			}
			samples[one.name] = append(samples[one.name], sample)
			s.say("%s, %d, run %d of %d: %s", one.name, size, turn+1, runs, sample)
		}
	}
	return rowsOf(key, size, can, samples), errors.Join(failed...)
}

// ready prepares a scenario, and reports whether it can be run.
func (s *session) ready(ctx context.Context, one scenario, size int) (bool, error) {
	if one.needs != nil {
		if err := one.needs(s); err != nil {
			s.leaveOut("%s: %v", one.name, err)
			return false, nil
		}
	}
	if one.prepare == nil {
		return true, nil
	}
	s.say("%s, %d: prepare", one.name, size)
	if err := one.prepare(ctx, s, size); err != nil {
		return false, fmt.Errorf("prepare: %w", err)
	}
	return true, nil
}

func (s *session) leaveOut(format string, values ...any) {
	reason := fmt.Sprintf(format, values...)
	s.say("left out: %s", reason)
	if !slices.Contains(s.about.LeftOut, reason) {
		s.about.LeftOut = append(s.about.LeftOut, reason)
	}
}

// rowsOf sums up samples, and divides each row by those that it is compared with.
func rowsOf(key string, size int, all []scenario, samples map[string][]figures.Sample) []figures.Row {
	byName := make(map[string]figures.Row)
	var rows []figures.Row
	for _, one := range all {
		row := figures.NewRow(one.name, size, key, samples[one.name])
		byName[one.name] = row
		var others []figures.Row
		for _, name := range one.against {
			if other, ok := byName[name]; ok {
				others = append(others, other)
			}
		}
		if len(others) == len(one.against) {
			row.Divide(others...)
		}
		rows = append(rows, row)
	}
	return rows
}

// measure measures the scenarios that are asked for, size after size. After each size, and after an interrupt, it writes the -json
// file, so that a long session that ends early leaves what it has.
func (o options) measure(ctx context.Context, stdout, stderr io.Writer) (err error) {
	var results figures.Results
	if o.json != "" {
		if results, err = figures.Read(o.json); err != nil {
			return err
		}
	}
	s, err := begin(ctx, o, stderr)
	defer func() { err = errors.Join(err, s.end()) }()
	if err != nil {
		return err
	}
	sizes := o.sizes
	if sizes == nil {
		sizes = usualSizes(o.slow)
	}
	key := time.Now().UTC().Format(time.RFC3339)
	var failed []error
	for _, size := range sizes {
		rows, err := s.measureAll(ctx, key, size, o.runs, o.chosen(size))
		failed = append(failed, err)
		s.about.PeakLeast = float64(measure.OwnPeak()) / 1e6
		results.Put(key, s.about, rows...)
		if o.json != "" {
			if err := results.Write(o.json); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(stdout, figures.Plain(rows)); err != nil {
			return err
		}
		if err := s.forget(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// forget removes the files of a size, which may be gigabytes, unless they are kept.
func (s *session) forget() error {
	if s.kept {
		return nil
	}
	for dir := range s.prepared {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	clear(s.prepared)
	return nil
}

// guardAt measures the watched rows of one size, and those that seem slower once more.
func (s *session) guardAt(ctx context.Context, size, runs int, committed figures.Results, stdout io.Writer) ([]figures.Regression, error) {
	again := guarded(size)
	var found []figures.Regression
	for range 2 {
		rows, err := s.measureAll(ctx, "now", size, runs, again)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(stdout, figures.Plain(rows)); err != nil {
			return nil, err
		}
		found = figures.Compare(committed, rows)
		if len(found) == 0 {
			break
		}
		wanted := make(map[string]bool)
		for _, f := range found {
			wanted[f.Name] = true
		}
		again = closure(scenarios(), wanted)
	}
	return found, nil
}

// unjudged are the watched rows that committed results have no ratio of.
func unjudged(committed figures.Results) []string {
	var without []string
	for _, one := range scenarios() {
		if one.guard == 0 {
			continue
		}
		if row, ok := committed.Row(one.name, one.guard); !ok || row.Ratio.IsZero() {
			without = append(without, fmt.Sprintf("%s at %d", one.name, one.guard))
		}
	}
	return without
}

// guard measures the watched rows against the committed results. A row that seems slower is
// measured once more before it is called so.
func (o options) guard(ctx context.Context, stdout, stderr io.Writer) (err error) {
	committed, err := figures.Read(o.compare)
	if err != nil {
		return err
	}
	if without := unjudged(committed); len(without) > 0 {
		return fmt.Errorf("%s has no ratio to judge these by; measure them into it with -json, -only and -sizes: %s", o.compare, strings.Join(without, ", "))
	}
	s, err := begin(ctx, o, stderr)
	defer func() { err = errors.Join(err, s.end()) }()
	if err != nil {
		return err
	}
	var slower []figures.Regression
	for _, size := range []int{1, 10_000, 100_000} {
		found, err := s.guardAt(ctx, size, o.runs, committed, stdout)
		if err != nil {
			return err
		}
		slower = append(slower, found...)
	}
	for _, f := range slower {
		if _, err := fmt.Fprintf(stdout, "slower: %s, %d transfers: %s\n", f.Name, f.Size, f.What); err != nil {
			return err
		}
	}
	if len(slower) > 0 {
		return fmt.Errorf("%d rows are more than %g times as slow or large as in %s", len(slower), figures.Tolerance, o.compare)
	}
	return nil
}
