package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

func (o *planning) againstFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.against, "against", "", "say what changed since the saved plan in this `file`, which was reviewed")
}

// earlier is a plan that was reviewed, and which of its lines are declared now.
type earlier struct {
	plan     *planner.Plan
	find     func(refID string) (int, bool)
	declared []bool // by the numbers of its lines; nil where the files are not read
	isPart   bool   // the files are read for targets alone

	made map[string]bool // the ref_ids that the present plan does not have: whether the state has them as made
}

// readEarlier reads the plan that --against names, and computes it again as show does; nil where it names none. The
// earlier plan has its own view of the directory: it may be one for the sandbox.
func (o *planning) readEarlier(cmd *cobra.Command, p *process, from *workspace.Directory, loaded *config.Configuration) (*earlier, error) {
	if o.against == "" {
		if cmd.Flags().Changed("against") {
			return nil, errors.New("--against is empty: it takes the name of a saved plan. Is a variable of the shell not set?")
		}
		return nil, nil
	}
	dir := *from
	dir.Sandbox = false // the earlier plan says whether it is one for the sandbox
	beside := newOpened(p, dir, loaded)
	saved, err := openPlan(cmd.Context(), beside, o.against)
	if errors.Is(err, fs.ErrNotExist) && planNearby(beside.dir, o.against) == "" {
		return nil, noEarlierPlan(o.against)
	}
	if err != nil {
		return nil, err
	}
	plan, err := recomputeToShow(cmd.Context(), beside, o.against, saved)
	if err != nil {
		return nil, fmt.Errorf("compare with %s: %w", o.against, err)
	}
	return &earlier{plan: plan, find: plan.Changes.Find(), isPart: len(o.targets) > 0}, nil
}

// watch notes which lines of the earlier plan are declared.
func (e *earlier) watch(t *config.Transfer) {
	if n, ok := e.find(t.Request.RefID); ok {
		e.declared[n] = true
	}
}

// went says where a line went that the present plan does not have.
func (e *earlier) went(refID string) planner.Went {
	n, ok := e.find(refID)
	isDeclared := e.declared == nil || ok && e.declared[n] // show does not read the files
	switch {
	case e.made[refID] && isDeclared:
		return planner.WentRecorded
	case e.made[refID]:
		return planner.WentPaid
	case isDeclared:
		return planner.WentUnknown // it may be none of the targets
	}
	if line := e.plan.Changes.At(n); !line.Declared() {
		return planner.WentSettled
	}
	return planner.WentUndeclared
}

// askState finds the transfers that were made since, where the state of the present plan can be
// read here.
func (e *earlier) askState(ctx context.Context, st *workspace.State, plan *planner.Plan) error {
	if st.Backend == nil {
		return nil
	}
	snapshot, done, err := st.Read(ctx)
	if err != nil {
		return nil
	}
	defer done()
	if snapshot.Meta().Lineage != plan.Header.Lineage {
		return nil
	}
	return e.readMade(ctx, snapshot, plan)
}

// readMade asks the state which of the lines that the present plan does not have were made.
func (e *earlier) readMade(ctx context.Context, snapshot state.Snapshot, plan *planner.Plan) error {
	e.made = make(map[string]bool)
	find := plan.Changes.Find()
	for _, was := range e.plan.Changes.All() {
		if _, isThere := find(was.RefID); !isThere {
			e.made[strings.Clone(was.RefID)] = false
		}
	}
	if len(e.made) == 0 {
		return nil
	}
	for t, err := range snapshot.Outlines(ctx) {
		if err != nil {
			return err
		}
		if _, isAsked := e.made[t.RefID]; isAsked && t.Status.Made() && t.RecordStatus != transfer.Failed {
			e.made[strings.Clone(t.RefID)] = true
		}
	}
	return nil
}

// compare keeps the changes since the earlier plan, for the face of the present plan. all is the command, without
// remit, that lists every line. Where the state can't be read here, nobody knows the transfers that were made
// since.
func (o *planning) compare(ctx context.Context, st *workspace.State, e *earlier, plan *planner.Plan, all string) error {
	if e == nil {
		return nil
	}
	if err := e.askState(ctx, st, plan); err != nil {
		return err
	}
	o.before = &view.Against{
		Delta: plan.Against(e.plan, e.went), File: o.against, All: "remit " + all + " --against=" + shell.Word(o.against),
	}
	return nil
}
