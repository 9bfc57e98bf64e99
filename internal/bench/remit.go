//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"remit/internal/bench/figures"
	"remit/internal/bench/load"
	"remit/internal/bench/measure"
)

// exitChanges is what plan --detailed-exitcode ends with where there is something to do.
const exitChanges = 2

// prepare makes a directory with a configuration of a form and a new state.
func (s *session) prepare(ctx context.Context, dir string, form load.Form, size int, url string) error {
	if err := load.WriteConfiguration(dir, form, size, url); err != nil {
		return err
	}
	_, err := s.exec(ctx, dir, s.remit("init"))
	return err
}

// preparing makes, once, the directory of a kind for a size.
func preparing(kind string, form load.Form) func(context.Context, *session, int) error {
	return func(ctx context.Context, s *session, size int) error {
		dir := s.dir(kind, size)
		return s.once(dir, func() error { return s.prepare(ctx, dir, form, size, "") })
	}
}

func prepareDeclared(ctx context.Context, s *session, size int) error {
	return preparing("declared", load.RemitRows)(ctx, s, size)
}

func prepareCSVDecode(ctx context.Context, s *session, size int) error {
	return preparing("csvdecode", load.RemitCSVDecode)(ctx, s, size)
}

func prepareBlocks(ctx context.Context, s *session, size int) error {
	return preparing("blocks", load.RemitBlocks)(ctx, s, size)
}

// prepareRecorded makes a directory whose transfers are all recorded, with two further files
// of rows.
func prepareRecorded(ctx context.Context, s *session, size int) error {
	if err := prepareDeclared(ctx, s, size); err != nil { // the floors read its rows
		return err
	}
	dir := s.dir("recorded", size)
	return s.once(dir, func() error {
		if err := s.prepare(ctx, dir, load.RemitRows, size, ""); err != nil {
			return err
		}
		if err := load.WriteRows(filepath.Join(dir, "shuffled.csv"), size, load.Shuffled); err != nil {
			return err
		}
		if err := load.WriteRows(filepath.Join(dir, "grown.csv"), size, load.Grown); err != nil {
			return err
		}
		_, err := s.exec(ctx, dir, []string{s.self, "seed", "-at", s.paidAt.Format(time.RFC3339Nano), filepath.Join(dir, "remit.db"), strconv.Itoa(size)})
		return err
	})
}

// prepareMonths makes a directory whose state has a history of months.
func prepareMonths(ctx context.Context, s *session, size int) error {
	dir := s.dir("months", size)
	return s.once(dir, func() error {
		if err := s.prepare(ctx, dir, load.RemitRows, 1, ""); err != nil {
			return err
		}
		if err := load.WriteRows(filepath.Join(dir, "rows.csv"), size, load.NextMonth); err != nil {
			return err
		}
		_, err := s.exec(ctx, dir, []string{s.self, "seed-months", filepath.Join(dir, "remit.db"), strconv.Itoa(size)})
		return err
	})
}

// planMonth plans the next month: as many transfers as each month of the history has, each the
// same movement as one of every month.
func planMonth(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.plan(ctx, s.dir("months", size), exitChanges)
}

// plan runs remit plan with a file to save to, which is new for each run.
func (s *session) plan(ctx context.Context, dir string, exit int, flags ...string) (figures.Sample, error) {
	out := filepath.Join(dir, fmt.Sprintf("%d.plan", s.number()))
	defer func() { _ = os.Remove(out) }()
	args := append([]string{"plan", "--detailed-exitcode", "--out", filepath.Base(out)}, flags...)
	return s.exec(ctx, dir, s.remit(args...), exit)
}

// planFirst plans transfers of which none is recorded.
func planFirst(kind string) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, size int) (figures.Sample, error) {
		return s.plan(ctx, s.dir(kind, size), exitChanges)
	}
}

// planRecorded plans transfers that are all recorded.
func planRecorded(file string) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, size int) (figures.Sample, error) {
		dir := s.dir("recorded", size)
		return s.exec(ctx, dir, s.remit("plan", "--detailed-exitcode", "--var=file="+file), 0)
	}
}

// planSignals plans a tenth more transfers than are recorded, some of which look like others.
func planSignals(ctx context.Context, s *session, size int) (figures.Sample, error) {
	accept := fmt.Sprintf("--accept-duplicates=payouts:%d", load.LookAlikes(size))
	return s.plan(ctx, s.dir("recorded", size), exitChanges, "--var=file=grown.csv", accept)
}

// treeParts is how many configurations a tree has.
const treeParts = 200

// prepareTree makes a tree of configurations that have the transfers of the size between them.
func prepareTree(ctx context.Context, s *session, size int) error {
	dir := s.dir("tree", size)
	return s.once(dir, func() error {
		for part := range treeParts {
			if err := s.prepare(ctx, treePart(dir, part), load.RemitRows, size/treeParts, ""); err != nil {
				return err
			}
		}
		return nil
	})
}

// treePart is the directory of one configuration of a tree: four of each entity.
func treePart(dir string, part int) string {
	return filepath.Join(dir, fmt.Sprintf("entity-%02d", part/4), fmt.Sprintf("payroll-%d", part%4))
}

// planParts plans the configurations of a tree one after the other. Its peak is that of the largest.
func planParts(ctx context.Context, s *session, size int) (figures.Sample, error) {
	var sum figures.Sample
	for part := range treeParts {
		one, err := s.exec(ctx, treePart(s.dir("tree", size), part), s.remit("plan", "--detailed-exitcode"), exitChanges)
		if err != nil {
			return sum, err
		}
		sum.CPU, sum.Wall, sum.Peak = sum.CPU+one.CPU, sum.Wall+one.Wall, max(sum.Peak, one.Peak)
	}
	return sum, nil
}

// planTree plans them side by side.
func planTree(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.exec(ctx, s.dir("tree", size), s.remit("plan", "--recursive", "--detailed-exitcode"), exitChanges)
}

// rehearse carries a plan out on paper.
func rehearse(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.exec(ctx, s.dir("declared", size), s.remit("apply", "--rehearse"))
}

// planProgress measures a plan whose standard error is a terminal.
func planProgress(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.watch(ctx, s.dir("declared", size), func() []string {
		return s.remit("plan", "--out", fmt.Sprintf("%d.plan", s.number()))
	}, 0)
}

// watch runs a command whose standard error is a terminal, and then interrupts one at another moment
// each time.
func (s *session) watch(ctx context.Context, dir string, args func() []string, exit int) (figures.Sample, error) {
	usage, first, err := measure.Watch(ctx, s.command(dir, args(), exit))
	if err != nil {
		return figures.Sample{}, err
	}
	after := usage.Wall * time.Duration(s.number()*37%90+5) / 100
	stop, err := measure.Interrupt(ctx, s.command(dir, args(), exit, 130), after)
	sample := sampleOf(usage)
	sample.First, sample.Stop = first.Seconds(), stop.Seconds()
	return sample, err
}

// apply sends every transfer, each with a state that is durable.
func apply(what serving, inFlight int) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, size int) (figures.Sample, error) {
		return s.metered(ctx, what, size, func(url string) (figures.Sample, error) {
			dir := s.dir("apply-"+strconv.Itoa(s.number()), size)
			defer func() { _ = os.RemoveAll(dir) }()
			if err := s.prepare(ctx, dir, load.RemitRows, size, url); err != nil {
				return figures.Sample{}, err
			}
			args := s.remit("apply", "--auto-approve", "--parallelism", strconv.Itoa(inFlight))
			if what.pinned {
				args = s.pinned(clientCore, args)
			}
			return s.exec(ctx, dir, args)
		})
	}
}

// part runs a part of this program.
func part(args ...string) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, _ int) (figures.Sample, error) {
		return s.exec(ctx, s.work, append([]string{s.self}, args...))
	}
}

// floorCSV reads the declared rows, or the grown ones.
func floorCSV(kind, file string, flags ...string) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, size int) (figures.Sample, error) {
		args := append([]string{"floor-csv"}, flags...)
		return part(append(args, filepath.Join(s.dir(kind, size), file))...)(ctx, s, size)
	}
}

func floorScan(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return part("floor-scan", filepath.Join(s.dir("recorded", size), "remit.db"))(ctx, s, size)
}

func floorHTTP(what serving, inFlight int) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, size int) (figures.Sample, error) {
		return s.metered(ctx, what, size, func(url string) (figures.Sample, error) {
			rows := filepath.Join(s.dir("declared", size), "rows.csv")
			args := []string{s.self, "floor-http", "-url", url, "-in-flight", strconv.Itoa(inFlight), rows}
			if what.pinned {
				args = s.pinned(clientCore, args)
			}
			return s.exec(ctx, s.work, args)
		})
	}
}
