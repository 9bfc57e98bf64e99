package cli

import (
	"context"
	"fmt"

	"remit/internal/cli/exit"
	"remit/internal/tree"
	"remit/planner"
	"remit/state"
)

// account is a configuration with the ref_ids that it sends as one client of one service, and with its state, which has those that were made.
type account struct {
	entry   int // of the tree
	service state.Identity
	submits []string // ref_ids
	state   interface {
		Read(ctx context.Context) (state.Snapshot, func(), error)
	}
}

// accountOf is that of a plan; its service is zero where no money would move.
func (r *recursion) accountOf(w *opened, plan *planner.Plan) account {
	if r.dir.Sandbox || !w.config.ServiceDeclared() {
		return account{}
	}
	a := account{service: w.state.Binding.Service, state: w.state}
	a.service.CustomerID, a.service.TokenURL = "", ""
	for _, change := range plan.Changes.All() {
		if change.Action == planner.Submit {
			a.submits = append(a.submits, change.RefID)
		}
	}
	return a
}

// findElsewhere blocks each plan that would send a ref_id which another configuration of the tree has paid, or sends as well, as the same client
// of the same service: each state knows its own payments alone, and the service need not know an old ref_id any more.
func findElsewhere(ctx context.Context, t *tree.Tree, accounts []account) error {
	byService := make(map[state.Identity][]*account)
	for i := range accounts {
		if a := &accounts[i]; a.service != (state.Identity{}) {
			byService[a.service] = append(byService[a.service], a)
		}
	}
	for _, all := range byService {
		if len(all) < 2 {
			continue
		}
		if err := findTwice(ctx, t, all); err != nil {
			return err
		}
	}
	return nil
}

// findTwice is findElsewhere for the accounts of one client of one service.
func findTwice(ctx context.Context, t *tree.Tree, all []*account) error {
	sends := make(map[string][]*account)
	for _, a := range all {
		for _, refID := range a.submits {
			sends[refID] = append(sends[refID], a)
		}
	}
	if len(sends) == 0 {
		return nil
	}
	found := make(map[[2]*account][]string) // of who sends, and who has paid or sends as well
	for _, a := range all {
		for _, refID := range a.submits {
			for _, other := range sends[refID] {
				if other != a {
					found[[2]*account{a, other}] = append(found[[2]*account{a, other}], refID)
				}
			}
		}
		if err := a.eachMade(ctx, func(refID string) {
			for _, other := range sends[refID] {
				if other != a {
					found[[2]*account{other, a}] = append(found[[2]*account{other, a}], refID)
				}
			}
		}); err != nil {
			return err
		}
	}
	for _, a := range all { // in their order
		for _, other := range all {
			if refIDs := found[[2]*account{a, other}]; len(refIDs) > 0 {
				block(&t.Entries[a.entry], &t.Entries[other.entry], refIDs)
			}
		}
	}
	return nil
}

// eachMade calls do with the ref_ids that the state has as made, or perhaps made.
func (a *account) eachMade(ctx context.Context, do func(refID string)) error {
	snapshot, done, err := a.state.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	for o, err := range snapshot.Outlines(ctx) {
		if err != nil {
			return fmt.Errorf("read which transfers were made: %w", err)
		}
		if o.MayBeMade() {
			do(o.RefID)
		}
	}
	return nil
}

// elsewhereMax is how many ref_ids an obstacle names.
const elsewhereMax = 20

// block adds the obstacle to an entry: other has paid the ref_ids, or sends them as well.
func block(e, other *tree.Entry, refIDs []string) {
	name := other.Directory
	if other.Environment != "" && other.Directory == e.Directory {
		name += " (" + other.Environment + ")"
	}
	e.Brief.Obstacles = append([]planner.Obstacle{{
		Kind: planner.ObstacleElsewhere, Count: len(refIDs), RefIDs: refIDs[:min(len(refIDs), elsewhereMax)],
		Detail: fmt.Sprintf("%s has paid the same ref_id, or would pay it as well, as the same client of the same service, and the state here does not know that. "+
			"Declare it in one directory alone. Where the declaration has moved, give the service's records to the state here first, by `remit import EXPORT`", name),
	}}, e.Brief.Obstacles...)
	e.Brief.Blocked++
	e.Brief.Applicable, e.Next = false, ""
	if e.ExitCode != exit.Look && e.ExitCode != exit.Error {
		e.ExitCode = exit.Control
	}
}
