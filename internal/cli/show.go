package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/planner"
)

func newShow(p *process) *cobra.Command {
	o := planning{dir: workspace.Directory{Need: config.NeedState}}
	var into, runID string
	cmd := &cobra.Command{
		Use:   "show [PLAN]",
		Short: "Show a saved plan, a run, or what the state has",
		Args:  oneArgAtMost("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			isRun := cmd.Flags().Changed("run")
			if isRun && len(args) > 0 {
				return errors.New("show takes a saved plan or --run, not both: a plan is what would be done, a run what was")
			}
			face, err := faceOf(p.streams, cmd.Flags(), isRun || len(args) > 0)
			if err != nil {
				return err
			}
			if err := writeInto(p.streams, &o.dir, into); err != nil {
				return err
			}
			isCSV := slices.Contains(showFaces().asked(cmd.Flags()).names(), "csv")
			if o.against != "" && (isRun || len(args) == 0 || isCSV) {
				return errors.New("--against compares a saved plan with an earlier one, in every form but --csv: remit show PLAN --against=FILE")
			}
			if isRun {
				return showRun(cmd.Context(), p, &o, face, runID)
			}
			if len(args) == 0 {
				w, err := open(p, &o.dir)
				if err != nil {
					return err
				}
				return listState(cmd.Context(), w.streams, w.state, nil)
			}
			return o.planError(exit.OrInterrupted(cmd.Context(), func() error { return showSaved(cmd, p, &o, args[0], face) }))
		},
	}
	directoryFlags(&o.dir, cmd)
	wordFlag(cmd.Flags(), &o.show, "show", "with `all`, list every transfer however many there are", "all")
	cmd.Flags().StringVar(&runID, "run", "", "show this `run`: its ID, the first 8 characters of it or more, or the word latest")
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	intoFlag(cmd, &into)
	o.againstFlag(cmd)
	practiceFlag(&o.dir, cmd)
	showFaces().flags(cmd)
	return cmd
}

// showSaved shows a saved plan as it is computed again: with the state and the controls where they are at
// hand, and else as far as the plan alone allows.
func showSaved(cmd *cobra.Command, p *process, o *planning, file string, face showWriters) error {
	ctx := cmd.Context()
	if wide := o.dir; loads(p, wide, config.NeedControls) {
		o.dir.Need = config.NeedControls
	}
	loaded, err := workspace.Load(p.ctx, p.host, p.streams, &o.dir)
	if err != nil {
		return err
	}
	w := newOpened(p, o.dir, loaded)
	defer boundGarbage(p.host.Getenv)()
	saved, err := openSigned(ctx, w, file)
	if err != nil {
		return err
	}
	plan, err := recomputeToShow(ctx, w, file, saved.Plan)
	if err != nil {
		return err
	}
	if err := o.findApprovals(w, plan, saved); err != nil {
		return err
	}
	earlier, err := o.readEarlier(cmd, p, w.dir, w.config)
	if err != nil {
		return err
	}
	if err := o.compare(ctx, w.state, earlier, plan, "show --show=all "+shell.File(file)); err != nil {
		return err
	}
	o.all = showAllOf(file)
	options := planOptions(w, o, plan.Header.Targets)
	options.Saved = true
	options.Expired = errors.Is(plan.CheckTime(w.host.Now()), planner.ErrExpired)
	options.Sandbox = isForSandbox(plan)
	options.OtherBlocks = plan.OtherBlocks()
	if p.streams.WantsLines() {
		if err := p.streams.JSON().Plan(plan, options); p.streams.AsJSON || err != nil {
			return err
		}
	}
	return face.plan(p.streams.Out, plan, options)
}

// loads reports whether a configuration has all that is needed.
func loads(p *process, s workspace.Directory, need config.Need) bool {
	s.Need = need
	_, diags := config.Load(s.Path, s.Options(p.ctx, p.host))
	return !diags.HasErrors()
}

// faceOf is the face that was asked for; the terminal's where none was.
func faceOf(streams *terminal.Streams, flags *pflag.FlagSet, isSaved bool) (showWriters, error) {
	asked := showFaces().asked(flags)
	var typed []string
	if streams.AsJSON {
		typed = append(typed, "--json")
	}
	for _, name := range asked.names() {
		typed = append(typed, "--"+name)
	}
	switch {
	case len(asked) > 0 && !isSaved:
		return showWriters{}, fmt.Errorf("--%s shows a saved plan or a run; name the plan's file, which remit plan --out=FILE writes, or the run with --run", asked[0].name)
	case len(typed) > 1:
		return showWriters{}, errors.New("only one of " + strings.Join(typed, ", ") + " can be written at a time; say which")
	case len(asked) > 0:
		return asked[0].write, nil
	}
	return showWriters{view.Plan, view.Past}, nil
}
