package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// ReusedIDError says that a record which names its own transfer has the id under which the state keeps the record of
// another one: the service gave an id again, as it does once it was restored from a backup. Nothing was written. A person can
// accept the record.
type ReusedIDError struct {
	RefID    string
	RecordID string
	Other    string // the ref_id under which the id is stored
}

// Error says that it is a second record, and no other transfer's.
func (e *ReusedIDError) Error() string {
	return fmt.Sprintf("the record of %q names that ref_id itself, and has the id %q, which the record of %q has as well: the service gave an id again. "+
		"It was made, so never pay it under another ref_id", e.RefID, e.RecordID, e.Other)
}

func (e *ReusedIDError) difference() transfer.Difference {
	return transfer.ReusedID(e.RecordID, e.Other)
}

// reusedID returns a *[ReusedIDError] where the state has refused the first of records, since another transfer has its id, and it is
// of its own transfer all the same; nil for any other error. That other one's record must name another ref_id and group_id:
// else both are one record.
func reusedID(ctx context.Context, journal Journal, refID string, records []json.RawMessage, err error) *ReusedIDError {
	duplicate, isDuplicate := errors.AsType[*state.DuplicateRecordError](err)
	if !isDuplicate || len(records) == 0 {
		return nil
	}
	record, err := transfer.ParseRecord(records[0])
	if err != nil || record.RefID != refID || record.ID != duplicate.RecordID {
		return nil
	}
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return nil // the refusal stands as it is
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	details, err := snapshot.Details(ctx, duplicate.RefID)
	if err != nil || len(details) == 0 {
		return nil
	}
	stored, has := storedRecord(details[0], duplicate.RecordID)
	hasGroups := stored.GroupID != "" && record.GroupID != ""
	if !has || stored.RefID == refID || hasGroups && stored.GroupID == record.GroupID || stored.RefID == "" && !hasGroups {
		return nil
	}
	return &ReusedIDError{RefID: refID, RecordID: record.ID, Other: duplicate.RefID}
}

// keepsReused returns a *[ReusedIDError] where the record that a conflict kept is of the transfer itself, although another one's has
// its id; nil where it is not.
func (r Resolution) keepsReused(ctx context.Context, detail state.Detail) (*ReusedIDError, error) {
	isOfIDs := func(d transfer.Difference) bool { return d.IsSharedRecord() || d.IsReusedID() }
	if detail.Status != state.Conflict || detail.RecordID != "" || detail.Outcome == nil || !slices.ContainsFunc(detail.Outcome.Differences, isOfIDs) {
		return nil, nil
	}
	kept, err := keptRecords(detail)
	if err != nil || len(kept) == 0 {
		return nil, nil //nolint:nilerr // what can't be read names nobody
	}
	deciding := accepted(kept, detail.RecordID)
	other, err := r.holderOf(ctx, deciding.ID)
	if err != nil || other == "" {
		return nil, err
	}
	taken := &state.DuplicateRecordError{RecordID: deciding.ID, RefID: other}
	return reusedID(ctx, r.Journal, r.RefID, []json.RawMessage{deciding.Raw}, taken), nil
}

// holderOf is the other ref_id under which the state keeps a record; "" for none.
func (r Resolution) holderOf(ctx context.Context, recordID string) (string, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return "", fmt.Errorf("resolve %q: %w", r.RefID, err)
		}
		if row.RecordID == recordID && row.RefID != r.RefID && !row.SharesID {
			return row.RefID, nil
		}
	}
	return "", nil
}
