package executor

import (
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// renewal says what a made transfer becomes by a newer copy of its record.
type renewal struct {
	status       state.Status
	shortcomings []transfer.Difference // in what the copy falls short, beyond what a person has accepted
	accepted     []transfer.Difference // in what it does, and a person has accepted that
	isUnproven   bool                  // nothing proves whom it paid
}

// renewedBy says that a transfer is unverified where the newer copy falls short, or the credit side that was found
// with it, and adopted where all that it lacked is there now. credit may be nil.
func renewedBy(d state.Detail, newer transfer.Record, credit *transfer.Record, proven bool) renewal {
	newer.GroupID = orElse(newer.GroupID, d.GroupID) // what a shorter copy lacks is stored
	s := renewal{status: d.Status, shortcomings: slices.Concat(transfer.Shortcomings(newer), transfer.UnpaidCredit(&newer, credit))}
	var before []transfer.Difference
	if d.Outcome != nil {
		before = d.Outcome.Differences
	}
	isOf := func(field string) func(transfer.Difference) bool {
		return func(d transfer.Difference) bool { return d.Field == field }
	}
	if d.Status != state.Unverified {
		s.shortcomings = transfer.BeyondAccepted(s.shortcomings, before)
		for _, field := range []string{"group_id", "total"} {
			if i := slices.IndexFunc(before, isOf(field)); i >= 0 {
				s.accepted = append(s.accepted, before[i])
			}
		}
		for _, d := range before {
			if d.Field == "id" { // the service has the other transfer still
				s.accepted = append(s.accepted, d)
			}
		}
		if credit, ok := transfer.OfCredit(before); ok {
			s.accepted = append(s.accepted, credit)
		}
		return s
	}
	if unpaid, ok := transfer.OfCredit(before); ok && credit == nil && newer.Status == transfer.Completed {
		s.shortcomings = append(s.shortcomings, unpaid) // a list that lacks the side says nothing of it
	}
	if i := slices.IndexFunc(before, isOf("group_id")); i >= 0 && d.GroupID != "" && newer.GroupID == d.GroupID && newer.Status != transfer.Failed {
		s.shortcomings = append(s.shortcomings, before[i]) // another transfer has it still
	}
	s.isUnproven = !proven && (len(before) == 0 || slices.ContainsFunc(before, isOf(fieldDestination)))
	if len(s.shortcomings) == 0 && !s.isUnproven {
		s.status = state.Adopted
	}
	return s
}

func ended(s transfer.RecordStatus) bool { return s == transfer.Completed || s == transfer.Failed }

// contradicts names what a copy of the stored record can't say any more once the service has said
// the other: another group_id, and after COMPLETED or FAILED the opposite, or another total or fee.
// An older copy, PENDING still, contradicts nothing.
func contradicts(d state.Detail, debit transfer.Record) []transfer.Difference {
	var differences []transfer.Difference
	differ := func(field, asked, answered string) {
		differences = append(differences, transfer.Difference{Field: field, Asked: asked, Answered: answered})
	}
	if d.GroupID != "" && debit.GroupID != "" && d.GroupID != debit.GroupID {
		differ("group_id", d.GroupID, debit.GroupID)
	}
	if !ended(d.RecordStatus) || !ended(debit.Status) {
		return differences
	}
	if d.RecordStatus != debit.Status {
		differ("status", string(d.RecordStatus), string(debit.Status))
		return differences
	}
	stored, isStored := storedRecord(d, debit.ID)
	if !isStored {
		return differences
	}
	money := func(field, asked, answered string) {
		if asked != answered && !transfer.SameNumber(asked, answered) {
			differ(field, asked, answered)
		}
	}
	money("total", stored.Total, debit.Total)
	money("fee", stored.Fee, debit.Fee)
	return differences
}

// storedRecord returns the state's copy of a record.
func storedRecord(d state.Detail, id string) (transfer.Record, bool) {
	if d.Outcome == nil {
		return transfer.Record{}, false
	}
	for _, raw := range d.Outcome.Records {
		if record, err := transfer.ParseRecord(raw); err == nil && record.ID == id {
			return record, true
		}
	}
	return transfer.Record{}, false
}

// otherRecord is the difference where a debit is not the one that is stored. Where a credit was
// stored alone, it stands for its debit.
func otherRecord(d state.Detail, records []transfer.Record) []transfer.Difference {
	for _, r := range records {
		if r.ID == d.RecordID {
			return nil
		}
	}
	for _, r := range records {
		if r.Direction == transfer.Debit {
			return []transfer.Difference{{Field: "id", Asked: d.RecordID, Answered: r.ID}}
		}
	}
	return nil
}
