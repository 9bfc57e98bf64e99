package executor

import (
	"fmt"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// HasAcceptedGroup reports whether a person has accepted the group_id of a transfer as its record has it.
func HasAcceptedGroup(detail state.Detail) bool {
	return detail.Outcome != nil && slices.ContainsFunc(detail.Outcome.Differences, func(d transfer.Difference) bool { return d.Field == "group_id" })
}

// Unaccepted are the [transfer.Shortcomings] of the record of a transfer that is recorded or adopted, and the status of a
// credit side that is not COMPLETED although its debit side is, or is neither FAILED nor PENDING although that FAILED, which no person has
// accepted. An earlier version recorded such transfers. That another one has its group_id is not among them. Of one that is
// unverified there is only the latter: the rest is said of it anyway.
func Unaccepted(detail state.Detail) []transfer.Difference {
	isVouched := detail.Outcome != nil && detail.Outcome.Source == state.SourcePerson
	if isVouched || !detail.Status.Made() {
		return nil
	}
	kept, err := keptRecords(detail)
	i := slices.IndexFunc(kept, func(r transfer.Record) bool { return r.ID == detail.RecordID })
	if err != nil || i < 0 {
		return nil
	}
	record, credit := kept[i], transfer.Newest(kept, isCredit)
	short := transfer.ContradictSides(&record, credit)
	if detail.Status != state.Unverified {
		record.GroupID = orElse(record.GroupID, detail.GroupID)
		short = slices.Concat(short, transfer.Shortcomings(record), transfer.UnpaidCredit(&record, credit))
	}
	return transfer.BeyondAccepted(short, detail.Outcome.Differences)
}

// withShortcomings are differences that a person accepts with the deciding one of records, and in what else that falls short, or its
// credit side does or contradicts it.
func withShortcomings(differences []transfer.Difference, deciding transfer.Record, records []transfer.Record) []transfer.Difference {
	credit := transfer.Newest(records, isCredit)
	short := slices.Concat(transfer.Finding{Debit: &deciding, Credit: credit}.Shortcomings(), transfer.ContradictSides(&deciding, credit))
	return slices.Concat(differences, transfer.BeyondAccepted(short, differences))
}

// withUnpaid are differences, and that of a credit side which is not COMPLETED although the debit side is: a person who lets a
// record stand has to know of it.
func withUnpaid(differences []transfer.Difference, records []transfer.Record) []transfer.Difference {
	debit := transfer.Newest(records, isDebit)
	if debit == nil {
		return differences
	}
	unpaid := transfer.UnpaidCredit(debit, transfer.Newest(records, isCredit))
	return slices.Concat(differences, transfer.BeyondAccepted(unpaid, differences))
}

// isOpen reports whether the credit side among records is PENDING although the debit side is final.
func isOpen(records []transfer.Record) bool {
	return transfer.Finding{Debit: transfer.Newest(records, isDebit), Credit: transfer.Newest(records, isCredit)}.IsOpen()
}

// stillShort are the shortcomings of given records that nobody has accepted yet. Whom they paid, the
// person who gives them says.
func stillShort(detail state.Detail, shortcomings []transfer.Difference) []transfer.Difference {
	var accepted []transfer.Difference
	if detail.Status.Made() && detail.Status != state.Unverified && detail.Outcome != nil {
		accepted = detail.Outcome.Differences
	}
	return transfer.BeyondAccepted(shortcomings, append(slices.Clip(accepted), transfer.Difference{Field: fieldDestination}))
}

// statusAccepted is what a transfer becomes by a record that differs and is accepted: ours
// where a request of ours may have made it.
func statusAccepted(before state.Status) state.Status {
	switch before {
	case state.InDoubt, state.Conflict, state.Recorded:
		return state.Recorded
	case state.Unsent, state.Adopted, state.Unverified, state.Refused, state.Tombstone:
		return state.Adopted
	}
	panic(fmt.Sprintf("a record of %v was accepted", before))
}

// unaccepted are those of the differences that a made transfer's stored records do not have:
// in the others a person has accepted it. Sides that contradict each other an earlier version stored unasked.
func unaccepted(k knownTransfer, detail state.Detail, differences []transfer.Difference) []transfer.Difference {
	if !detail.Status.Made() || detail.Outcome == nil {
		return differences
	}
	accepted := slices.Clone(detail.Outcome.Differences)
	if stored, err := keptRecords(detail); err == nil { // otherwise they excuse nothing
		kept := judgeRecords(k, inDoubt, stored).outcome.Differences
		accepted = append(accepted, slices.DeleteFunc(kept, transfer.Difference.IsOfCredit)...)
	}
	return slices.DeleteFunc(slices.Clone(differences), func(d transfer.Difference) bool { return slices.Contains(accepted, d) })
}
