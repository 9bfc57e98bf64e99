package cli

import (
	"context"
	"errors"
	"fmt"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/rehearsal"
	"remit/internal/view"
	"remit/planner"
)

// runRehearsal is apply --rehearse: it plans, or reads a saved plan, and says what that does to
// balances. Like plan it takes no lock, needs no credentials and writes nothing.
func runRehearsal(ctx context.Context, a *applying, p *process) error {
	if a.autoApprove || a.digest != "" || len(a.faults) > 0 || len(a.acceptShortfall) > 0 {
		return errors.New("--rehearse sends nothing: --auto-approve, --plan-digest, --accept-shortfall and --fault are for an apply that does")
	}
	a.planning.dir.Need = config.NeedAll // opening balances are part of the sandbox block
	w, err := openInto(p, &a.planning.dir, a.into)
	if err != nil {
		return err
	}
	plan, err := toRehearse(ctx, a, w)
	if err != nil {
		return a.planning.planError(err)
	}
	o := view.RehearsalOptions{Plan: planOptions(w, &a.planning, plan.Header.Targets)}
	opening := rehearsalBalances(w.config)
	if a.fromBalances {
		if opening, o.BalancesAt, err = balancesFor(ctx, w, plan); err != nil {
			return a.planning.planError(err)
		}
	}
	result, err := rehearsal.Rehearse(plan, opening)
	if err != nil {
		return fmt.Errorf("rehearse the plan: %w", err)
	}
	if w.streams.WantsLines() {
		if err := w.streams.JSON().Rehearsal(plan, result, o); w.streams.AsJSON || err != nil {
			return endOfRehearsal(result, err)
		}
	}
	return endOfRehearsal(result, view.Rehearsal(w.streams.Out, plan, result, o))
}

func endOfRehearsal(result *rehearsal.Result, err error) error {
	if err == nil && !result.Complete() {
		return exit.Code(exit.Partial)
	}
	return err
}

// toRehearse is the plan of an apply: of a saved one the rest. A plan that is not
// applicable is rehearsed whole. A rehearsal needs no state.
func toRehearse(ctx context.Context, a *applying, w *opened) (*planner.Plan, error) {
	if a.file == "" {
		return a.planning.plan(ctx, w)
	}
	plan, err := openPlan(ctx, w, a.file)
	if err != nil {
		return nil, err
	}
	found, err := recompute(ctx, w, plan, useOf(a, plan))
	if err != nil {
		return nil, err
	}
	defer found.close()
	if !plan.Applicable() {
		return found.plan, nil
	}
	if err := a.checkDeclared(ctx, w, plan, nil); err != nil {
		return nil, err
	}
	left, err := found.remaining(ctx, w.host, w.config)
	if err != nil {
		return nil, unfit(ctx, w, useOf(a, plan), err)
	}
	return left, nil
}

func rehearsalBalances(loaded *config.Configuration) []rehearsal.OpeningBalance {
	declared := loaded.Sandbox.OpeningBalances
	balances := make([]rehearsal.OpeningBalance, len(declared))
	for i, b := range declared {
		balances[i] = rehearsal.OpeningBalance{ProfileID: b.ProfileID, Asset: b.Asset, Amount: b.Amount.Decimal()}
	}
	return balances
}
