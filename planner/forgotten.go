package planner

import (
	"context"
	"fmt"
	"iter"

	"remit/internal/transfer"
	"remit/state"
)

// forgetCommand is the command of a person who forgot a ref_id, as the journal names it. Versions up to 0.1.0
// forgot doubts and conflicts as well, and no event of them says that they were not made.
const forgetCommand = "remit state forget"

// neverAgain stands behind [Closed] in the reason of a line.
const neverAgain = ", so this ref_id is never sent again"

// Closed says how a tombstone ended, as a clause behind "was". Of one that has a record, it says how that stands.
func Closed(d *state.Detail) string {
	ended := "closed as not made"
	if isForgotten(d) {
		ended = "forgotten"
	}
	switch {
	case d.RecordID == "" && d.IsListed():
		return "made, as a list says, and then " + ended
	case d.RecordID == "":
		return ended
	case d.RecordStatus == transfer.Completed:
		return "paid, as its record is COMPLETED, and then " + ended
	}
	return "recorded as " + string(d.RecordStatus) + ", and then " + ended
}

// journaled is the part of a [state.Snapshot] that says how a ref_id came to what it is.
type journaled interface {
	Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error]
}

// isForgotten reports whether a person forgot a tombstone, and did not say that it was not made.
func isForgotten(d *state.Detail) bool {
	return d.Outcome != nil && d.Outcome.By != nil && d.Outcome.By.Command == forgetCommand
}

// mayBeForgotten reports whether somebody may have forgotten a doubt or a conflict: it is a tombstone of which no record
// is known.
func mayBeForgotten(o *state.Outline) bool {
	return o.Status == state.Tombstone && !o.HasRecord && o.RecordStatus != transfer.Failed
}

// eachForgotten calls do with the detail of each of the given tombstones that may have been made when a person forgot
// it. Of a record without a journal they count as not made.
func eachForgotten(ctx context.Context, record Record, refIDs []string, do func(*state.Detail) error) error {
	journal, ok := within[journaled](record)
	if !ok || len(refIDs) == 0 {
		return nil
	}
	return eachDetail(ctx, record, refIDs, func(d *state.Detail) error {
		if !isForgotten(d) {
			return nil
		}
		may, err := wasUnsettled(journal.Events(ctx, max(d.IntentSeq-1, 0), d.RefID), d)
		if err != nil {
			return fmt.Errorf("read the history of %q: %w", d.RefID, err)
		}
		if !may {
			return nil
		}
		return do(d)
	})
}

// wasUnsettled reports whether a tombstone may have been made, by its events from the request in force on to the
// person's word: every attempt counts that no outcome called unsent or refused, and an outcome settles only
// its own attempt (law 3).
func wasUnsettled(events iter.Seq2[state.Event, error], d *state.Detail) (mayBeMade bool, err error) {
	isDoubted := false
	for event, err := range events {
		if err != nil {
			return false, err
		}
		if event.RefID != d.RefID {
			continue
		}
		entry, err := event.Entry()
		if err != nil {
			return false, err
		}
		switch e := entry.(type) {
		case state.Intent:
			isDoubted, mayBeMade = mayBeMade, true
		case state.Outcome:
			switch e.Status {
			case state.Unsent, state.Refused:
				mayBeMade = isDoubted
			case state.Tombstone:
				return mayBeMade, nil
			case state.InDoubt, state.Recorded, state.Adopted, state.Unverified, state.Conflict:
				mayBeMade = true
			}
		case state.Created, state.Begun, state.Ended, state.Unlocked, state.Rebound, state.ClockConfirmed, state.Asked, state.Erased:
		}
	}
	return mayBeMade, nil
}

// within is a record, or one that it wraps, as a T.
func within[T any](record Record) (T, bool) {
	for {
		if as, ok := record.(T); ok {
			return as, true
		}
		around, isWrapped := record.(interface{ Unwrap() Record })
		if !isWrapped {
			var none T
			return none, false
		}
		record = around.Unwrap()
	}
}
