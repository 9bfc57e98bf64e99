package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"remit/internal/transfer"
	"remit/state"
)

// ResolveRecorded stores the records that a person got from the service, one or both sides
// of the transfer, and returns the outcome that it wrote. The error is a *[DifferenceError]
// where they disagree with the recorded request, an *[OthersError] where they are of another transfer, [ErrCreditOnly],
// [ErrCreditOpen], [ErrNoRequest], [ErrUnknownRefID], or what the state refuses; then nothing was written. Of a transfer that is recorded already, it
// takes the service's newer status over; in what a person has accepted, it may differ.
func ResolveRecorded(ctx context.Context, r Resolution, records []transfer.Record) (state.Outcome, error) {
	return r.give(ctx, records, false)
}

// ResolveAcceptRecord closes a transfer as the service has it, although that differs from the
// request, and returns the outcome that it wrote, with the differences. Without records the kept
// ones of the conflict or the unverified transfer count; where there is only a list's word, that
// counts. The error is a *[StatusError] for any other status, an *[OthersError], a *[ForeignError], [ErrNoRecord], [ErrCreditOnly],
// [ErrUnknownRefID], or what the state refuses, such as a record that belongs to another ref_id;
// then nothing was written.
func ResolveAcceptRecord(ctx context.Context, r Resolution, records []transfer.Record) (state.Outcome, error) {
	if len(records) > 0 {
		return r.give(ctx, records, true)
	}
	detail, _, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	shared, err := r.sharedGroup(ctx, detail)
	if err != nil {
		return state.Outcome{}, err
	}
	outcome, err := r.acceptance(detail, shared...)
	if err == nil {
		err = r.keptBelongs(ctx, detail)
	}
	if err != nil {
		return state.Outcome{}, err
	}
	return r.writeAccepted(ctx, outcome)
}

// sharedGroup is the shortcoming of a transfer that is recorded or adopted, and of which another one
// has the group_id: an earlier version did not ask. There is none where a person has accepted it.
func (r Resolution) sharedGroup(ctx context.Context, detail state.Detail) ([]transfer.Difference, error) {
	isOld := detail.Status == state.Recorded || detail.Status == state.Adopted
	if !isOld || detail.GroupID == "" || HasAcceptedGroup(detail) {
		return nil, nil
	}
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	for t, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, fmt.Errorf("resolve %q: %w", r.RefID, err)
		}
		if t.GroupID == detail.GroupID && t.RefID != detail.RefID {
			return []transfer.Difference{transfer.SharedGroup(t.GroupID, t.RefID)}, nil
		}
	}
	return nil, nil
}

// writeAccepted writes what a person accepts, the group_id and the id of another transfer's record included.
func (r Resolution) writeAccepted(ctx context.Context, outcome state.Outcome) (state.Outcome, error) {
	written, err := r.write(ctx, outcome)
	if reused, ok := errors.AsType[*ReusedIDError](err); ok {
		others := slices.DeleteFunc(slices.Clone(outcome.Differences), transfer.Difference.IsSharedRecord)
		outcome.Differences = append(others, reused.difference())
		written, err = r.write(ctx, outcome)
	}
	if shared, ok := errors.AsType[*state.DuplicateGroupError](err); ok {
		outcome.Differences = append(slices.Clip(outcome.Differences), transfer.SharedGroup(shared.GroupID, shared.RefID))
		return r.write(ctx, outcome)
	}
	return written, err
}

// Unacceptable says in words why nobody can accept the kept records of a transfer, such as that its credit side is PENDING still; "" where
// a person can.
func Unacceptable(detail state.Detail) string {
	_, err := Resolution{RefID: detail.RefID}.acceptance(detail)
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("resolve %q: ", detail.RefID))
}

// ResolveAcceptRecords is [ResolveAcceptRecord] of several ref_ids, with the records that are kept: of
// all or, on an error, of none. r names no ref_id.
func ResolveAcceptRecords(ctx context.Context, r Resolution, refIDs []string) ([]state.Outcome, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("accept records: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	outcomes := make(map[string]*state.Outcome, len(refIDs))
	var unfit error
	err = eachDetail(ctx, snapshot, refIDs, func(d state.Detail) {
		r.RefID = d.RefID
		outcome, err := r.acceptance(d)
		unfit = errors.Join(unfit, err)
		outcomes[d.RefID] = &outcome
	})
	if err = errors.Join(err, unfit); err != nil {
		return nil, err
	}
	if err := r.writeAll(ctx, outcomes); err != nil {
		return nil, fmt.Errorf("accept %d records: %w", len(outcomes), err)
	}
	accepted := make([]state.Outcome, 0, len(refIDs))
	for _, refID := range refIDs {
		if outcome := outcomes[refID]; outcome != nil {
			accepted = append(accepted, *outcome)
		}
	}
	return accepted, nil
}

// writeAll writes outcomes that a person accepts, all or none.
func (r Resolution) writeAll(ctx context.Context, outcomes map[string]*state.Outcome) error {
	for {
		entries := make([]state.Entry, 0, len(outcomes))
		for _, refID := range slices.Sorted(maps.Keys(outcomes)) {
			entries = append(entries, *outcomes[refID])
		}
		// A word that was given is written even where the person leaves meanwhile.
		err := r.Journal.Append(context.WithoutCancel(ctx), entries...)
		shared, ok := errors.AsType[*state.DuplicateGroupError](err)
		if !ok {
			return err
		}
		outcome := outcomes[shared.Asked] // each is refused once
		outcome.Differences = append(slices.Clip(outcome.Differences), transfer.SharedGroup(shared.GroupID, shared.RefID))
	}
}

// acceptance is a person's word that the kept record of a transfer is right.
func (r Resolution) acceptance(detail state.Detail, shared ...transfer.Difference) (state.Outcome, error) {
	outcome := state.Outcome{RefID: detail.RefID}
	kept, err := keptRecords(detail)
	switch detail.Status {
	case state.Conflict:
		outcome.Status = state.Recorded
	case state.Unverified:
		outcome.Status = state.Adopted
	case state.Recorded, state.Adopted: // an earlier version asked less of a record
		if len(Unaccepted(detail))+len(shared) == 0 {
			return state.Outcome{}, &StatusError{r.RefID, detail.Status}
		}
		outcome.Status = detail.Status
	case state.Unsent, state.InDoubt, state.Refused, state.Tombstone:
		return state.Outcome{}, &StatusError{r.RefID, detail.Status}
	}
	if err != nil {
		return state.Outcome{}, fmt.Errorf("resolve %q: %w: %w", r.RefID, ErrNoRecord, err)
	}
	if len(kept) == 0 && detail.IsListed() {
		return r.vouch(detail), nil
	}
	if len(kept) == 0 {
		return state.Outcome{}, fmt.Errorf("resolve %q: %w", r.RefID, ErrNoRecord)
	}
	if isOpen(kept) || transfer.IsCreditOpen(detail.Outcome.Differences) {
		return state.Outcome{}, fmt.Errorf("resolve %q: %w", r.RefID, ErrCreditOpen)
	}
	deciding, err := r.accept(kept, detail)
	if err != nil {
		return state.Outcome{}, err
	}
	outcome.Records = raws(kept, deciding)
	outcome.Differences = append(withShortcomings(detail.Outcome.Differences, *deciding, kept), shared...)
	return r.said(outcome), nil
}

// vouch takes the word of a person that a transfer was made of which a list says so and no record.
// It stays without a status of the service's: its dependents go on waiting.
func (r Resolution) vouch(detail state.Detail) state.Outcome {
	listed := state.Listed{GroupID: detail.GroupID}
	if detail.Outcome.Listed != nil {
		listed = *detail.Outcome.Listed
	}
	return r.said(state.Outcome{RefID: r.RefID, Status: state.Adopted, Listed: &listed, Differences: detail.Outcome.Differences})
}

// give stores records that a person got from the service; with accept, also those that
// differ from the request.
func (r Resolution) give(ctx context.Context, records []transfer.Record, accept bool) (state.Outcome, error) {
	detail, meta, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	k, err := r.known(detail, meta)
	if err != nil {
		return state.Outcome{}, err
	}
	if records, err = r.own(ctx, detail, records, accept); err != nil {
		return state.Outcome{}, err
	}
	records = k.withoutIncome(withKept(records, keptSides(detail)))
	v := withoutCredit(judgeRecords(k, inDoubt, records), detail, records)
	if accept && isOpen(records) || v.outcome.Status.Made() && transfer.IsCreditOpen(stillShort(detail, v.outcome.Differences)) {
		return state.Outcome{}, fmt.Errorf("resolve %q: %w", r.RefID, ErrCreditOpen)
	}
	switch {
	case v.outcome.Status == state.Conflict:
		differences := unaccepted(k, detail, v.outcome.Differences)
		if err := r.agreesElse(detail, records, differences); err != nil {
			return state.Outcome{}, err
		}
		deciding, err := r.accept(records, detail)
		if _, isForeign := errors.AsType[*ForeignError](err); len(differences) > 0 && !accept && !isForeign {
			return state.Outcome{}, &DifferenceError{r.RefID, withUnpaid(differences, records)}
		}
		if err != nil {
			return state.Outcome{}, err
		}
		return r.writeAccepted(ctx, r.said(state.Outcome{
			RefID: r.RefID, Status: statusAccepted(detail.Status),
			Records: raws(records, deciding), Differences: withShortcomings(v.outcome.Differences, *deciding, records),
		}))
	case !v.outcome.Status.Made():
		return state.Outcome{}, fmt.Errorf("resolve %q: %w", r.RefID, undecidedBy(records))
	case v.outcome.Status == state.Unverified && len(v.outcome.Differences) > 0:
		if differences := stillShort(detail, v.outcome.Differences); len(differences) > 0 && !accept {
			return state.Outcome{}, &DifferenceError{r.RefID, differences}
		}
		v.outcome.Status = statusAccepted(detail.Status)
	case v.outcome.Status == state.Unverified || !detail.Status.MayBeMade():
		v.outcome.Status = state.Adopted // a person vouches for it
	}
	if accept {
		v.outcome.Differences = append(slices.Clip(v.outcome.Differences), deniedFailures(detail, v.outcome)...)
		return r.writeAccepted(ctx, r.said(v.outcome))
	}
	outcome, err := r.say(ctx, v.outcome)
	if shared, ok := errors.AsType[*state.DuplicateGroupError](err); ok {
		return state.Outcome{}, &DifferenceError{r.RefID, []transfer.Difference{transfer.SharedGroup(shared.GroupID, shared.RefID)}}
	}
	return outcome, err
}

// deniedFailures are the differences in status of a conflict that a person ends by a record that FAILED: they know that the service lists another
// one, so that no refresh asks about it again.
func deniedFailures(detail state.Detail, given state.Outcome) []transfer.Difference {
	if detail.Status != state.Conflict || detail.Outcome == nil || given.Deciding == nil || given.Deciding.Status != transfer.Failed {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(detail.Outcome.Differences), func(d transfer.Difference) bool { return d.Field != "status" })
}

// withoutCredit is the verdict on records without the credit side where the state knows one whose status is not that of
// the debit side: they don't mend that.
func withoutCredit(v verdict, detail state.Detail, records []transfer.Record) verdict {
	if !v.outcome.Status.Made() || detail.Outcome == nil || slices.ContainsFunc(records, isCredit) {
		return v
	}
	known, ok := transfer.OfCredit(detail.Outcome.Differences)
	if !ok {
		return v
	}
	switch detail.Status {
	case state.Conflict, state.Unverified:
		v.outcome.Status, v.outcome.Differences = detail.Status, append(slices.Clip(v.outcome.Differences), known)
	case state.Unsent, state.InDoubt, state.Recorded, state.Adopted, state.Refused, state.Tombstone:
	}
	return v
}

// accept chooses the record that a person accepts, which is [ErrCreditOnly] where only the
// credit side is there: it says nothing of the debit, and can't be replaced later. It is a *[ForeignError] where that is of
// another kind of transfer.
func (r Resolution) accept(records []transfer.Record, detail state.Detail) (*transfer.Record, error) {
	deciding := accepted(records, detail.RecordID)
	if deciding.ID == detail.RecordID {
		return deciding, nil
	}
	if err := foreignIncome(r.Settings, detail, records, deciding); err != nil {
		return nil, err
	}
	if deciding.Direction == transfer.Credit {
		return nil, fmt.Errorf("resolve %q: %w", r.RefID, ErrCreditOnly)
	}
	return deciding, nil
}
