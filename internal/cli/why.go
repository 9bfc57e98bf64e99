package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/cli/exit"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

func newWhy(p *process) *cobra.Command {
	var o planning
	cmd := &cobra.Command{
		Use:   "why REF_ID",
		Short: "Say where one transfer stands, what it waits for, and what to type next",
		Long: "Say of one transfer where it is declared, what the state records of it, what an apply would do\n" +
			"about it and why, what it waits for, which signals and approvals it has, and the one command to\n" +
			"type next. It takes no lock, asks no service, needs no credentials and writes nothing.\n\n" +
			"Exit codes: 0 no action needed; 1 a mistake, or an unknown ref_id; 3 it was\n" +
			"refused, failed or expired, or is never sent as things are; 4 it is in doubt, unverified or in\n" +
			"conflict, has a status that remit does not know, or a conflict keeps its plan from being applied;\n" +
			"5 a control keeps it from being sent.",
		Args: exactArgs("REF_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return errors.New("the REF_ID is empty. Is a variable of the shell not set?")
			}
			w, err := open(p, &o.dir)
			if err != nil {
				return err
			}
			var why *view.Why
			err = exit.OrInterrupted(cmd.Context(), func() (err error) {
				why, err = o.why(cmd.Context(), w, args[0])
				return err
			})
			if err != nil {
				return o.planError(err)
			}
			if p.streams.AsJSON {
				lines := w.streams.JSON()
				lines.SetHere(o.screen(w, nil).Here)
				err = lines.Why(why, planOptions(w, &o, nil))
			} else {
				err = view.ShowWhy(w.streams.Out, why, planOptions(w, &o, nil))
			}
			code := exitOfWhy(why)
			if err != nil {
				return unshown(err, code)
			}
			if code != exit.Done {
				return exit.Code(code)
			}
			return nil
		},
	}
	directoryFlags(&o.dir, cmd)
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write one JSON object")
	return cmd
}

// why plans, and gathers the known facts of one ref_id.
func (o *planning) why(ctx context.Context, w *opened, refID string) (*view.Why, error) {
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	why := &view.Why{RefID: refID}
	o.seen = func(t *config.Transfer) {
		if t.Request.RefID == refID {
			found := *t
			why.Declared = &found
		}
	}
	if why.Plan, err = o.make(ctx, w, snapshot); err != nil {
		return nil, err
	}
	if err := tellWrongClocks(ctx, w, snapshot); err != nil {
		return nil, err
	}
	details, err := snapshot.Details(ctx, refID)
	if err != nil {
		return nil, w.state.Error(err)
	}
	switch {
	case len(details) > 0:
		why.Recorded = &details[0]
	case why.Declared == nil:
		return nil, unknownRefID(ctx, w, snapshot, refID)
	}
	if err := o.findNeeds(ctx, w, snapshot, why.Plan, refID); err != nil {
		return nil, err
	}
	o.place(w.config, why)
	why.Next, why.From = o.nextOf(w.service, why)
	return why, nil
}

// place finds the line of a transfer in its plan, and the place of its block.
func (o *planning) place(loaded *config.Configuration, why *view.Why) {
	find := why.Plan.Changes.Find()
	if n, ok := find(why.RefID); ok {
		line := why.Plan.Changes.At(n)
		why.Line = &line
		why.Group = line.Group()
		for _, refID := range line.After {
			stands := view.Stands{RefID: refID}
			if n, ok := find(refID); ok {
				stands.Action = why.Plan.Changes.Action(n)
			}
			if why.After = append(why.After, stands); len(why.After) == planner.StatusGroupMax {
				break
			}
		}
	}
	if d := why.Recorded; d != nil && d.Status.Made() && (why.Group == "" || why.Group == planner.GroupUnverified) {
		switch {
		case d.RecordStatus != "" && !d.RecordStatus.Known():
			why.Group = planner.GroupUnknown
		case d.RecordStatus != "" && !d.RecordStatus.Final():
			why.Group = planner.GroupPending
		}
		switch {
		case d.Outline().AsksForPerson():
			why.Group = planner.GroupUnverified
		case why.Line == nil && planner.HasFailed(d):
			why.Group = planner.GroupFailed
		}
	}
	if why.Declared == nil {
		return
	}
	for _, block := range loaded.Blocks() {
		if block.Address == why.Declared.Block {
			why.Block = block.Place
		}
	}
}

// exitOfWhy is that of a status which has this transfer alone.
func exitOfWhy(why *view.Why) int {
	code := exitOfGroup(why.Group)
	if code != exit.Look && why.IsStopped() {
		return exitOf(why.Plan.Obstacles)
	}
	return code
}

// unknownRefID says that neither the files nor the state have a ref_id, and which one they have that is near.
func unknownRefID(ctx context.Context, w *opened, snapshot state.Snapshot, refID string) error {
	n := newNearest(refID)
	var mistakes mistake.Set // they were told
	for t := range declared(ctx, w.config, &mistakes) {
		n.try(t.Request.RefID, t.Address)
	}
	for o, err := range snapshot.Outlines(ctx) {
		if err != nil {
			return w.state.Error(err)
		}
		n.try(o.RefID, "")
	}
	const text = "no file declares the ref_id %q, and the state does not have it"
	if left := config.LeftOut(w.config, refID); left != "" {
		return exit.WithHint(fmt.Errorf(text+": %s", refID, left), w.dir.Command("validate"))
	}
	if n.refID == "" {
		return exit.WithHint(fmt.Errorf(text, refID), w.dir.Command("plan --show=all"))
	}
	return exit.WithHint(fmt.Errorf(text+". Did you mean %q?", refID, n.refID), w.dir.Command("why "+shell.Word(n.refID)))
}

// declaredOrRecorded are the ref_ids that the state has, and those that the files declare besides.
func declaredOrRecorded(c *completing, begun string) ([]string, cobra.ShellCompDirective) {
	list, directive := refIDs(nil)(c, begun)
	known := make(map[string]bool, len(list))
	for _, word := range list {
		refID, _, _ := strings.Cut(word, "\t")
		known[refID] = true
	}
	for t := range c.transfers() {
		if refID := t.Request.RefID; strings.HasPrefix(refID, begun) && !known[refID] {
			list = append(list, fmt.Sprintf("%s\tdeclared, %s %s", refID, t.Request.Amount, t.Request.Asset))
		}
		if len(list) >= completionMax {
			break
		}
	}
	return list, directive
}

// transfers are the declared ones that can be read, for as long as a shell waits.
func (c *completing) transfers() iter.Seq[config.Transfer] {
	return func(yield func(config.Transfer) bool) {
		ctx, cancel := c.whileAShellWaits()
		defer cancel()
		if loaded := c.declared(); loaded != nil {
			var mistakes mistake.Set // the command itself tells them
			declared(ctx, loaded, &mistakes)(yield)
		}
	}
}
