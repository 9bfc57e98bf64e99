package state

import (
	"context"
	"fmt"
	"iter"
	"time"

	"remit/internal/transfer"
)

// Accepted are the fields in which the record of a transfer is not as was asked, and which a person let stand. There are none
// of a transfer that is not recorded, or that nobody has settled.
func (d *Detail) Accepted() []transfer.Difference {
	if d.Outcome == nil || d.Status != Recorded && d.Status != Adopted {
		return nil
	}
	return d.Outcome.Differences
}

// WithAccepted yields rows as they come, and puts into the map, before it yields a row, its [Detail.Accepted] where there is
// any. A person's word comes after the run that sent or imported the transfer, so details are read of those rows alone whose
// latest outcome does.
func WithAccepted(ctx context.Context, from Snapshot, rows iter.Seq2[Transfer, error], accepted map[string][]transfer.Difference) iter.Seq2[Transfer, error] {
	return func(yield func(Transfer, error) bool) {
		ended := make(map[string]time.Time)
		for run, err := range from.Runs(ctx) {
			if err != nil {
				yield(Transfer{}, fmt.Errorf("read the runs: %w", err))
				return
			}
			if run.Ended != nil {
				ended[run.Begun.RunID] = run.EndedAt
			}
		}
		var ahead []Transfer
		page := func() bool {
			err := putAccepted(ctx, from, ahead, ended, accepted)
			if err != nil {
				yield(Transfer{}, err)
				return false
			}
			for i := range ahead {
				if !yield(ahead[i], nil) {
					return false
				}
			}
			ahead = ahead[:0]
			return true
		}
		for t, err := range rows {
			if err != nil {
				if page() {
					yield(t, err)
				}
				return
			}
			if ahead = append(ahead, t); len(ahead) == detailsPerCall && !page() {
				return
			}
		}
		page()
	}
}

// putAccepted puts what people accepted of rows into a map.
func putAccepted(ctx context.Context, from Snapshot, rows []Transfer, ended map[string]time.Time, accepted map[string][]transfer.Difference) error {
	var refIDs []string
	for i := range rows {
		t := &rows[i]
		if end, hasEnded := ended[t.RunID]; (t.Status == Recorded || t.Status == Adopted) && (!hasEnded || !t.SettledAt.Before(end)) {
			refIDs = append(refIDs, t.RefID)
		}
	}
	details, err := from.Details(ctx, refIDs...)
	if err != nil {
		return fmt.Errorf("read the details of transfers: %w", err)
	}
	for i := range details {
		if list := details[i].Accepted(); len(list) > 0 {
			accepted[details[i].RefID] = list
		}
	}
	return nil
}
