package executor

import (
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// News returns what the state does not know yet of a transfer that is made, by its records: that
// the service completed it, or that it failed, or whom it paid where that was unverified, or that its credit side did not fail
// although its debit side FAILED, which is a conflict. A credit side alone is held against the debit side that is stored. There is
// none, and false, where the state has it all. The differences are those of records that are not of
// the transfer that is stored: another id, another amount. Of one of which the state has no record
// but a list's word, its record is new, and so is a conflict with it.
func News(d state.Detail, records []transfer.Record, settings Settings) (state.Outcome, []transfer.Difference, bool) {
	if d.IsListed() {
		return newsOfListed(&d, records, settings)
	}
	records = withKept(records, storedDebit(d))
	request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), settings.FingerprintKey)
	if err != nil { // it was imported without one
		var ok bool
		if request, ok = requestOf(records, settings.Operator); !ok {
			return state.Outcome{}, otherRecord(d, records), false
		}
		request.Asset, request.Amount = d.Asset, d.Amount
	}
	finding := transfer.Examine(request, records, settings.Operator)
	finding.Differences = withoutAccepted(d, finding.Differences)
	differences := append(otherRecord(d, records), finding.Differences...)
	if finding.Debit != nil && finding.Debit.ID == d.RecordID {
		differences = append(differences, contradicts(d, *finding.Debit)...)
	}
	if _, isReversed := transfer.OfCredit(differences); isReversed && len(differences) == 1 && finding.Debit.ID == d.RecordID {
		return state.Outcome{
			RefID: d.RefID, Status: state.Conflict, Source: state.SourceLookup,
			Reason: Describe(differences), Records: raws(records, finding.Debit), Differences: differences,
		}, nil, true
	}
	if len(differences) > 0 || finding.Debit == nil || finding.Debit.ID != d.RecordID {
		return state.Outcome{}, differences, false
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
		Records: raws(records, finding.Debit), Deciding: finding.Debit, Differences: now.accepted,
	}}
	return fallShort(v, now.isUnproven, now.shortcomings).outcome, nil, true
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
