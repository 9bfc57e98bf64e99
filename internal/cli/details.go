package cli

import (
	"context"
	"fmt"
	"strings"

	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/state"
)

const (
	namedMax = 20 // ref_ids that a notice names

	detailsPerCall = 500 // that are in memory at once
)

// addressedMax bounds how many ref_ids of an address a message names.
const addressedMax = 3

// notByAddress says which ref_ids the state has of a transfer or a block whose address was named.
func notByAddress(ctx context.Context, dir *workspace.Directory, st *workspace.State, snapshot state.Snapshot, address string) error {
	var refIDs []string
	for d, err := range state.AllDetails(ctx, snapshot) {
		if err != nil {
			return st.Error(err)
		}
		if of := d.Intent.Address; of != address && !strings.HasPrefix(of, address+"[") {
			continue
		}
		if refIDs = append(refIDs, d.RefID); len(refIDs) == addressedMax {
			break
		}
	}
	if len(refIDs) == 0 {
		return exit.WithHint(fmt.Errorf("%s is an address, and the state knows transfers by their ref_ids. It has none of that address", address), dir.Command("state list"))
	}
	its := "It made "
	if len(refIDs) == addressedMax {
		its = "Its first are "
	}
	return exit.WithHint(fmt.Errorf("%s is an address, and the state knows transfers by their ref_ids. %s", address, its+strings.Join(refIDs, ", ")),
		dir.Command("state show "+shell.Word(refIDs[0])))
}

// notInState says that a state has no such ref_id, and which it has of a destination of that name, or one
// that is near.
func notInState(ctx context.Context, dir *workspace.Directory, st *workspace.State, snapshot state.Snapshot, word string) error {
	var named []string
	for n, err := range snapshot.Names(ctx) {
		if err != nil {
			return st.Error(err)
		}
		if len(named) < addressedMax && len(word) > nearestMax && strings.Contains(strings.ToLower(n.Text), strings.ToLower(word)) {
			named = append(named, n.RefID)
		}
	}
	if len(named) > 0 {
		return exit.WithHint(fmt.Errorf("%q is a name, and the state knows transfers by their ref_ids. Of that name it has %s", word, strings.Join(named, ", ")),
			dir.Command("state show "+shell.Word(named[0])))
	}
	near := newNearest(word)
	for o, err := range snapshot.Outlines(ctx) {
		if err != nil {
			return st.Error(err)
		}
		near.try(o.RefID, "")
	}
	const text = "the state knows no ref_id %q"
	if near.refID == "" {
		return exit.WithHint(fmt.Errorf(text, word), dir.Command("state list"))
	}
	return exit.WithHint(fmt.Errorf(text+". Did you mean %q?", word, near.refID), dir.Command("state show "+shell.Word(near.refID)))
}
