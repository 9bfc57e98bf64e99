package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/internal/cli/exit"
	"remit/internal/tree"
	"remit/planner"
)

// planExpiry is how long a saved plan may be applied where --expires-in says nothing.
const planExpiry = 72 * time.Hour

// planCommand is one remit plan.
type planCommand struct {
	plan        planning
	sign        signing
	out, into   string
	detailed    bool
	refresh     bool
	lockTimeout time.Duration
}

func newPlan(p *process) *cobra.Command {
	var c planCommand
	all := recursion{asked: tree.Plan, dir: &c.plan.dir}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what an apply would do",
		Long: "Show what an apply would do. It takes no lock, needs no credentials and writes nothing but\n" +
			"the file that --out names. With --refresh it first does what remit refresh does, and shows\n" +
			"what the profiles that pay have, where the service says it. With --against it says what changed\n" +
			"since a plan that was reviewed.\n\n" +
			"Exit codes: 0 done; 1 a mistake; 4 a transfer is in conflict with what is recorded, or with\n" +
			"--refresh failed late; 5 a control says no; with --detailed-exitcode 2 where there is\n" +
			"something to do.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isAll, err := all.isMeant(cmd); isAll || err != nil {
				if err != nil {
					return err
				}
				all.into, all.out, all.plan, all.exitOf = c.into, c.out, &c.plan, func(plan *planner.Plan) int { return exitOfPlan(plan, c.detailed) }
				return all.run(cmd, p)
			}
			return c.run(cmd, p)
		},
	}
	c.plan.flags(cmd)
	all.flags(cmd)
	c.plan.againstFlag(cmd)
	practiceFlag(&c.plan.dir, cmd)
	cmd.Flags().StringVar(&c.out, "out", "", "save the plan to this `file`, for apply")
	cmd.Flags().StringVar(&c.sign.key, "sign", "", "with --out: sign the plan as its author, with the key of this `file` or, without a file, with that of ssh-agent")
	cmd.Flags().Lookup("sign").NoOptDefVal = signByAgent
	inputFlag(cmd, p.streams)
	cmd.Flags().DurationVar(&c.plan.expiresIn, "expires-in", planExpiry, "how long a saved plan may be applied")
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	intoFlag(cmd, &c.into)
	cmd.Flags().BoolVar(&c.refresh, "refresh", false, "first look up what is recorded as PENDING, under the lock, and record what became of it; show balances, where balance_path is known")
	cmd.Flags().DurationVar(&c.lockTimeout, "lock-timeout", 0, "with --refresh: how long to wait for another run's lock")
	cmd.Flags().BoolVar(&c.detailed, "detailed-exitcode", false, "exit 2 where there is something to do")
	return cmd
}

func (c *planCommand) run(cmd *cobra.Command, p *process) error {
	w, err := openInto(p, &c.plan.dir, c.into)
	if err != nil {
		return err
	}
	if err := c.check(cmd, w); err != nil {
		return err
	}
	if err := warnOfClient(w); err != nil {
		return err
	}
	code, err := c.refreshFirst(cmd.Context(), w)
	if err != nil {
		return err
	}
	if code >= exit.Signal {
		return exit.Code(code)
	}
	defer boundGarbage(w.host.Getenv)()
	plan, err := c.make(cmd, p, w)
	if err != nil {
		return c.unmade(plan, code, err)
	}
	if c.out != "" {
		w.streams.Begin("saving the plan")
		if err := c.sign.save(cmd.Context(), w, &c.plan, plan, c.out); err != nil {
			return c.plan.planError(err)
		}
	}
	if code == exit.Done {
		code = exitOfPlan(plan, c.detailed)
	}
	if code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// check refuses flags that could not be followed, before anything is planned.
func (c *planCommand) check(cmd *cobra.Command, w *opened) error {
	changed := cmd.Flags().Changed
	if changed("out") && c.out == "" {
		return errors.New("--out is empty: it takes the name of a file. Is a variable of the shell not set?")
	}
	if err := checkPlanOut(w.dir, w.state, c.out, c.plan.expiresIn); err != nil {
		return err
	}
	if changed("sign") && c.sign.key == "" {
		return errors.New("--sign is empty: it takes the name of a key's file. Is a variable of the shell not set?")
	}
	if err := c.sign.open(cmd.Context(), w, c.out); err != nil {
		return err
	}
	flags := c.plan.typed() + c.sign.flag()
	if changed("expires-in") {
		flags += " --expires-in=" + c.plan.expiresIn.String()
	}
	if err := checkKept(cmd.Context(), w, c.out, c.sign.author(), flags); err != nil {
		return err
	}
	if changed("lock-timeout") && !c.refresh {
		return errors.New("--lock-timeout goes with --refresh: without it, plan takes no lock")
	}
	return nil
}

// refreshFirst does the work of --refresh, and returns the exit code of that.
func (c *planCommand) refreshFirst(ctx context.Context, w *opened) (int, error) {
	if !c.refresh || !w.service.CanLookUp() && w.service.SaysBalances() {
		return exit.Done, nil
	}
	r := refreshing{dir: c.plan.dir, lockTimeout: c.lockTimeout, words: "plan --refresh"}
	return r.carryOut(ctx, w)
}

// make makes the plan and shows it, with the balances of profiles where --refresh asks for them.
func (c *planCommand) make(cmd *cobra.Command, p *process, w *opened) (plan *planner.Plan, err error) {
	o := &c.plan
	err = exit.OrInterrupted(cmd.Context(), func() (err error) {
		earlier, err := o.readEarlier(cmd, p, w.dir, w.config)
		if err != nil {
			return err
		}
		if earlier != nil {
			earlier.declared = make([]bool, earlier.plan.Changes.Len())
			o.seen = earlier.watch
		}
		if plan, err = o.plan(cmd.Context(), w); err != nil {
			return err
		}
		all := "plan --show=all" + o.typed()
		if c.out != "" { // the saved plan shows every line
			o.all = showAllOf(c.out)
			all = strings.TrimPrefix(o.all, "remit ")
		}
		if err := o.compare(cmd.Context(), w.state, earlier, plan, all); err != nil {
			return err
		}
		return showPlan(w, plan, o)
	})
	if err == nil && c.refresh && w.service.SaysBalances() {
		err = o.noteFunds(cmd.Context(), w, plan)
	}
	return plan, err
}

// unmade is the error of a plan that was not made, or not shown. The plan and the code of --refresh can ask for a person all the same.
func (c *planCommand) unmade(plan *planner.Plan, refreshed int, err error) error {
	var interrupt exit.Interrupt
	if refreshed == exit.Done && plan != nil && !errors.As(err, &interrupt) { // an interrupted one is still being made
		refreshed = exitOfPlan(plan, c.detailed)
	}
	return unshown(c.plan.planError(err), refreshed)
}

// exitOfPlan says whether a plan may be applied, and where isExact, whether it does something.
func exitOfPlan(plan *planner.Plan, isExact bool) int {
	switch {
	case !plan.Applicable():
		return exitOf(plan.Obstacles)
	case isExact && !plan.Empty():
		return exit.Changes
	}
	return exit.Done
}
