package executor

import (
	"encoding/json"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// News returns what the state does not know yet of a transfer that is made, by its records: that
// the service completed it, or that it failed, or whom it paid where that was unverified, or a conflict: its credit side did not fail
// although its debit side FAILED, a FAILED one is COMPLETED or the other way round, or there is another record than the one that
// is stored. A credit side alone is held against the debit side that is stored. There is
// none, and false, where the state has it all. The differences are those that leave the state's word as it is: another amount, another
// fee. Of one of which the state has no record but a list's word, its record is new, and so is a conflict with it.
func News(d state.Detail, records []transfer.Record, settings Settings) (state.Outcome, []transfer.Difference, bool) {
	if d.IsListed() {
		return newsOfListed(&d, records, settings)
	}
	records = withKept(withNewer(d, records), storedDebit(d))
	request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), settings.FingerprintKey)
	if err != nil { // it was imported without one
		var ok bool
		if request, ok = requestOf(records, settings.Operator); !ok {
			return newsOfSide(d, records)
		}
		request.Asset, request.Amount = d.Asset, d.Amount
	}
	records = transfer.WithoutIncome(request, records, settings.Operator)
	finding := transfer.Examine(request, records, settings.Operator)
	finding.Differences = withoutAccepted(d, finding.Differences)
	differences := append(otherRecord(d, records), finding.Differences...)
	if finding.Debit != nil && finding.Debit.ID == d.RecordID {
		differences = append(differences, contradicts(d, *finding.Debit)...)
	}
	unsettled := unsettledBy(d, records, differences)
	if slices.ContainsFunc(unsettled, transfer.Difference.Overthrows) {
		return newConflict(d, records, differences), nil, true
	}
	if len(unsettled) > 0 || finding.Debit == nil || finding.Debit.ID != d.RecordID {
		return state.Outcome{}, unsettled, false
	}
	now := renewedBy(d, *finding.Debit, finding.Credit, finding.DestinationProven)
	proves := d.Status == state.Unverified && now.status == state.Adopted
	isUnpaid := len(creditChanges(d, now, finding.Credit)) > 0
	if finding.IsOpen() {
		return state.Outcome{}, nil, false
	}
	if !proves && !isUnpaid && (ended(d.RecordStatus) || finding.Debit.Status == d.RecordStatus) {
		return state.Outcome{}, nil, false
	}
	v := verdict{outcome: state.Outcome{
		RefID: d.RefID, Status: now.status, Source: state.SourceLookup,
		Records: raws(records, finding.Debit), Deciding: finding.Debit, Differences: stillAccepted(d, differences, now.accepted),
	}}
	return fallShort(v, now.isUnproven, now.shortcomings).outcome, nil, true
}

// newsOfSide is [News] of a transfer whose request nobody knows, by one side of it.
func newsOfSide(d state.Detail, records []transfer.Record) (state.Outcome, []transfer.Difference, bool) {
	differences := otherRecord(d, records)
	if same := transfer.Newest(records, func(r transfer.Record) bool { return isDebit(r) && r.ID == d.RecordID }); same != nil {
		differences = append(differences, contradicts(d, *same)...)
	}
	unsettled := unsettledBy(d, records, differences)
	if slices.ContainsFunc(unsettled, transfer.Difference.Overthrows) {
		return newConflict(d, records, differences), nil, true
	}
	return state.Outcome{}, unsettled, false
}

// stillAccepted are the differences that a person has accepted and that the records still have. Without them the state would say that the request was carried out as it is.
// Known are those of them that were found already.
func stillAccepted(d state.Detail, differences, known []transfer.Difference) []transfer.Difference {
	all := slices.Clone(known)
	for _, found := range differences {
		if d.Outcome != nil && slices.Contains(d.Outcome.Differences, found) && !slices.Contains(all, found) {
			all = append(all, found)
		}
	}
	return all
}

// withNewer are records of a file with the state's copy in the place of one that is older than that: an older export takes nothing back.
func withNewer(d state.Detail, records []transfer.Record) []transfer.Record {
	all := slices.Clone(records)
	for i := range all {
		kept, has := storedRecord(d, all[i].ID)
		if was, is := kept.Version(), all[i].Version(); has && was.Compare(is) > 0 && !was.Contradicts(is) {
			all[i] = kept
		}
	}
	return all
}

// unsettledBy are differences without those that a person has accepted, whichever of the two the state has since. Where a record ended
// otherwise than it had when that was accepted, none of them is settled. A debit is no other record than the credit of its own group that
// was stored alone.
func unsettledBy(d state.Detail, records []transfer.Record, differences []transfer.Difference) []transfer.Difference {
	if stored, has := storedRecord(d, d.RecordID); has && isCredit(stored) && stored.GroupID != "" {
		differences = slices.DeleteFunc(slices.Clone(differences), func(found transfer.Difference) bool {
			return found.Field == "id" && slices.ContainsFunc(records, func(r transfer.Record) bool { return r.ID == found.Answered && r.GroupID == stored.GroupID })
		})
	}
	isChanged := slices.ContainsFunc(records, func(r transfer.Record) bool {
		kept, has := storedRecord(d, r.ID)
		return has && ended(kept.Status) && ended(r.Status) && kept.Status != r.Status
	})
	if isChanged || d.Outcome == nil {
		return differences
	}
	rest := slices.DeleteFunc(slices.Clone(differences), func(found transfer.Difference) bool {
		turned := transfer.Difference{Field: found.Field, Asked: found.Answered, Answered: found.Asked}
		return slices.Contains(d.Outcome.Differences, found) || slices.Contains(d.Outcome.Differences, turned)
	})
	isOther := func(found transfer.Difference) bool { return found.Field == "id" && !found.IsSeveral() }
	if !slices.ContainsFunc(rest, isOther) {
		return slices.DeleteFunc(rest, transfer.Difference.IsSeveral) // an earlier version had their ids accepted alone
	}
	return rest
}

// newConflict is the outcome of records that overthrow what the state has, by all their differences: an acceptance is of them all. Where the
// stored record is not among them, it is kept with them, so that it can be accepted.
func newConflict(d state.Detail, records []transfer.Record, differences []transfer.Difference) state.Outcome {
	o := state.Outcome{
		RefID: d.RefID, Status: state.Conflict, Source: state.SourceLookup,
		Reason: Describe(differences), Records: raws(records, nil), Differences: differences,
	}
	stored, has := storedRecord(d, d.RecordID)
	if has && !slices.ContainsFunc(records, func(r transfer.Record) bool { return r.ID == d.RecordID }) {
		o.Records = append([]json.RawMessage{stored.Raw}, o.Records...)
	}
	return o
}

// newsOfListed is [News] of a transfer of which the state has a list's word alone: its record, which
// decides, or the conflict of its record with that word.
func newsOfListed(d *state.Detail, records []transfer.Record, settings Settings) (state.Outcome, []transfer.Difference, bool) {
	k := newUnsettled(*d, "", settings).knownTransfer
	v := judgeRecords(k, inDoubt, records)
	v.outcome.Source = state.SourceLookup
	switch v.outcome.Status {
	case state.Conflict:
		v.outcome.Differences = unaccepted(k, *d, v.outcome.Differences)
		if len(v.outcome.Differences) > 0 {
			return v.outcome, nil, true
		}
		i := slices.IndexFunc(records, isDebit) // a person has accepted the difference
		if i < 0 {
			return state.Outcome{}, nil, false
		}
		v.outcome.Deciding = &records[i]
		v.outcome.Records, v.outcome.Differences = raws(records, &records[i]), d.Outcome.Differences
		v.outcome.Status = d.Status
	case state.Recorded, state.Adopted, state.Unverified:
		if d.Status == state.Adopted {
			v.outcome.Status = state.Adopted // a person has vouched for it
		}
	case state.InDoubt, state.Unsent, state.Refused, state.Tombstone:
		return state.Outcome{}, nil, false // the credit side alone
	}
	return v.outcome, nil, true
}
