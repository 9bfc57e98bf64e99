package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/workspace"
	"remit/internal/view"
	"remit/planner"
)

func newGraph(p *process) *cobra.Command {
	var o planning
	var format string
	cmd := &cobra.Command{
		Use:   "graph [PLAN]",
		Short: "Draw who would pay whom, and in which order",
		Long: "Draw who would pay whom how much, and in which order, as " + choice(graphFaces().usages()) + ": of a\n" +
			"saved plan, or without one of what an apply would do now. It takes no lock, needs no\n" +
			"credentials and writes nothing but the drawing.\n\n" +
			"Exit codes: 0 done, also where the plan is not applicable, which the drawing says; 1 a mistake.",
		Args: oneArgAtMost("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			face, _ := graphFaces().named(format) // the flag takes no other one
			var err error
			var w *opened
			var plan *planner.Plan
			if len(args) == 1 {
				w, plan, err = o.saved(cmd.Context(), p, args[0])
			} else {
				w, plan, err = o.now(cmd.Context(), p)
			}
			if err != nil {
				return err
			}
			return face.write(view.NewFlow(plan, w.config.ProfileNames()), p.streams.Out)
		},
	}
	directoryFlags(&o.dir, cmd)
	o.declare(cmd)
	names := graphFaces().names()
	format = names[0]
	wordFlag(cmd.Flags(), &format, "format", choice(append([]string{"`" + names[0] + "`"}, names[1:]...)), names...)
	return cmd
}

// saved reads a saved plan, which is whole without its state.
func (o *planning) saved(ctx context.Context, p *process, name string) (*opened, *planner.Plan, error) {
	if o.typed() != "" {
		return nil, nil, errors.New("a saved plan is drawn as it is: --target, --override-limit, --accept-… and --allow-empty are for what is planned now")
	}
	o.dir.Need = config.NeedState
	loaded, err := workspace.Load(p.ctx, p.host, p.streams, &o.dir)
	if err != nil {
		return nil, nil, err
	}
	w := newOpened(p, o.dir, loaded)
	plan, err := openPlan(ctx, w, name)
	return w, plan, err
}

// now plans.
func (o *planning) now(ctx context.Context, p *process) (*opened, *planner.Plan, error) {
	w, err := open(p, &o.dir)
	if err != nil {
		return nil, nil, err
	}
	plan, err := o.plan(ctx, w)
	return w, plan, err
}
