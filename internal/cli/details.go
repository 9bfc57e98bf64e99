package cli

import (
	"context"
	"iter"

	"remit/state"
)

const (
	namedMax = 20 // ref_ids that a notice names

	detailsPerCall = 500 // that are in memory at once
)

// allDetails yields all that a state knows of every ref_id, in their order, a page of them in
// memory at once.
func allDetails(ctx context.Context, snapshot state.Snapshot) iter.Seq2[*state.Detail, error] {
	return func(yield func(*state.Detail, error) bool) {
		refIDs := make([]string, 0, detailsPerCall)
		page := func() bool {
			details, err := snapshot.Details(ctx, refIDs...)
			refIDs = refIDs[:0]
			if err != nil {
				yield(nil, err)
				return false
			}
			for i := range details {
				if !yield(&details[i], nil) {
					return false
				}
			}
			return true
		}
		for t, err := range snapshot.Transfers(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if refIDs = append(refIDs, t.RefID); len(refIDs) == detailsPerCall && !page() {
				return
			}
		}
		if len(refIDs) > 0 {
			page()
		}
	}
}
