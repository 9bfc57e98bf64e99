package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/clock/boot"
	"remit/internal/files/wholefile"
	"remit/internal/view"
)

// testDirectory is where files of tests are found beside those of the configuration's own
// directory.
const testDirectory = "tests"

// tester is one remit test.
type tester struct {
	dir     workspace.Directory
	below   string // the directory of tests, relative to the configuration's
	isNamed bool   // below was given
	filter  []string
	junit   string
	verbose bool
}

// testFace shows the results of tests.
type testFace interface {
	Begin(file string) error
	Ran(run view.TestRun) error
	End(file string, worst view.TestStatus) error
	Counted(counts view.TestCounts) error
}

func newTest(p *process) *cobra.Command {
	var t tester
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Run the tests of the configuration",
		Long: "Run the tests of the configuration: the run blocks of its *.remittest.hcl files. Each run plans,\n" +
			"or applies in a sandbox of its own, and says what must be true of that. The state and the service\n" +
			"of the configuration are not touched.\n\n" +
			"Exit codes: 0 all passed; 1 some did not, or could not run.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("junit-xml") && t.junit == "" {
				return errors.New("--junit-xml is empty, which names no file. Is a variable of the shell not set?")
			}
			t.isNamed = cmd.Flags().Changed("test-directory")
			return t.run(cmd.Context(), p)
		},
	}
	configurationFlags(&t.dir, cmd)
	flags := cmd.Flags()
	flags.StringVar(&t.below, "test-directory", testDirectory, "find tests in this `directory` as well")
	flags.StringArrayVar(&t.filter, "filter", nil, "run the tests of this `file` only; may be repeated")
	flags.StringVar(&t.junit, "junit-xml", "", "write the results to this `file` as JUnit XML as well")
	flags.BoolVar(&t.verbose, "verbose", false, "show the plan of each run")
	flags.BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

func (t *tester) run(ctx context.Context, p *process) error {
	if p.streams.AsJSON {
		p.streams.JSON() // errors are told there too
	}
	p.streams.Here = t.dir.Here
	if err := t.dir.CheckDirectory(); err != nil {
		return err
	}
	if err := t.checkJUnit(); err != nil {
		return err
	}
	if t.isNamed {
		_, err := os.Stat(t.dir.Within(t.below))
		switch {
		case err == nil || !filepath.IsLocal(t.below):
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("--test-directory=%s: there is no such directory", t.below)
		default:
			return fmt.Errorf("--test-directory=%s: %w", t.below, err)
		}
	}
	tests, diags := config.LoadTests(t.dir.Path, t.below)
	if err := p.streams.ReportIn(tests.Sources(), diags); err != nil {
		return err
	}
	files, err := t.filtered(tests.Files)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		err := p.streams.ReportIn(nil, hcl.Diagnostics{{
			Severity: hcl.DiagWarning, Summary: "There are no tests",
			Detail: fmt.Sprintf("No name of a file ends in .remittest.hcl, neither here nor in %s.", t.below),
		}})
		if err != nil {
			return err
		}
	}
	var face testFace = view.NewTests(p.streams.Out, p.streams.Screen(p.streams.Out))
	if p.streams.AsJSON {
		face = p.streams.JSON()
	}
	ran, err := t.files(ctx, p, files, tests.Sources(), face)
	if err != nil {
		return err
	}
	return t.end(ran, face)
}

// checkJUnit refuses a file that --junit-xml must not replace.
func (t *tester) checkJUnit() error {
	if t.junit == "" {
		return nil
	}
	replaceable, err := isReplaceable(t.dir.Within(t.junit), view.JUnitStart)
	if err != nil {
		return fmt.Errorf("--junit-xml: %w", err)
	}
	if !replaceable || strings.HasSuffix(t.junit, ".hcl") {
		return fmt.Errorf("--junit-xml=%s: only a file of XML is replaced; name another file, such as results.xml", t.junit)
	}
	return nil
}

// filtered are the files that --filter names; all where it names none.
func (t *tester) filtered(files []config.TestFile) ([]config.TestFile, error) {
	if len(t.filter) == 0 {
		return files, nil
	}
	for _, name := range t.filter {
		if !slices.ContainsFunc(files, func(f config.TestFile) bool { return f.Name == name }) {
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
			}
			there := "there are none: no name of a file ends in .remittest.hcl, neither here nor in tests"
			if len(names) > 0 {
				there = "there are: " + strings.Join(names, ", ")
			}
			return nil, fmt.Errorf("--filter=%s is no file of tests; %s", name, there)
		}
	}
	return slices.DeleteFunc(files, func(f config.TestFile) bool { return !slices.Contains(t.filter, f.Name) }), nil
}

// files carries out the runs of each file, in order.
func (t *tester) files(ctx context.Context, p *process, files []config.TestFile, sources map[string]*hcl.File, face testFace) ([]view.TestRun, error) {
	var all []view.TestRun
	for _, file := range files {
		if err := face.Begin(file.Name); err != nil {
			return nil, err
		}
		ran, err := t.file(ctx, p, file, sources, face)
		if err != nil {
			return nil, err
		}
		all = append(all, ran...)
		if err := face.End(file.Name, worst(ran)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// file carries out the runs of a file, which share a state that begins empty. After an apply
// that did not take place, or ended with an error, the others are skipped: what they begin from
// is not what it should be.
func (t *tester) file(ctx context.Context, p *process, file config.TestFile, sources map[string]*hcl.File, face testFace) ([]view.TestRun, error) {
	box, err := os.MkdirTemp("", "remit-test-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the sandbox: %w", err)
	}
	defer func() { _ = os.RemoveAll(box) }() // it is in the system's directory for such
	var all []view.TestRun
	lost := false // the state is not what later runs begin from
	for i := range file.Runs {
		run := &file.Runs[i]
		var played *testRun
		ran := view.TestRun{File: file.Name, Name: run.Name, Line: run.At.Start.Line, Status: view.TestSkip}
		if !lost {
			begun := p.host.Now()
			played = &testRun{dir: t.dir, run: run, process: t.quiet(p, run), box: box}
			ran.Status, ran.Diagnostics = played.carryOut(ctx)
			ran.Took = p.host.Now().Sub(begun)
			lost = run.Apply && (played.summary == nil || ran.Status == view.TestError)
			if ctx.Err() != nil {
				return nil, exit.Interrupted("while the tests ran")
			}
			ran.Sources = played.sources(sources)
		}
		if err := face.Ran(ran); err != nil {
			return nil, err
		}
		if err := t.show(p, played); err != nil {
			return nil, err
		}
		all = append(all, ran)
	}
	return all, nil
}

// show shows the plan of a run, where that is asked for and there is one.
func (t *tester) show(p *process, played *testRun) error {
	if !t.verbose || played == nil || played.plan == nil {
		return nil
	}
	o := view.PlanOptions{Screen: p.streams.Screen(p.streams.Out), Sandbox: true, ShowAll: true, Names: played.config.ProfileNames()}
	if p.streams.AsJSON {
		return p.streams.JSON().Plan(played.plan, o)
	}
	return view.Plan(p.streams.Out, played.plan, o)
}

// worst is the worst status of runs.
func worst(runs []view.TestRun) view.TestStatus {
	status := view.TestPass
	order := []view.TestStatus{view.TestPass, view.TestSkip, view.TestFail, view.TestError}
	for _, run := range runs {
		if slices.Index(order, run.Status) > slices.Index(order, status) {
			status = run.Status
		}
	}
	return status
}

// end counts the runs and writes the file of --junit-xml.
func (t *tester) end(ran []view.TestRun, face testFace) error {
	counts := view.TestCounts{}
	for _, run := range ran {
		counts[run.Status]++
	}
	if err := face.Counted(counts); err != nil {
		return err
	}
	if t.junit != "" {
		err := wholefile.Replace(t.dir.Within(t.junit), 0o644, func(w io.Writer) error { return view.JUnit(w, ran) })
		if err != nil {
			return fmt.Errorf("--junit-xml: %w", err)
		}
	}
	if !counts.Passed() {
		return exit.Code(exit.Error)
	}
	return nil
}

// quiet is a process that shows nothing and whose time is that of a run: it goes on from the
// run's now, so that waiting transfers can end.
func (t *tester) quiet(p *process, run *config.TestRun) *process {
	begun, now := p.host.Now(), run.Now
	if now.IsZero() {
		now = rehearsed()
	}
	at := func() time.Time { return now.Add(p.host.Now().Sub(begun)).UTC() }
	return newProcess(p.ctx, Machine{Now: at, Boot: noBoot}, strings.NewReader(""), io.Discard, io.Discard, p.host.LookupEnv)
}

// rehearsed is the time of runs that say none. It is always the same, so that a test says next
// year what it says today.
func rehearsed() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// noBoot is the reading of a machine that tells no time since its boot: a run of a test has a day of its
// own, of which that clock knows nothing.
func noBoot() boot.Reading { return boot.Reading{} }
