package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	if !isApart(details[0].Outcome, &record) {
		return nil
	}
	return &ReusedIDError{RefID: refID, RecordID: record.ID, Other: duplicate.RefID}
}

// isApart reports whether an outcome has a record of the same id, and that is of another ref_id and group_id than a given one.
func isApart(of *state.Outcome, record *transfer.Record) bool {
	if of == nil {
		return false
	}
	for _, raw := range of.Records {
		stored, err := transfer.ParseRecord(raw)
		if err != nil || stored.ID != record.ID {
			continue
		}
		hasGroups := stored.GroupID != "" && record.GroupID != ""
		isOne := stored.RefID == record.RefID || hasGroups && stored.GroupID == record.GroupID || stored.RefID == "" && !hasGroups
		return !isOne
	}
	return false
}
