package executor

import (
	"fmt"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// News is what records of a transfer that is made say that the state does not know yet: that
// the service completed it, or that it failed, or whom it paid where that was unverified. There is
// none, and false, where the state has it all. The differences are those of records that are not
// of the transfer that is stored: another id, another amount. Of one of which the state has no
// record but a list's word, its record is new, and so is a conflict with it.
func News(d state.Detail, records []transfer.Record, policy Policy) (state.Outcome, []transfer.Difference, bool) {
	if d.IsListed() {
		return newsOfListed(&d, records, policy)
	}
	request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), policy.FingerprintKey)
	if err != nil { // it was imported without one
		var ok bool
		if request, ok = requestOf(records, policy.Operator); !ok {
			return state.Outcome{}, otherRecord(d, records), false
		}
		request.Asset, request.Amount = d.Asset, d.Amount
	}
	finding := transfer.Examine(request, records, policy.Operator)
	differences := append(otherRecord(d, records), finding.Differences...)
	if finding.Debit != nil && finding.Debit.ID == d.RecordID {
		differences = append(differences, contradicts(d, *finding.Debit)...)
	}
	if len(differences) > 0 || finding.Debit == nil || finding.Debit.ID != d.RecordID {
		return state.Outcome{}, differences, false
	}
	stands := standingOf(d, *finding.Debit, finding.DestinationProven)
	proves := d.Status == state.Unverified && stands.status == state.Adopted
	if !proves && (ended(d.RecordStatus) || finding.Debit.Status == d.RecordStatus) {
		return state.Outcome{}, nil, false
	}
	v := verdict{outcome: state.Outcome{
		RefID: d.RefID, Status: stands.status, Source: state.SourceLookup,
		Records: raws(records, finding.Debit), Deciding: finding.Debit, Differences: stands.accepted,
	}}
	return fallShort(v, stands.isUnproven, stands.shortcomings).outcome, nil, true
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

// storedRecord is the copy of a record that the state has.
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

// adoptNews keeps what the export says anew of transfers that are made, 100 at a time.
func (c *course) adoptNews(refIDs []string) error {
	for page := range slices.Chunk(refIDs, FindMax) {
		if c.report.interrupted() {
			return nil
		}
		found, err := c.run.Finder.Find(c.lasting, page)
		if err != nil {
			return err
		}
		snapshot, err := c.run.Journal.Snapshot(c.lasting)
		if err != nil {
			return err
		}
		details, err := snapshot.Details(c.lasting, page...)
		_ = snapshot.Close() // it was only read
		if err != nil {
			return err
		}
		var findings []finding
		var requests []transfer.Request
		for i := range details {
			d := &details[i]
			o, _, isNew := News(*d, found[d.RefID], c.run.Policy)
			if !isNew {
				continue
			}
			o.RunID = c.run.Begun.RunID
			v := verdict{outcome: o, result: ResultConflict, next: command(d.RefID, "--accept-record")}
			if record := o.Deciding; record != nil {
				v.outcome.Reason = orElse(v.outcome.Reason, fmt.Sprintf("the export has it as %s", record.Status))
				v.status, v.recordID, v.group = record.Status, record.ID, record.GroupID
				v.result, v.next = resultOf(o.Status, record.Status), ""
			}
			findings = append(findings, finding{verdict: v, settled: true})
			requests = append(requests, transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount})
		}
		c.writeFindings(findings)
		for i, f := range findings {
			c.report.settle(requests[i], f.verdict, false)
		}
	}
	return nil
}
