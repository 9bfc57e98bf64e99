package executor

import (
	"errors"
	"fmt"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// incomplete is a transfer of which an export does not say the whole request.
type incomplete struct {
	request transfer.Request // as far as it is known
	verdict verdict
	why     error // it is not taken
}

// refusal is why the state does not take it; nil where it does.
func (i *incomplete) refusal() error {
	if i.why != nil {
		return i.why
	}
	_, err := state.NewDraft(i.verdict.outcome)
	return err
}

// newIncomplete judges records without a request: the debit side decides where there is one.
func newIncomplete(run *Run, refID string, records []transfer.Record) incomplete {
	deciding, has := &records[0], "only the credit side, which does not say what was debited"
	if debit := transfer.Newest(records, isDebit); debit != nil {
		deciding, has = debit, "no credit side that says whom it paid"
	}
	if len(records) > 1 {
		has = fmt.Sprintf("%d records that do not say together what was asked for", len(records))
	}
	v := verdict{
		outcome: state.Outcome{
			RefID: refID, RunID: run.Begun.RunID, Status: state.Unverified, Source: state.SourceImport,
			Reason:  "nobody declares it, and the export has " + has,
			Records: raws(records, deciding),
		},
		next:   command(refID, "--accept-record"),
		status: deciding.Status, recordID: deciding.ID, group: deciding.GroupID,
	}
	v.result = resultOf(v.outcome.Status, deciding.Status)
	credit := transfer.Newest(records, isCredit)
	if deciding.Direction == transfer.Debit {
		v = fallShort(v, true, transfer.UnpaidCredit(deciding, credit))
	}
	amount, _ := transfer.ParseAmount(deciding.Amount) // the state refuses a text that is no amount
	one := incomplete{request: transfer.Request{RefID: refID, Asset: deciding.Asset, Amount: amount}, verdict: v}
	if differences := transfer.ContradictSides(deciding, credit); len(differences) > 0 {
		one.why = errors.New(Describe(differences))
	}
	return one
}

// incomplete writes incomplete transfers down, and tells them.
func (a *adoption) incomplete(all []incomplete) {
	for chunk := range slices.Chunk(all, FindMax) {
		var entries []state.Entry
		for _, i := range chunk {
			if i.refusal() == nil {
				entries = append(entries, i.verdict.outcome)
			}
		}
		together := len(entries) == 0 || a.run.journal.append(entries...) == nil
		for _, i := range chunk {
			v := i.verdict
			if err := i.refusal(); err != nil {
				v = untaken(v, err)
			} else if v.written = together; !together {
				v = a.writeIncomplete(v)
			}
			a.run.report.settle(i.request, v, false)
		}
	}
}

// writeIncomplete makes one outcome durable.
func (a *adoption) writeIncomplete(v verdict) verdict {
	err := a.run.journal.append(v.outcome)
	if against, ok := a.run.journal.contradiction(err, v); ok { // never of the group_id: an incomplete transfer is unverified anyway
		v = untaken(against, errors.New(against.outcome.Reason))
		_, isStored := errors.AsType[*state.DuplicateRecordError](err)
		v.untaken = !isStored
		return v
	}
	if err != nil {
		return untaken(v, err)
	}
	v.written = true
	return v
}

// untaken returns the verdict on a transfer that the state refuses: a conflict that is told and kept
// nowhere, since a ref_id without a request has no row that could keep it.
func untaken(v verdict, why error) verdict {
	v.outcome.Status, v.result, v.stop, v.next = state.Conflict, ResultConflict, "", ""
	v.outcome.Reason = fmt.Sprintf("%v. The state has nothing of it: never declare this ref_id", why)
	v.untaken = true
	return v
}
