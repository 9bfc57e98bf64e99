package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// ErrForeignKept says that the service lists nothing under a ref_id, and that the record which its conflict kept is of a ref_id that
// nobody here knows: the service may write ref_ids in its own way.
var ErrForeignKept = errors.New("the service lists no record of this ref_id, and the conflict kept one of a ref_id that nobody here knows")

// keepsAnothers reports whether the record that a conflict kept is, by its ref_id or its id, that of another transfer: this one
// has none yet.
func keepsAnothers(d *state.Detail) bool {
	return d.Status == state.Conflict && d.RecordID == "" && d.Outcome != nil && slices.ContainsFunc(d.Outcome.Differences, transfer.Difference.IsOfAnother)
}

// lookUpInConflict asks the service for the record of a transfer whose conflict kept that of another one, as long as lists may lag, and
// takes an agreeing one over by the word of who asks. Where nothing is listed, the error is [ErrAbsent] or [ErrForeignKept].
func (r Resolution) lookUpInConflict(ctx context.Context, detail state.Detail, finder Finder) (state.Outcome, error) {
	r.Reason = orElse(r.Reason, "the service lists this record, which agrees with the request")
	pauses := lateLists()
	for n := 0; ; n++ {
		found, err := finder.Find(ctx, []string{r.RefID})
		if err != nil {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, err)
		}
		records := found[r.RefID]
		if slices.ContainsFunc(records, isDebit) {
			return r.give(ctx, records, false)
		}
		if n == len(pauses) {
			return state.Outcome{}, r.absent(ctx, detail, records)
		}
		if err := r.Clock.Sleep(ctx, pauses[n]); err != nil {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, err)
		}
	}
}

// absent is why a lookup of a conflict decides nothing.
func (r Resolution) absent(ctx context.Context, detail state.Detail, found []transfer.Record) error {
	why := ErrAbsent
	if len(found) > 0 {
		why = ErrCreditOnly
	}
	kept, err := keptRecords(detail)
	if err != nil || len(kept) == 0 || len(found) > 0 {
		return fmt.Errorf("look up %q: %w", r.RefID, why)
	}
	other, err := r.holderOf(ctx, accepted(kept, detail.RecordID).ID)
	if err == nil && other == "" {
		err = r.keptBelongs(ctx, detail)
	}
	switch _, isOthers := errors.AsType[*OthersError](err); {
	case err != nil && !isOthers:
		return err
	case err == nil && other == "":
		why = ErrForeignKept
	}
	return fmt.Errorf("look up %q: %w", r.RefID, why)
}
