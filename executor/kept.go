package executor

import (
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// withKept are records of one transfer, with the other side of it that the state has kept: files and lists may have the
// sides one after the other. A record of a side that is among them already stands for the kept copy of that. A kept credit side
// only speaks against their debit side, and proves nothing. No records stay none.
func withKept(records, kept []transfer.Record) []transfer.Record {
	all, debit := records, transfer.Newest(records, isDebit)
	for i := range kept {
		k := &kept[i]
		isThere := slices.ContainsFunc(records, func(r transfer.Record) bool { return r.Direction == k.Direction })
		if len(records) > 0 && !isThere && (isDebit(*k) || debit != nil && transfer.SpeaksAgainst(debit, k)) {
			all = append(slices.Clip(all), *k)
		}
	}
	return all
}

// storedDebit is the debit side that the state has of a transfer that is made; none where it has no record of that.
func storedDebit(d state.Detail) []transfer.Record {
	stored, has := storedRecord(d, d.RecordID)
	if !d.Status.Made() || !has || !isDebit(stored) {
		return nil
	}
	return []transfer.Record{stored}
}

// keptSides are the records that the state has of a transfer and that new ones of its other side are held against: the debit side
// of one that is made, and of a doubt a credit side that is final.
func keptSides(d state.Detail) []transfer.Record {
	if d.Status != state.InDoubt {
		return storedDebit(d)
	}
	kept, err := keptRecords(d)
	if err != nil {
		return nil
	}
	return thoseOf(kept, func(r *transfer.Record) bool { return isCredit(*r) && r.Status.Final() })
}

// withoutAccepted are differences without that of the credit side which a person has accepted.
func withoutAccepted(d state.Detail, differences []transfer.Difference) []transfer.Difference {
	if d.Outcome == nil {
		return differences
	}
	return slices.DeleteFunc(slices.Clone(differences), func(found transfer.Difference) bool {
		return found.IsOfCredit() && slices.Contains(d.Outcome.Differences, found)
	})
}
