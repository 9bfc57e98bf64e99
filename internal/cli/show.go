package cli

import (
	"context"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

func newShow(p *process) *cobra.Command {
	o := planning{source: source{need: config.NeedState}}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [PLAN]",
		Short: "Show a saved plan, or what the state has",
		Args:  oneArgAtMost("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.checkShow(); err != nil {
				return err
			}
			if len(args) == 0 {
				w, err := p.open(&o.source, asJSON)
				if err != nil {
					return err
				}
				return w.listState(cmd.Context(), asJSON)
			}
			loaded, err := p.load(&o.source, asJSON)
			if err != nil {
				return err
			}
			w := &workspace{process: p, source: o.source, config: loaded} // a plan is whole without its state
			plan, err := w.openPlan(args[0])
			if err != nil {
				return err
			}
			options := w.planOptions(&o)
			options.Saved = true
			options.All = "remit show --show=all " + quote(args[0])
			options.Sandbox = isForSandbox(plan)
			if asJSON {
				return p.json().Plan(plan, options)
			}
			return view.Plan(p.stdout, plan, options)
		},
	}
	o.source.flags(cmd)
	cmd.Flags().StringVar(&o.show, "show", "", "with `all`, list every transfer however many there are")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON Lines")
	return cmd
}

// isForSandbox reports whether a plan was made with --sandbox.
func isForSandbox(plan *planner.Plan) bool {
	return plan.Header.Service == state.SandboxIdentity()
}

// listState writes a line for each transfer that the state has.
func (w *workspace) listState(ctx context.Context, asJSON bool) error {
	snapshot, done, err := w.read(ctx)
	if err != nil {
		return err
	}
	defer done()
	if asJSON {
		return w.json().StateList(snapshot.Transfers(ctx))
	}
	return view.StateList(w.stdout, snapshot.Transfers(ctx), w.screen(w.stdout))
}
