package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"remit/internal/transfer"
	"remit/state"
)

// unclear are the ref_ids of transfers that were not made by their outlines, and of which their details or their history may
// say otherwise.
type unclear struct {
	tombstones []string // without a record
	failed     []string // by their record, forgotten ones among them
}

// note keeps the ref_id of a transfer that is one of them, and reports whether it is.
func (u *unclear) note(o *state.Outline) bool {
	switch {
	case mayBeForgotten(o):
		u.tombstones = append(u.tombstones, strings.Clone(o.RefID))
	case o.RecordStatus == transfer.Failed && (o.Status.Made() || o.Status == state.Tombstone):
		u.failed = append(u.failed, strings.Clone(o.RefID))
	default:
		return false
	}
	return true
}

// isUnclear reports whether a transfer is one of [unclear].
func isUnclear(d *state.Detail) bool {
	o := d.Outline()
	return new(unclear).note(&o)
}

// eachMade calls do with the detail of each that may have been made.
func (u *unclear) eachMade(ctx context.Context, record Record, do func(*state.Detail) error) error {
	if s, isAlone := record.(*said); isAlone {
		all := slices.Concat(u.tombstones, u.failed)
		return eachDetail(ctx, record, slices.DeleteFunc(all, func(refID string) bool { return !s.unclear[refID] }), do)
	}
	if err := eachForgotten(ctx, record, u.tombstones, do); err != nil {
		return err
	}
	return eachDetail(ctx, record, u.failed, func(d *state.Detail) error {
		was, err := beforeForgotten(ctx, record, d)
		if err != nil || was == nil || !isDisputed(was) {
			return err
		}
		return do(d)
	})
}

// beforeForgotten is a transfer as it was before a person forgot it, and itself where nobody did. It is nil where a person
// said that it was not made, and of a record without a journal.
func beforeForgotten(ctx context.Context, record Record, d *state.Detail) (*state.Detail, error) {
	if d.Status != state.Tombstone {
		return d, nil
	}
	journal, ok := within[journaled](record)
	if !ok || !isForgotten(d) {
		return nil, nil
	}
	var was *state.Detail
	for event, err := range journal.Events(ctx, max(d.IntentSeq-1, 0), d.RefID) {
		if err != nil {
			return nil, fmt.Errorf("read the history of %q: %w", d.RefID, err)
		}
		if event.RefID != d.RefID {
			continue
		}
		entry, err := event.Entry()
		if err != nil {
			return nil, fmt.Errorf("read the history of %q: %w", d.RefID, err)
		}
		outcome, ok := entry.(state.Outcome)
		if !ok {
			continue
		}
		if outcome.Status == state.Tombstone {
			break
		}
		before := *d
		before.Status, before.Outcome = outcome.Status, &outcome
		was = &before
	}
	return was, nil
}

// isDisputed reports whether a transfer FAILED by one record, and by another did not, as its differences or its kept records say, or is in
// conflict over a record that FAILED.
func isDisputed(d *state.Detail) bool {
	if d.RecordStatus != transfer.Failed || d.Outcome == nil {
		return false
	}
	_, differ := transfer.OfCredit(d.Outcome.Differences)
	return differ || d.Status == state.Conflict || isUnfailedBeside(d)
}

// isUnfailedBeside reports whether another record than the deciding one is kept that did not fail: its credit side, or a second payment
// under the ref_id. One that can't be read says nothing.
func isUnfailedBeside(d *state.Detail) bool {
	var records []transfer.Record
	for _, raw := range keptRecords(d) {
		if r, err := transfer.ParseKept(raw); err == nil && r.ID != d.RecordID {
			records = append(records, r)
		}
	}
	return slices.ContainsFunc(records, func(r transfer.Record) bool {
		return transfer.Newest(records, func(of transfer.Record) bool { return of.ID == r.ID }).Status != transfer.Failed
	})
}

// isCreditFailed reports whether the credit side is among kept records, and FAILED.
func isCreditFailed(raws []json.RawMessage) bool {
	credit := newestCredit(raws)
	return credit != nil && credit.Status == transfer.Failed
}

func newestCredit(raws []json.RawMessage) *transfer.Record {
	var records []transfer.Record
	for _, raw := range raws {
		if r, err := transfer.ParseKept(raw); err == nil {
			records = append(records, r)
		}
	}
	return transfer.Newest(records, func(r transfer.Record) bool { return r.Direction == transfer.Credit })
}
