package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/config/mistake"
	"remit/executor"
	"remit/internal/cli/workspace"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// testRun carries out one run of a test: it loads the configuration as the run has it, plans, applies where
// the run says so, and checks the asserts.
type testRun struct {
	dir     workspace.Directory
	process *process // quiet, with the time of the run
	run     *config.TestRun
	box     string // the directory of the state and the ledger

	config  *config.Configuration // nil before it is loaded
	plan    *planner.Plan         // nil before there is one
	summary *executor.Summary     // nil where nothing was applied
	found   hcl.Diagnostics       // mistakes, warnings, and obstacles of the plan
}

// transfersMax bounds the lines of a plan that a condition looks into at once.
const transfersMax = 100_000

// carryOut carries the run out and says how it ended and why.
func (t *testRun) carryOut(ctx context.Context) (view.TestStatus, hcl.Diagnostics) {
	if err := t.play(ctx); err != nil {
		return view.TestError, append(t.found, t.wrong("Run could not be carried out", err.Error()+"."))
	}
	unexpected, missing := t.run.Judge(t.found)
	diags := slices.Concat(unexpected, missing)
	switch {
	case t.plan == nil && unexpected.HasErrors():
		return view.TestError, diags
	case t.plan == nil && len(missing) > 0:
		return view.TestFail, diags
	case t.plan == nil && t.run.Asserts():
		return view.TestError, append(diags, t.wrong("There is no plan to look into",
			"A failure that the run expects keeps a plan from being made, so what the run asserts can't be told. Assert it in another run."))
	case t.plan == nil:
		return view.TestPass, diags
	}
	given, err := t.given()
	if err != nil {
		return view.TestError, append(diags, t.wrong("Plan cannot be looked into", err.Error()+"."))
	}
	failures, mistakes := t.run.Check(t.config, given)
	diags = slices.Concat(diags, mistakes, failures)
	switch {
	case mistakes.HasErrors():
		return view.TestError, diags
	case diags.HasErrors():
		return view.TestFail, diags
	}
	return view.TestPass, diags
}

// wrong is an error at the run.
func (t *testRun) wrong(summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &t.run.At}
}

// play does what the run says. Its findings are in t; an error is the world's.
func (t *testRun) play(ctx context.Context) error {
	options := t.dir.Options(t.process.ctx, t.process.host)
	options.Sandbox = true
	options.Assignments = slices.Concat(options.Assignments, t.run.Assignments)
	options.DataFiles = t.run.DataFiles
	t.config, t.found = config.Load(t.dir.Path, options)
	if t.found.HasErrors() {
		return nil
	}
	w := newOpened(t.process, t.dir, t.config)
	w.dir.Sandbox = true
	w.state.UseSandbox(t.box)
	w.service.OwnDay = true
	if t.run.Apply {
		return t.apply(ctx, w)
	}
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	return t.compare(ctx, snapshot)
}

// compare plans. Without a time of the run's own, nothing waits for its time.
func (t *testRun) compare(ctx context.Context, record planner.Record) error {
	o := planning{dir: t.dir}
	o.dir.Sandbox = true
	controls, err := o.controls(t.config)
	if err != nil {
		return err
	}
	controls.Rehearsal = t.run.Now.IsZero()
	now := t.run.Now
	if controls.Rehearsal {
		now = rehearsed()
	}
	var mistakes mistake.Set
	plan, err := planner.New(ctx, declared(ctx, t.config, &mistakes), record, controls, now.UTC())
	diags := mistakes.Diagnostics()
	t.found = append(t.found, diags...)
	if diags.HasErrors() {
		return nil
	}
	if err != nil {
		return err
	}
	plan.Header.PlanID = uuid.NewString()
	t.plan = plan
	t.found = append(t.found, t.obstacles()...)
	return nil
}

// obstacles are those of the plan, as failures of the blocks that they are about: the one that
// says no, else those of the transfers that are concerned.
func (t *testRun) obstacles() hcl.Diagnostics {
	blocks := map[string]string{} // by ref_id
	if !t.plan.Applicable() {
		for _, c := range t.plan.Changes.All() {
			blocks[c.RefID], _, _ = strings.Cut(c.Address, "[")
		}
	}
	var diags hcl.Diagnostics
	for _, o := range t.plan.Obstacles {
		about := map[string]bool{}
		for _, refID := range o.RefIDs {
			about[blocks[refID]] = true
		}
		if o.Address != "" || len(about) == 0 {
			about = map[string]bool{o.Address: true}
		}
		for _, address := range slices.Sorted(maps.Keys(about)) {
			diags = append(diags, mistake.Blame(t.wrong("Plan is not applicable", fmt.Sprintf("%s: %s", o.Kind, o.Detail)), address))
		}
	}
	return diags
}

// apply plans under the lock of the state of the run and sends the plan to its sandbox.
func (t *testRun) apply(ctx context.Context, w *opened) error {
	holder := t.process.host.Holder("remit test")
	holder.RunID = uuid.NewString()
	return w.state.Locked(ctx, holder, 0, func(journal state.Journal, snapshot state.Snapshot) error {
		if err := t.compare(ctx, snapshot); err != nil || t.plan == nil || !t.plan.Applicable() {
			return err
		}
		t.summary = &executor.Summary{}
		if t.plan.Empty() {
			return nil
		}
		a := applying{planning: planning{dir: *w.dir}, wait: waitDefault}
		connection, err := w.service.Connect(ctx, a.inFlightMax(w.config))
		if err != nil {
			return err
		}
		defer connection.Close()
		run := a.newRun(w, t.plan, journal, snapshot, holder, connection)
		run.Submitter = undatedSubmitter{run.Submitter}
		run.Settings.RateLimits = nil // they are the service's
		run.Handler = silentHandler{}
		*t.summary, err = executor.Apply(ctx, run)
		return err
	})
}

// undatedSubmitter hides the service's clock. A run of a test has a day of its own, which that clock would contradict.
type undatedSubmitter struct{ executor.Submitter }

// Ready returns the zero time, which says that the service gave none, with the error of the submitter.
func (u undatedSubmitter) Ready(ctx context.Context) (time.Time, error) {
	_, err := u.Submitter.Ready(ctx)
	return time.Time{}, err
}

// silentHandler drops every event.
type silentHandler struct{}

// Handle implements [executor.Handler].
func (silentHandler) Handle(executor.Event) {}

// given are the values that the asserts of the run look into.
func (t *testRun) given() (map[string]cty.Value, error) {
	wants := t.run.Wants("plan")
	if n := t.plan.Changes.Len(); wants("transfers") && n > transfersMax {
		return nil, fmt.Errorf("an assert looks into plan.transfers, of which there are %d; at most %d are looked into. Assert on plan.totals, or give the run less data by override_data", n, transfersMax)
	}
	plan, err := t.plan.Value(wants)
	if err != nil {
		return nil, err
	}
	given := map[string]cty.Value{"plan": plan}
	if t.summary != nil {
		given["outcomes"] = t.summary.Value()
	}
	return given, nil
}

// sources are the files of the configuration, of the data and of tests, by the names that
// diagnostics use.
func (t *testRun) sources(tests map[string]*hcl.File) map[string]*hcl.File {
	sources := maps.Clone(tests)
	if t.config != nil {
		maps.Copy(sources, t.config.Files())
	}
	return sources
}
