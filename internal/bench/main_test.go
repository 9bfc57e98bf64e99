//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/bench/figures"
	"remit/internal/cli"
)

func TestScenariosAreWhole(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range scenarios() {
		if figures.Title(s.name) == "" || seen[s.name] || s.run == nil {
			t.Errorf("%q has no title or no run, or stands twice", s.name)
		}
		for _, name := range s.against {
			if !seen[name] {
				t.Errorf("%q is divided by %q, which does not stand before it", s.name, name)
			}
		}
		if s.guard > 0 && (len(s.against) == 0 || !s.fits(s.guard, false)) {
			t.Errorf("%q is watched at %d without a floor or a row there", s.name, s.guard)
		}
		seen[s.name] = true
	}
}

// TestWatchedRowsAreJudged fails where results.json lacks a row that -compare watches, which would never be found slower.
func TestWatchedRowsAreJudged(t *testing.T) {
	committed, err := figures.Read("results.json")
	if err != nil {
		t.Fatal(err)
	}
	if without := unjudged(committed); len(without) > 0 {
		t.Errorf("results.json has no ratio of %s", strings.Join(without, ", "))
	}
	var stderr bytes.Buffer
	none := filepath.Join(t.TempDir(), "none.json")
	if code := run(t.Context(), []string{"-compare", none}, io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "plan-first at 100000") {
		t.Errorf("results without rows: it ends with %d: %s", code, &stderr)
	}
}

func TestChosen(t *testing.T) {
	tests := map[string]struct {
		of   options
		size int
		want string
	}{
		"with its floors":         {options{only: []string{"plan-nothing"}}, 1000, "floor-csv floor-scan plan-nothing"},
		"with the floors' floors": {options{only: []string{"script-nothing"}}, 1000, "floor-csv floor-scan plan-nothing script-nothing"},
		"not at another size":     {options{only: []string{"plan-one"}}, 1000, ""},
		"only that size":          {options{}, 1, "floor-nothing plan-one"},
		"not where it is slow":    {options{only: []string{"terraform-first"}}, 5000, ""},
		"slow where asked for":    {options{only: []string{"terraform-first"}, slow: true}, 5000, "floor-csv floor-scan plan-first terraform-first"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, strings.Join(names(test.of.chosen(test.size)), " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-runs", "3", "-sizes", "1000,10000", "-only", "plan-one,plan-first", "-slow"}, io.Discard)
	if err != nil || o.runs != 3 || !o.slow || !cmp.Equal(o.sizes, []int{1000, 10000}) || !cmp.Equal(o.only, []string{"plan-one", "plan-first"}) {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{
		{"-profile", "nothing-known"}, {"-sizes", "many"}, {"-sizes", "0"}, {"-only", "nothing-known"}, {"-runs", "0"}, {"-sizes", "1", "2"}, {"-unknown"},
	} {
		if code := run(t.Context(), args, io.Discard, io.Discard); code != 2 {
			t.Errorf("bench %v ends with %d", args, code)
		}
	}
}

func TestWhatIsKeptIsPreparedOnce(t *testing.T) {
	dir, made := filepath.Join(t.TempDir(), "kept"), 0
	session := func(err error) (*session, error) {
		s := &session{prepared: make(map[string]bool), paidAt: time.Now().UTC()}
		if err := s.settle(options{keep: dir}); err != nil {
			t.Fatal(err)
		}
		recorded := s.dir("recorded", 10)
		return s, s.once(recorded, func() error {
			made++
			return errors.Join(os.Mkdir(recorded, 0o755), err)
		})
	}
	if _, err := session(errors.New("it broke off")); err == nil {
		t.Error("a directory that is half made counts as prepared")
	}
	first, err := session(nil)
	if err := errors.Join(err, first.forget(), first.end()); err != nil {
		t.Fatal(err)
	}
	second, err := session(nil)
	if err != nil || made != 2 || !second.paidAt.Equal(first.paidAt) {
		t.Errorf("%v; it was made %d times instead of twice, of %s and %s", err, made, first.paidAt, second.paidAt)
	}
	if _, err := os.Stat(second.dir("recorded", 10)); err != nil {
		t.Error(err)
	}
}

// asProgram has the test's own program be the bench and remit, which a test would have to build.
const asProgram = "BENCH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	args := os.Args[1:]
	switch {
	case os.Getenv(asProgram) == "":
		os.Exit(m.Run())
	case args[0] == "profiled":
		os.Exit(run(context.Background(), args, os.Stdout, os.Stderr))
	default:
		os.Exit(cli.Run(context.Background(), args, os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
	}
}

// TestProfilesAreWritten profiles a plan of a few transfers, and refuses a scenario that is no
// process of remit.
func TestProfilesAreWritten(t *testing.T) {
	t.Setenv(asProgram, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{work: t.TempDir(), program: self, self: self, prepared: make(map[string]bool), log: t.Output()}
	dir := filepath.Join(t.TempDir(), "into")
	o := options{profiled: "plan-first", into: dir, runs: 1}
	files, err := o.profileAt(t.Context(), s, 10)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, kind := range []string{profileAllocs, profileCPU, profileHeap} {
		want = append(want, filepath.Join(dir, "plan-first-10-1.plan."+kind+".pprof"))
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("the profile %s is empty: %v", file, err)
		}
	}
	o.profiled = "plan-one"
	if _, err := o.profileAt(t.Context(), s, 10); err == nil || !strings.Contains(err.Error(), "not measured at that size") {
		t.Errorf("one transfer is profiled as ten: %v", err)
	}
}

func TestUnknownPartFails(t *testing.T) {
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"nothing-known"}, io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "no such part") {
		t.Errorf("it ends with %d: %s", code, &stderr)
	}
}

func TestRowsOfDividesByWhatWasMeasured(t *testing.T) {
	all := closure(scenarios(), map[string]bool{"script-nothing": true, "plan-nothing": true})
	samples := map[string][]figures.Sample{
		"floor-csv": {{CPU: 1}}, "floor-scan": {{CPU: 2}}, "plan-nothing": {{CPU: 6}}, "script-nothing": {{CPU: 60}},
	}
	ratios := make(map[string]float64)
	for _, row := range rowsOf("s", 1000, all, samples) {
		ratios[row.Name] = row.Ratio.CPU
	}
	if diff := cmp.Diff(map[string]float64{"floor-csv": 0, "floor-scan": 0, "plan-nothing": 2, "script-nothing": 10}, ratios); diff != "" {
		t.Error(diff)
	}
}

// TestAnInterruptLeavesWhatWasMeasured has three scenarios, of which the second is interrupted.
func TestAnInterruptLeavesWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("interrupted")
	takes := func(cpu float64) func(context.Context, *session, int) (figures.Sample, error) {
		return func(context.Context, *session, int) (figures.Sample, error) { return figures.Sample{CPU: cpu}, nil }
	}
	s := &session{log: io.Discard}
	rows, err := s.measureAll(ctx, "now", 10, 1, []scenario{
		{name: "floor-csv", run: takes(1)},
		{name: "plan-first", against: []string{"floor-csv"}, run: takes(3)},
		{name: "plan-nothing", against: []string{"floor-csv"}, run: func(ctx context.Context, _ *session, _ int) (figures.Sample, error) {
			cancel(interrupt)
			return figures.Sample{}, ctx.Err()
		}},
		{name: "status", run: takes(1)},
	})
	if !errors.Is(err, interrupt) {
		t.Errorf("the error is %v", err)
	}
	var got []string
	for _, row := range rows {
		got = append(got, row.Name)
	}
	if diff := cmp.Diff([]string{"floor-csv", "plan-first"}, got); diff != "" {
		t.Error(diff)
	}
}
