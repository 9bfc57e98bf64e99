package cli

import (
	"github.com/spf13/cobra"

	"remit/internal/cli/exit"
	"remit/internal/tree"
	"remit/internal/view"
	"remit/planner"
)

func newStatus(p *process) *cobra.Command {
	var o planning
	all := recursion{asked: tree.Status, dir: &o.dir, exitOf: exitOfStatus}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is due now, what comes next, and what needs action",
		Long: "Show what is due now, what comes next, what is late, what waits and on what, and what is in\n" +
			"doubt. It takes no lock, needs no credentials and writes nothing.\n\n" +
			"Exit codes: 0 no action needed; 1 a mistake; 3 some were refused, failed or expired, or\n" +
			"are never sent as things are; 4 some are in doubt, unverified or in conflict, or have a status\n" +
			"at the service that remit does not know, or the state lacks events; 5 a control says no, such as to what is late.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isAll, err := all.isMeant(cmd); isAll || err != nil {
				if err != nil {
					return err
				}
				return all.run(cmd, p)
			}
			w, err := open(p, &o.dir)
			if err != nil {
				return err
			}
			var plan *planner.Plan
			var shown error
			err = exit.OrInterrupted(cmd.Context(), func() (err error) {
				if plan, err = o.plan(cmd.Context(), w); err == nil {
					shown = o.showStatus(w, plan)
				}
				return err
			})
			if err != nil {
				return o.planError(err)
			}
			code := exitOfStatus(plan)
			if w.state.MayLack {
				code = exit.Look
			}
			if shown != nil {
				return unshown(shown, code)
			}
			if code != exit.Done {
				return exit.Code(code)
			}
			return nil
		},
	}
	directoryFlags(&o.dir, cmd)
	all.flags(cmd)
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

// showStatus shows a plan as a status.
func (o *planning) showStatus(w *opened, plan *planner.Plan) error {
	if w.streams.AsJSON {
		lines := w.streams.JSON()
		lines.SetHere(o.screen(w, nil).Here)
		return lines.Status(plan)
	}
	return view.Status(w.streams.Out, plan, planOptions(w, o, nil))
}

// unshown is the error of a command that could not write its result, such as to a full disk. Where the result asks for a person, the
// exit code still does: a reader of nothing has the code alone. The code is that of the command without the error. A nil err
// becomes that code.
func unshown(err error, code int) error {
	switch {
	case code != exit.Look:
		return err
	case exit.IsUnread(err):
		return exit.Code(exit.Look) // nobody reads a complaint
	}
	return exit.WithCode(err, exit.Look)
}

// exitOfStatus is the exit code of the gravest group that needs a person; 0 where none does.
func exitOfStatus(plan *planner.Plan) int {
	code := exit.Done
	for _, s := range plan.StatusGroups() {
		switch of := exitOfGroup(s.Group); of {
		case exit.Look:
			return of
		case exit.Partial:
			code = of
		}
	}
	if !plan.Applicable() {
		return exitOf(plan.Obstacles)
	}
	return code
}

// exitOfGroup says whether a person should look at the transfers of a group.
func exitOfGroup(g planner.Group) int {
	switch g {
	case planner.GroupConflict, planner.GroupInDoubt, planner.GroupUnverified, planner.GroupUnknown:
		return exit.Look
	case planner.GroupFailed, planner.GroupSettled, planner.GroupRefused, planner.GroupExpired, planner.GroupNever:
		return exit.Partial
	case planner.GroupLate, planner.GroupPending, planner.GroupInFlight, planner.GroupDue, planner.GroupWaiting, planner.GroupNext:
	}
	return exit.Done
}
