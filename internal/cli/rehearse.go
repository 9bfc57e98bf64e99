package cli

import (
	"context"
	"errors"
	"fmt"

	"remit/config"
	"remit/internal/rehearsal"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// runRehearsal is apply --rehearse: it plans, or reads a saved plan, and says what that does to
// balances. Like plan it takes no lock, needs no credentials and writes nothing.
func (a *applying) runRehearsal(ctx context.Context, p *process) error {
	if a.autoApprove || a.digest != "" || len(a.faults) > 0 {
		return errors.New("--rehearse sends nothing: --auto-approve, --plan-digest and --fault are for an apply that does")
	}
	a.need = config.NeedAll // opening balances are part of the sandbox block
	if err := p.writeInto(&a.source, a.into, a.asJSON); err != nil {
		return err
	}
	w, err := p.open(&a.source, a.asJSON)
	if err != nil {
		return err
	}
	plan, err := a.toRehearse(ctx, w)
	if err != nil {
		return a.planError(err)
	}
	result, err := rehearsal.Rehearse(plan, w.rehearsalBalances())
	if err != nil {
		return fmt.Errorf("rehearse the plan: %w", err)
	}
	o := view.RehearsalOptions{Plan: w.planOptions(&a.planning)}
	if w.wantsLines(a.asJSON) {
		if err := w.json().Rehearsal(plan, result, o); a.asJSON || err != nil {
			return endOfRehearsal(result, err)
		}
	}
	return endOfRehearsal(result, view.Rehearsal(w.stdout, plan, result, o))
}

func endOfRehearsal(result *rehearsal.Result, err error) error {
	if err == nil && !result.Complete() {
		return exitCode(exitPartial)
	}
	return err
}

// toRehearse is the plan of an apply: of a saved one what is left of it. A plan that is not
// applicable is rehearsed as it is.
func (a *applying) toRehearse(ctx context.Context, w *workspace) (*planner.Plan, error) {
	if a.file == "" {
		return a.planning.plan(ctx, w, a.asJSON)
	}
	plan, err := w.openPlan(a.file)
	if err != nil || !plan.Applicable() {
		return plan, err
	}
	if err := a.checkDeclared(ctx, w, plan); err != nil {
		return nil, err
	}
	left, err := a.leftOf(ctx, w, plan)
	if err != nil {
		return nil, a.unfit(a.file, "cannot be applied; nothing was sent", err)
	}
	return left, nil
}

// leftOf is what an apply would send of a saved plan. Who rehearses need not have the state: without
// it that is all of the plan.
func (a *applying) leftOf(ctx context.Context, w *workspace, plan *planner.Plan) (*planner.Plan, error) {
	controls := w.config.Controls()
	if there, err := w.place.Look(ctx); err != nil || !there {
		return plan, plan.CheckHeader(w.boundMeta(plan.Header), controls, w.now())
	}
	snapshot, done, err := w.read(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if a.sandbox && plan.Header.Lineage == "" {
		plan.Header.Lineage = snapshot.Meta().Lineage // planned before the sandbox had a state
	}
	return plan.Recheck(ctx, state.Past{Snapshot: snapshot}, w.controlsNow(), w.now())
}

func (w *workspace) rehearsalBalances() []rehearsal.Balance {
	declared := w.config.Sandbox.OpeningBalances
	balances := make([]rehearsal.Balance, len(declared))
	for i, b := range declared {
		balances[i] = rehearsal.Balance{ProfileID: b.ProfileID, Asset: b.Asset, Amount: b.Amount.Decimal()}
	}
	return balances
}
