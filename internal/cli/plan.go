package cli

import (
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

func newPlan(p *process) *cobra.Command {
	var o planning
	var out, into string
	var asJSON, detailed, refresh bool
	var lockTimeout time.Duration
	var sign signing
	all := recursion{asked: tree.Plan, dir: &o.dir}
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
			if all.isAsked {
				all.asJSON, all.into, all.exitOf = asJSON, into, func(plan *planner.Plan) int { return exitOfPlan(plan, detailed) }
				return all.run(cmd, p)
			}
			if into != "" && out != "" && samePath(o.dir.Within(into), o.dir.Within(out)) {
				return errors.New("--out and --json-into name one file; name another for one of them")
			}
			if err := writeInto(p.streams, &o.dir, into, asJSON); err != nil {
				return err
			}
			w, err := open(p, &o.dir, asJSON)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("out") && out == "" {
				return errors.New("--out is empty: it takes the name of a file. Is a variable of the shell not set?")
			}
			if err := checkPlanOut(w, out, o.expiresIn); err != nil {
				return err
			}
			if cmd.Flags().Changed("sign") && sign.key == "" {
				return errors.New("--sign is empty: it takes the name of a key's file. Is a variable of the shell not set?")
			}
			if err := sign.open(cmd.Context(), w, out); err != nil {
				return err
			}
			if cmd.Flags().Changed("lock-timeout") && !refresh {
				return errors.New("--lock-timeout goes with --refresh: without it, plan takes no lock")
			}
			var code int
			if refresh && (w.service.CanLookUp() || !w.service.SaysBalances()) {
				r := refreshing{dir: o.dir, asJSON: asJSON, lockTimeout: lockTimeout, words: "plan --refresh"}
				if code, err = r.carryOut(cmd.Context(), w); err != nil {
					return err
				}
				if code >= exit.Signal {
					return exit.Code(code)
				}
			}
			var plan *planner.Plan
			err = exit.OrInterrupted(cmd.Context(), func() (err error) {
				earlier, err := o.readEarlier(cmd, p, w)
				if err != nil {
					return err
				}
				if earlier != nil {
					earlier.declared = make([]bool, earlier.plan.Changes.Len())
					o.seen = earlier.watch
				}
				if plan, err = o.plan(cmd.Context(), w, asJSON); err != nil {
					return err
				}
				all := "plan --show=all"
				if out != "" { // what is saved is what there is to see
					o.all = showAllOf(out)
					all = strings.TrimPrefix(o.all, "remit ")
				}
				if err := o.compare(cmd.Context(), w, earlier, plan, all); err != nil {
					return err
				}
				return showPlan(w, plan, &o, asJSON)
			})
			if err == nil && refresh && w.service.SaysBalances() {
				err = o.noteFunds(cmd.Context(), w, plan, asJSON)
			}
			if err != nil {
				return o.planError(err)
			}
			if out != "" {
				w.streams.Begin("saving the plan")
				if err := sign.save(cmd.Context(), w, &o, plan, out, asJSON); err != nil {
					return o.planError(err)
				}
			}
			if code == exit.Done {
				code = exitOfPlan(plan, detailed)
			}
			if code != exit.Done {
				return exit.Code(code)
			}
			return nil
		},
	}
	o.flags(cmd)
	all.flags(cmd)
	o.againstFlag(cmd)
	practiceFlag(&o.dir, cmd)
	cmd.Flags().StringVar(&out, "out", "", "save the plan to this `file`, for apply")
	cmd.Flags().StringVar(&sign.key, "sign", "", "with --out: sign the plan as its author, with the key of this `file` or, without a file, with that of ssh-agent")
	cmd.Flags().Lookup("sign").NoOptDefVal = signByAgent
	cmd.Flags().DurationVar(&o.expiresIn, "expires-in", planExpiry, "how long a saved plan may be applied")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON Lines")
	intoFlag(cmd, &into)
	cmd.Flags().BoolVar(&refresh, "refresh", false, "first look up what is recorded as PENDING, under the lock, and record what became of it; show balances, where balance_path is known")
	cmd.Flags().DurationVar(&lockTimeout, "lock-timeout", 0, "with --refresh: how long to wait for another run's lock")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit 2 where there is something to do")
	return cmd
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
