package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/planner"
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
}

// readEarlier reads the plan that --against names, and computes it again as show does; nil where it names none. The
// earlier plan has its own view of the directory: it may be one for the sandbox.
func (o *planning) readEarlier(cmd *cobra.Command, p *process, w *opened) (*earlier, error) {
	if o.against == "" {
		if cmd.Flags().Changed("against") {
			return nil, errors.New("--against is empty: it takes the name of a saved plan. Is a variable of the shell not set?")
		}
		return nil, nil
	}
	dir := *w.dir
	dir.Sandbox = false // the earlier plan says whether it is one for the sandbox
	beside := newOpened(p, dir, w.config)
	saved, err := openPlan(beside, o.against)
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
	switch {
	case !ok || e.declared == nil:
		return planner.WentUnknown
	case e.declared[n] && e.isPart:
		return planner.WentUnknown // it may be none of the targets
	case e.declared[n]:
		return planner.WentRecorded
	}
	if line := e.plan.Changes.At(n); !line.Declared() {
		return planner.WentSettled
	}
	return planner.WentUndeclared
}

// compare keeps the changes since the earlier plan, for the face of the present plan. all is the command, without
// remit, that lists every line.
func (o *planning) compare(e *earlier, plan *planner.Plan, all string) {
	if e == nil {
		return
	}
	o.before = &view.Against{
		Delta: plan.Against(e.plan, e.went), File: o.against, All: "remit " + all + " --against=" + shell.Word(o.against),
	}
}
