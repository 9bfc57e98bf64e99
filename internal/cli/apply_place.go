package cli

import (
	"cmp"
	"context"
	"fmt"

	"remit/internal/cli/exit"
	"remit/internal/text/shell"
	"remit/planner"
)

// checkPlace refuses a plan of the sandbox where money moves.
func (a *applying) checkPlace(plan *planner.Plan) error {
	if !isForSandbox(plan) || a.planning.dir.Sandbox {
		return nil
	}
	here := inSandbox(a.planning.dir, a.file)
	return exit.WithHint(fmt.Errorf("%s was made with --sandbox, where no money moves; nothing was sent. Apply it there", a.file),
		here.CommandWithPractice("apply "+shell.Word(a.file)))
}

// sandboxFirst says of a saved plan that it is one of the sandbox before it says, with err, why no state can be used.
func (a *applying) sandboxFirst(ctx context.Context, w *opened, err error) error {
	if w == nil || a.file == "" {
		return err
	}
	saved, unread := openPlan(ctx, w, a.file)
	if unread != nil {
		return err
	}
	return cmp.Or(a.checkPlace(saved), err)
}
