package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/doubt"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// planning is what plan and a direct apply are told about the plan to make.
type planning struct {
	dir workspace.Directory
	controlFlags
	author    string
	show      string
	reviewed  bool   // approvers signed exactly the plan that is shown
	all       string // the command that lists all of a saved plan; "" for a plan that is made
	expiresIn time.Duration

	against string        // a saved plan with which the plan is compared; "" for none
	before  *view.Against // nil where there is none

	seen func(*config.Transfer) // is told of each declared transfer; nil for nobody

	approvals []view.Approval // what the rules that apply ask of the plan
	noTier    []string        // assets that they forgot
	noLimit   []string        // assets that the limits forgot
	finishing string          // the command that goes on with the plan where it needs approvers; "" where it needs none
}

func (o *planning) flags(cmd *cobra.Command) {
	directoryFlags(&o.dir, cmd)
	o.declare(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.author, "author", "", "who made the plan, self-declared (user.email of your own git configuration, or the system's user)")
	wordFlag(flags, &o.show, "show", "with `all`, list every transfer however many there are, and those no longer declared", "all")
}

// controls reads the flags into what the planner takes.
func (o *planning) controls(loaded *config.Configuration) (planner.Controls, error) {
	c := controlsOf(loaded, o.dir.Sandbox)
	c.OverrideLimit, c.AllowEmpty, c.AcceptDuplicate, c.Targets = o.overrideLimit, o.allowEmpty, o.acceptDuplicate, o.targets
	c.AcceptDuplicates, c.AcceptRenames, c.AcceptLate = make(map[string]int), make(map[string]int), o.acceptLate
	if o.acceptLate < 0 {
		return c, fmt.Errorf("--accept-late=%d is no number of occurrences", o.acceptLate)
	}
	for _, by := range []struct {
		flag, example string
		given         []string
		counts        map[string]int
	}{
		{"--accept-duplicates", "BATCH:COUNT, such as payroll:2", o.acceptDuplicates, c.AcceptDuplicates},
		{"--accept-renames", "BLOCK:COUNT, such as transfer.internal.payroll:2", o.acceptRenames, c.AcceptRenames},
	} {
		for _, text := range by.given {
			name, count, ok := cutCount(text)
			if !ok {
				return c, fmt.Errorf("%s=%s is not %s", by.flag, text, by.example)
			}
			by.counts[name] = count
		}
	}
	return c, nil
}

// cutCount reads NAME:COUNT. A name may have colons.
func cutCount(text string) (name string, count int, ok bool) {
	cut := strings.LastIndexByte(text, ':')
	if cut <= 0 {
		return "", 0, false
	}
	count, err := strconv.Atoi(text[cut+1:])
	return text[:cut], count, err == nil && count >= 0
}

// controlsOf are those of a configuration, without what a person accepts.
func controlsOf(loaded *config.Configuration, sandbox bool) planner.Controls {
	service := loaded.Service
	return planner.Controls{
		Declared: loaded.Controls(), Batches: loaded.Batches, Scales: loaded.Scales(), Rehearsal: sandbox, Operator: service.Operator,
		Lookup: sandbox || service.LookupPath != "", HoldDoubt: service.HoldDoubt,
	}
}

// make plans the declared transfers against a record. Mistakes in the rows are shown; the error
// then is an exit code.
func (o *planning) make(ctx context.Context, w *opened, snapshot state.Snapshot) (*planner.Plan, error) {
	controls, err := o.controls(w.config)
	if err != nil {
		return nil, err
	}
	var mistakes mistake.Set
	controls.TooOld = tooOld(ctx, w, snapshot)
	record := counted{snapshot, w.streams.Begin("reading the state")}
	defer w.streams.Quiet()
	defer boundGarbage(w.host.Getenv)()
	schedules, transfers := make(map[string]bool), declared(ctx, w.config, &mistakes)
	if len(w.config.Schedules) > 0 {
		transfers = noting(schedules, transfers)
	}
	plan, err := planner.New(ctx, o.watched(counting(w.streams, transfers)), record, controls, w.host.Now().UTC())
	if diags := mistakes.Diagnostics(); diags.HasErrors() || err == nil {
		if !w.dir.Sandbox { // a rehearsal is at no time
			diags = append(diags, config.Ending(w.config, func(name string) bool { return schedules[name] }, w.host.Now())...)
		}
		if err := w.streams.Report(w.config, diags); err != nil {
			return nil, err
		}
	}
	if err == nil && o.show != "" {
		err = plan.DescribeUndeclared(ctx, record)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, o.planError(err)
	}
	h := &plan.Header
	h.ToolVersion = readVersion().Version
	h.PlanID = uuid.NewString()
	h.ReadWarnings = config.ReadWarnings(w.config)
	h.Author = o.authorName(w.host)
	h.Expires = h.Created.Add(o.expiresIn)
	if o.expiresIn == 0 {
		h.Expires = time.Time{}
	}
	return plan, nil
}

// noting notes the schedules for whose dates transfers are made.
func noting(schedules map[string]bool, declared iter.Seq[config.Transfer]) iter.Seq[config.Transfer] {
	return func(yield func(config.Transfer) bool) {
		for t := range declared {
			if t.Occurrence != nil {
				schedules[t.Occurrence.Schedule] = true
			}
			if !yield(t) {
				return
			}
		}
	}
}

// watched passes each declared transfer to o.seen on its way.
func (o *planning) watched(declared iter.Seq[config.Transfer]) iter.Seq[config.Transfer] {
	if o.seen == nil {
		return declared
	}
	return func(yield func(config.Transfer) bool) {
		for t := range declared {
			o.seen(&t)
			if !yield(t) {
				return
			}
		}
	}
}

func (o *planning) planError(err error) error {
	var interrupt exit.Interrupt
	if errors.As(err, &interrupt) {
		return exit.Code(exit.Signal + int(interrupt.Signal))
	}
	return err
}

// authorName is what a plan says of who made it.
func (o *planning) authorName(h *host.Host) string {
	if o.author != "" {
		return o.author
	}
	if email := gitEmail(h, o.dir.Path); email != "" {
		return email
	}
	if account, err := user.Current(); err == nil {
		return account.Username
	}
	return h.Getenv("USER")
}

// planOptions say how to show a plan of these targets to the reader of stdout.
func planOptions(w *opened, o *planning, targets []string) view.PlanOptions {
	all := o.all
	if all == "" && o.typed() != "" {
		all = allLines + o.typed()
	}
	return view.PlanOptions{
		Screen: o.screen(w, targets), Sandbox: w.dir.Sandbox, ShowAll: o.show == "all",
		Names: w.config.ProfileNames(), Approvals: o.approvals, NoTier: o.noTier, NoLimit: o.noLimit, Against: o.before, All: all, MayLack: w.state.MayLack, Reviewed: o.reviewed,
	}
}

// allLines is the command that lists each line of a plan that is made.
const allLines = "remit plan --show=all"

// partScreen is a screen on which commands that plan again, or apply, are of the part that targets name, and an apply is
// under the same practice.
func partScreen(screen view.Screen, dir *workspace.Directory, targets []string) view.Screen {
	here := screen.Here
	if here == nil {
		return screen
	}
	screen.Here = func(command string) string {
		if command == doubt.Apply {
			return here(command + flagWords("target", targets) + dir.PracticeWord())
		}
		switch command {
		case "remit plan", allLines:
			command += flagWords("target", targets)
		}
		return here(command)
	}
	return screen
}

// showAllOf is the command that lists each transfer of a saved plan.
func showAllOf(file string) string { return "remit show --show=all " + shell.File(file) }

func showPlan(w *opened, plan *planner.Plan, o *planning) error {
	if err := tellCommitted(w); err != nil {
		return err
	}
	for _, unused := range plan.Unused {
		if _, err := fmt.Fprintf(w.streams.Err, "Notice: --%s accepted nothing.\n", view.Visible(unused)); err != nil {
			return err
		}
	}
	if w.streams.WantsLines() {
		if err := w.streams.JSON().Plan(plan, planOptions(w, o, plan.Header.Targets)); w.streams.AsJSON || err != nil {
			return err
		}
	}
	return view.Plan(w.streams.Out, plan, planOptions(w, o, plan.Header.Targets))
}

// plan reads the state and plans.
func (o *planning) plan(ctx context.Context, w *opened) (*planner.Plan, error) {
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	plan, err := o.make(ctx, w, snapshot)
	if err != nil {
		return nil, err
	}
	if err := tellWrongClocks(ctx, w, snapshot); err != nil {
		return nil, err
	}
	return plan, o.findNeeds(ctx, w, snapshot, plan, "")
}

// counted is a record whose transfers are counted while a plan reads them.
type counted struct {
	planner.Record
	read *terminal.Step
}

// Unwrap returns the record itself.
func (c counted) Unwrap() planner.Record { return c.Record }

// Outlines yields those of the record, each counted before it is used.
func (c counted) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		for t, err := range c.Record.Outlines(ctx) {
			c.read.Add(1)
			if !yield(t, err) {
				return
			}
		}
	}
}

// counting counts declared transfers as they pass.
func counting(streams *terminal.Streams, declared iter.Seq[config.Transfer]) iter.Seq[config.Transfer] {
	return func(yield func(config.Transfer) bool) {
		read := streams.Begin("reading the declaration")
		for t := range declared {
			read.Add(1)
			if !yield(t) {
				return
			}
		}
		streams.Begin("comparing the declaration with the state")
	}
}

// declared streams the transfers to consume and gathers their mistakes. The caller
// looks at the mistakes afterwards.
func declared(ctx context.Context, loaded *config.Configuration, mistakes *mistake.Set) func(func(config.Transfer) bool) {
	return func(yield func(config.Transfer) bool) {
		for transfer, diags := range loaded.Transfers(ctx) {
			mistakes.Add(diags)
			if ctx.Err() != nil {
				if !diags.HasErrors() { // the configuration has not noticed yet
					mistakes.Add(config.Interrupted())
				}
				return
			}
			if len(diags) == 0 && !yield(transfer) {
				return
			}
		}
	}
}
