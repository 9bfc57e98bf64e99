package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/sandbox"
	"remit/internal/text/shell"
	"remit/internal/text/terraform"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// waitDefault is how long PENDING dependencies are polled where --wait says nothing.
const waitDefault = 2 * time.Minute

// applying is one remit apply.
type applying struct {
	planning     planning
	autoApprove  bool
	retryRefused bool

	acceptShortfall []string // profiles, by ID or by name
	fromBalances    bool     // a rehearsal begins with what the service says

	refresh     bool   // refused: only a plan asks the service first
	into        string // the file of JSON Lines
	parallelism int
	lockTimeout time.Duration
	wait        time.Duration
	waitFinal   bool // --wait was given: for all that the run records
	onRefusal   string
	faults      []string // of the sandbox
	digest      string   // the beginning of the digest of the plan that was approved; "" for none
	file        string   // the saved plan; "" where apply plans by itself
	declared    bool     // the saved plan is held against the files at hand
	rehearse    bool
	join        bool // take part in the run in progress
	monitoring  monitoring
	failover    failover
}

func newApply(p *process) *cobra.Command {
	var a applying
	cmd := &cobra.Command{
		Use:   "apply [PLAN]",
		Short: "Submit what is missing and record what comes back",
		Long: "Submit what is missing and record what comes back. With a saved plan it sends exactly\n" +
			"that plan or nothing; without one it plans, shows the plan and asks.\n\n" +
			"Exit codes: 0 done; 1 an error, nothing was sent; 3 some were refused, failed or not\n" +
			"attempted; 4 some are in doubt, unverified or in conflict, or the state lacks events:\n" +
			"check them, whatever else happened; 5 a control said no, nothing was sent; 129, 130, 143 interrupted, nothing\n" +
			"in doubt.",
		Args: oneArgAtMost("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "" {
				return errors.New("the name of the plan is empty; nothing was sent. Is a variable of the shell not set?")
			}
			if cmd.Flags().Changed("plan-digest") && a.digest == "" {
				return errors.New("--plan-digest is empty, which approves nothing; nothing was sent. Is a variable of the shell not set?")
			}
			if cmd.Flags().Changed("parallelism") && a.parallelism < 1 {
				return fmt.Errorf("--parallelism=%d is no number of requests; it takes 1 or more", a.parallelism)
			}
			a.waitFinal = cmd.Flags().Changed("wait")
			if len(args) == 1 {
				a.file = args[0]
			}
			if len(args) == 1 && !a.declared {
				a.planning.dir.Need = config.NeedControls // the plan carries its requests with it
			}
			a.monitoring.of = &a.planning.dir
			if err := a.monitoring.check(cmd, a.rehearse); err != nil {
				return err
			}
			if err := a.monitoring.checkMetrics(); err != nil {
				return err
			}
			if a.rehearse {
				return runRehearsal(cmd.Context(), &a, p)
			}
			a.monitoring.tellAtEnd(p)
			return a.run(cmd.Context(), p)
		},
	}
	applyFlags(cmd, p, &a)
	return cmd
}

func applyFlags(cmd *cobra.Command, p *process, a *applying) {
	a.planning.flags(cmd)
	practiceFlag(&a.planning.dir, cmd)
	flags := cmd.Flags()
	flags.BoolVar(&a.join, "join", false, "take part in the run in progress on PostgreSQL, or begin one where there is none and it is approved")
	flags.BoolVar(&a.declared, "declared", false, "with a saved plan: send it only if the files here declare each line of it, with the same fingerprint")
	flags.BoolVar(&a.autoApprove, "auto-approve", false, "don't ask")
	flags.StringVar(&a.digest, "plan-digest", "", "don't ask, and send only a plan whose `digest` is or begins so (32 characters or more); names are no part of it")
	saidOnce(cmd, "plan-digest")
	flags.BoolVar(&a.retryRefused, "retry-refused", false, "with --auto-approve or --plan-digest: submit again what was refused")
	flags.StringArrayVar(&a.acceptShortfall, "accept-shortfall", nil, "apply although the service says that this `PROFILE` has too little; may be repeated")
	flags.BoolVar(&a.fromBalances, "from-balances", false, "with --rehearse: begin with the balances that the service says")
	flags.BoolVar(&a.refresh, "refresh", false, "")
	if err := flags.MarkHidden("refresh"); err != nil { // it takes Terraform's --refresh=false, which changes nothing
		panic(err)
	}
	inputFlag(cmd, p.streams)
	flags.BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	intoFlag(cmd, &a.into)
	a.monitoring.flags(cmd)
	flags.IntVar(&a.parallelism, "parallelism", 0, "how many requests may be in flight (the service's max_in_flight)")
	flags.DurationVar(&a.lockTimeout, "lock-timeout", 0, "how long to wait for another run's lock")
	a.failover.flag(cmd)
	flags.DurationVar(&a.wait, "wait", waitDefault, "how long to wait for what others depend on; where it is given, for all that the run records to be COMPLETED or FAILED")
	flags.StringArrayVar(&a.faults, "fault", nil, "with --sandbox: misbehave, as `KIND=VALUE`, such as lost-answer=2%; may be repeated")
	flags.BoolVar(&a.rehearse, "rehearse", false, "send nothing: say which transfers would fail for lack of funds, and how low each balance goes")
	a.onRefusal = "continue"
	wordFlag(flags, &a.onRefusal, "on-refusal", "with `stop`, start nothing new after a refusal", "continue", "stop")
}

func (a *applying) run(ctx context.Context, p *process) error {
	if p.streams.AsJSON {
		p.streams.JSON() // errors are told there too
	}
	if err := a.check(p); err != nil {
		return err
	}
	if err := writeInto(p.streams, &a.planning.dir, a.into); err != nil {
		return err
	}
	if err := planElsewhere(&a.planning.dir, a.file, a.verb()); err != nil {
		return err
	}
	w, err := open(p, &a.planning.dir)
	if err != nil {
		return a.sandboxFirst(ctx, w, err)
	}
	if err := checkProtected(w, a.autoApprove && a.file == "", a.planning.typed()); err != nil {
		return err
	}
	if err := warnOfClient(w); err != nil {
		return err
	}
	a.monitoring.facts.opened, w.service.RunID = w, a.monitoring.facts.runID
	if err := a.monitoring.checkMetricsOf(a.monitoring.environment()); err != nil {
		return err
	}
	holder := p.host.Holder("remit apply")
	if a.join {
		return joinOrLead(ctx, a, w, holder)
	}
	holder.RunID = a.monitoring.facts.runID
	isLocked := false
	err = w.state.Locked(ctx, holder, a.lockTimeout, func(journal state.Journal, snapshot state.Snapshot) error {
		isLocked = true
		return a.locked(ctx, w, journal, snapshot, holder)
	})
	if !isLocked && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exit.Interrupted("before it held the state")
	}
	err = rideOut(ctx, a, w, err)
	if _, isHeld := errors.AsType[*state.LockedError](err); isHeld {
		words := same(a) + " --lock-timeout=5m"
		if a.digest != "" {
			words += " " + a.approval()
		}
		return exit.WithHint(err, a.planning.dir.CommandWithPractice(words))
	}
	return err
}

// again is what an apply of the same is typed as once more: a saved plan by its name.
func (a *applying) again() string {
	if a.file != "" {
		return a.verb() + " " + shell.File(a.file)
	}
	if plan := a.monitoring.facts.plan; plan != nil {
		return a.verb() + flagWords("target", plan.Header.Targets)
	}
	return a.verb() + a.planning.scoped()
}

// check refuses, before anything is done, an apply that could not be finished.
func (a *applying) check(p *process) error {
	if answer, known := terraform.Flag("refresh"); a.refresh && known {
		return exit.WithHint(errors.New(answer.Text), a.planning.dir.Here(answer.Next+a.planning.typed()))
	}
	if a.wait < 0 {
		return fmt.Errorf("--wait=%v is no length of time to wait; it takes 0s or more", a.wait)
	}
	if _, err := p.streams.Log(""); err != nil {
		return err
	}
	if err := cmp.Or(a.checkDigest(), a.failover.check()); err != nil {
		return err
	}
	if why := p.streams.Unasked(); why != "" && a.file == "" && !a.approved() && !a.join && hasConfiguration(a.planning.dir.Path) {
		return cannotAsk(a, why)
	}
	if a.fromBalances {
		return errors.New("--from-balances goes with --rehearse; an apply asks for balances by itself, where balance_path is known. Nothing was sent")
	}
	if a.join && (a.planning.dir.Sandbox || a.rehearse) {
		return errors.New("--join is for runs on PostgreSQL: the sandbox keeps its state in a file, and a rehearsal sends nothing; nothing was sent")
	}
	if len(a.faults) > 0 && !a.planning.dir.Sandbox {
		return errors.New("--fault is for --sandbox: a real service has its own")
	}
	if _, err := sandbox.ParseFaults(a.faults...); err != nil {
		return err
	}
	if a.declared && a.file == "" {
		return errors.New("--declared is for a saved plan: without one, apply plans what the files declare; nothing was sent")
	}
	if a.file != "" && a.planning.typed() != "" {
		return errors.New("a saved plan is applied as it is: --target, --override-limit, --accept-… and --allow-empty belong to plan")
	}
	return nil
}

// locked plans or reads the plan, asks, and carries it out, while no one else can write.
func (a *applying) locked(ctx context.Context, w *opened, journal state.Journal, snapshot state.Snapshot, holder state.Holder) error {
	seen := &countingSnapshot{Snapshot: snapshot}
	plan, err := a.plan(ctx, w, seen)
	if err != nil { // without a plan, or with a wrong one, the state is as it is
		return a.withLeftover(ctx, w, journal, seen, nil, err)
	}
	a.monitoring.facts.plan = plan
	return a.withLeftover(ctx, w, journal, seen, plan, a.planned(ctx, w, plan, journal, seen, holder))
}

// planned carries the plan out, if nothing forbids it. It settles doubts even where it sends nothing.
func (a *applying) planned(ctx context.Context, w *opened, plan *planner.Plan, journal state.Journal, seen *countingSnapshot, holder state.Holder) error {
	if err := a.otherDigest(plan); err != nil {
		return err
	}
	if !plan.Applicable() {
		return a.settleOnly(ctx, w, plan, journal, holder, exit.Code(exitOf(plan.Obstacles)))
	}
	if err := a.checkApprovals(w.dir, w.config, plan); err != nil {
		return err
	}
	if err := a.refusedBefore(plan); err != nil {
		return a.settleOnly(ctx, w, plan, journal, holder, err)
	}
	if err := a.tellLeft(w.streams, plan); err != nil {
		return err
	}
	if plan.Empty() {
		return errors.Join(a.tellNoShortfall(w.streams), tellUnfinished(a, w.streams, w.dir, seen))
	}
	if len(a.acceptShortfall) > 0 && !w.service.SaysBalances() {
		return errors.New("--accept-shortfall accepts nothing: there is no balance_path, so nobody is asked what a profile has; nothing was sent. Leave it away")
	}
	if err := a.ask(ctx, w.streams, w.service); err != nil {
		return err
	}
	connection, err := w.service.Connect(ctx, a.inFlightMax(w.config), a.faults...)
	if err != nil {
		return err
	}
	defer connection.Close()
	run := a.newRun(w, plan, journal, seen.Snapshot, holder, connection)
	remember := run.Prepare
	run.Prepare = func(ctx context.Context, begun *state.Begun) error {
		if err := remember(ctx, begun); err != nil {
			return err
		}
		if connection.Balances != nil {
			if err := a.fund(ctx, w, run, begun, seen.Snapshot, connection.Balances); err != nil {
				return err
			}
		}
		// While anybody reads an older view of a state in a file, its write-ahead log only grows. Nothing reads this one from here on.
		_ = seen.Close() // it was only read
		return nil
	}
	err = a.execute(ctx, w, run, executor.Apply)
	if short, ok := errors.AsType[*shortfall](err); ok {
		return a.settleOnly(ctx, w, plan, journal, holder, a.tooLittle(short))
	}
	return err
}

// plan makes the plan, or reads and checks the saved one, and shows it.
func (a *applying) plan(ctx context.Context, w *opened, snapshot state.Snapshot) (*planner.Plan, error) {
	if a.file != "" {
		return readSaved(ctx, a, w, snapshot)
	}
	plan, err := a.planning.make(ctx, w, snapshot)
	if err != nil {
		return nil, err
	}
	a.failover.whole = plan
	if plan.Header.Origin, err = originOf(w.dir, w.config); err != nil {
		return nil, err
	}
	if err := a.planning.findNeeds(ctx, w, snapshot, plan, ""); err != nil {
		return nil, err
	}
	return plan, showPlan(w, plan, &a.planning)
}

// readSaved reads the saved plan, checks it against the state, and shows the rest of it.
func readSaved(ctx context.Context, a *applying, w *opened, snapshot state.Snapshot) (*planner.Plan, error) {
	a.planning.all = showAllOf(a.file)
	saved, err := openSigned(ctx, w, a.file)
	if err != nil {
		return nil, err
	}
	plan := saved.Plan
	a.failover.whole, a.failover.isSaved = plan, true
	if err := a.checkPlace(plan); err != nil {
		return nil, err
	}
	if a.planning.dir.Sandbox && plan.Header.Lineage == "" {
		plan.Header.Lineage = snapshot.Meta().Lineage // planned before the sandbox had a state
	}
	if err := a.planning.findApprovals(w, plan, saved); err != nil {
		return nil, err
	}
	if !plan.Applicable() {
		verified, err := plan.Verify(ctx, state.Past{Snapshot: snapshot}, controlsOf(w.config, w.dir.Sandbox), w.host.Now())
		if err == nil {
			err = plan.CheckTime(w.host.Now())
		}
		if err != nil {
			return nil, unfit(ctx, w, useOf(a, plan), err)
		}
		return verified.Plan, showPlan(w, verified.Plan, &a.planning)
	}
	left, err := plan.Recheck(ctx, state.Past{Snapshot: snapshot}, controlsOf(w.config, w.dir.Sandbox), w.host.Now())
	if err != nil {
		return nil, unfit(ctx, w, useOf(a, plan), err)
	}
	if err := a.checkDeclared(ctx, w, plan, snapshot); err != nil {
		return nil, err
	}
	a.planning.reviewed = isReviewed(a.planning.approvals)
	return left, showPlan(w, left, &a.planning)
}

// isReviewed reports whether other people than the author signed a plan, and enough of them.
func isReviewed(approvals []view.Approval) bool {
	isMissing := slices.ContainsFunc(approvals, func(a view.Approval) bool { return len(a.Approvers) == 0 || !a.Enough() })
	return len(approvals) > 0 && !isMissing
}

// leavesRefused reports whether this apply submits nothing again that was refused before.
func (a *applying) leavesRefused() bool { return a.file == "" && a.approved() && !a.retryRefused }

// refusedBefore is why a plan that nobody reviews is not sent: all that it would send was refused before. A digest
// approves a plan as a whole, so there one line is enough.
func (a *applying) refusedBefore(plan *planner.Plan) error {
	if !a.leavesRefused() {
		return nil
	}
	n := countAgain(plan)
	isAll := n == plan.Count(planner.Submit)+plan.Count(planner.Resolve)
	if n == 0 || a.digest == "" && !isAll { // the run leaves those, and goes on with the others
		return nil
	}
	flag := "--auto-approve"
	if a.digest != "" {
		flag = "--plan-digest"
	}
	return exit.New(
		fmt.Errorf("%d of these were refused before. %s submits them again only with --retry-refused. Nothing was sent", n, flag),
		a.planning.dir.CommandWithPractice(same(a)+" "+a.approval()+" --retry-refused"), exit.Partial,
	)
}

// tellLeft says how many lines of the plan this apply leaves, because they were refused before.
func (a *applying) tellLeft(streams *terminal.Streams, plan *planner.Plan) error {
	n := countAgain(plan)
	if n == 0 || !a.leavesRefused() {
		return nil
	}
	_, err := fmt.Fprintf(streams.Err, "Notice: this apply leaves %d of these, which the service refused before. --auto-approve submits them again only with --retry-refused.\n", n)
	return err
}

// cannotAsk is why nobody is asked whether to submit, and how to go on.
func cannotAsk(a *applying, why string) error {
	return exit.WithHint(fmt.Errorf("cannot ask here (%s), so apply needs a saved plan, --plan-digest or --auto-approve; nothing was sent", why),
		a.planning.dir.CommandWithPractice("plan --out=FILE"+a.planning.typed()))
}

// ask gets a person's yes, or the flag that replaces it.
func (a *applying) ask(ctx context.Context, streams *terminal.Streams, service *workspace.Service) error {
	if a.file != "" || a.approved() {
		return nil
	}
	if why := streams.Unasked(); why != "" { // --join comes here
		return cannotAsk(a, why)
	}
	return streams.Confirm(ctx, "Do you want to submit these transfers to "+view.Visible(service.Destination())+"?", "apply was not approved. Nothing was sent")
}

func countAgain(plan *planner.Plan) int {
	n := 0
	for c, count := range plan.Changes.Kinds() {
		if c.Again && c.Action == planner.Submit {
			n += count
		}
	}
	return n
}

// settleOnly is what an apply of a plan that must not be applied, because of why, still does:
// it settles doubts by lookup.
func (a *applying) settleOnly(ctx context.Context, w *opened, plan *planner.Plan, journal state.Journal, holder state.Holder, why error) error {
	if !leavesDoubts(plan, why) || !w.service.CanLookUp() {
		return why
	}
	a.failover.whole = nil // another apply does the same
	connection, err := w.service.Connect(ctx, a.inFlightMax(w.config))
	if err != nil {
		return err
	}
	defer connection.Close()
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return w.state.Error(err)
	}
	run := a.newRun(w, plan, journal, snapshot, holder, connection)
	_ = snapshot.Close() // it was only read
	err = a.execute(ctx, w, run, executor.SettleByLookup)
	var ended exit.Code
	switch {
	case err != nil && !errors.As(err, &ended):
		return err
	case ended == exit.Look:
		return exit.WithCode(why, exit.Look)
	}
	return why
}

func (a *applying) inFlightMax(loaded *config.Configuration) int {
	if a.parallelism > 0 {
		return a.parallelism
	}
	return loaded.Service.InFlightMax
}

func (a *applying) newRun(w *opened, plan *planner.Plan, journal state.Journal, snapshot state.Snapshot, holder state.Holder, c *workspace.Connection) executor.Run {
	service := w.config.Service
	h, meta := plan.Header, snapshot.Meta()
	share, _ := journal.(state.Share) // a state in a file has none
	return executor.Run{
		Plan: plan, Saved: a.file != "", Share: share,
		Begun: state.Begun{
			RunID: holder.RunID, By: holder, PlanID: h.PlanID, Digest: plan.Digest,
			Author: h.Author, Controls: h.Controls, Accepted: h.Accepted,
			Environment: meta.Environment, Lineage: meta.Lineage, Service: meta.Service,
			Origin: h.Origin, PlanFile: a.file, PlanSHA256: plan.SHA256,
			Approvals:   journalled(a.planning.approvals),
			ControlList: controlList(h.ControlList),
		},
		Journal: journal, Submitter: c.Submitter, Finder: c.Finder,
		Settings: executor.Settings{
			Operator: service.Operator, FingerprintKey: service.FingerprintKey,
			ReplayWindow: service.ReplayWindow, HoldDoubt: service.HoldDoubt,
			LookUpFirst: c.Finder != nil && (!service.PrecheckNew || meta.Precheck),
			InFlightMax: a.inFlightMax(w.config), RequestTimeout: service.Timeout,
			RateLimits: workspace.RateLimits(service), StopOnRefusal: a.onRefusal == "stop", LeaveRefused: a.leavesRefused(), Wait: a.wait, WaitFinal: a.waitFinal,
		},
		Clock: w.host.Clock(), Random: rand.Float64,
		Prepare: func(_ context.Context, begun *state.Begun) error {
			if !w.dir.Sandbox {
				begun.AuthStyle = string(c.Client.AuthStyle())
			}
			return nil
		},
	}
}

// controlList are the controls of a plan as the journal keeps them.
func controlList(controls []config.ControlDigest) []state.ControlDigest {
	var list []state.ControlDigest
	for _, c := range controls {
		list = append(list, state.ControlDigest(c))
	}
	return list
}
