package executor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Others are ref_ids of an export that no line of a plan is about.
type Others struct {
	// Unknown are those of which the state has nothing, and Count is how many they are.
	Unknown iter.Seq[string]
	Count   int
	// Listed is what a list says of a ref_id, where it has it; nil for no list. Of what has records
	// it is not asked.
	Listed func(refID string) (Claim, bool)
	// Known are those of transfers that are made, of which the export may say something new.
	Known []string
}

// Adopt records what was made before this state knew of it: run.Finder knows exported
// records, by ref_id. Nothing is sent, no token is asked for, and lists do not lag. What is found
// of the plan's lines and of doubts is judged as by a lookup before the first sending: adopted,
// unverified or in conflict. Records of others that the state does not know are adopted where both
// sides name the whole transfer; where they don't, the record alone is kept, as unverified: the
// ref_id exists at the service, is never sent, and a person should look. Of others that are
// made, what is new is kept (see [News]). A page of records is in memory at once.
//
// The error says that the state could not be read or written; the Summary holds as for
// [Apply], with ResultNotAttempted for what the export does not have. On a [Paper] it is what
// would be recorded.
func Adopt(ctx context.Context, run Run, others Others) (Summary, error) {
	all := newLines(run.Plan, isAdoptable)
	c := newCourse(ctx, run, all.len())
	defer c.release()
	known, err := c.takeSurvey(c.lasting, all)
	if err == nil {
		run.Begun.File = placeOf(run.Journal)
		err = c.journal.append(run.Begun)
	}
	if err != nil {
		c.deaf()
		return c.report.summary, fmt.Errorf("begin run %s: %w", run.Begun.RunID, err)
	}
	o := newOrder(c, known, all)
	c.report.tell(Event{Type: EventBegun, Total: o.total() + others.Count + len(others.Known)})
	err = c.adopt(o, others.Listed)
	if err == nil {
		err = c.adoptUnknown(others)
	}
	if err == nil {
		err = c.adoptNews(others.Known)
	}
	return c.end(err)
}

// isAdoptable reports whether nothing is recorded yet under a line, doubts included.
func isAdoptable(a planner.Action) bool {
	switch a {
	case planner.Submit, planner.Wait, planner.Expired, planner.Resolve:
		return true
	case planner.None, planner.Conflict, planner.Failed, planner.Undeclared:
	}
	return false
}

// adopt looks up doubts and lines, 100 at a time.
func (c *course) adopt(o *order, listed func(string) (Claim, bool)) error {
	for doubts := range slices.Chunk(o.doubts, FindMax) {
		for i, f := range c.lookUpDoubts(doubts) {
			if !f.settled {
				f.verdict = o.notInExport(doubts[i])
				if claim, ok := claimOf(listed, doubts[i].refID); ok && !f.undue.Holds() {
					f.verdict = holdClaimed(doubts[i], claim)
				}
			}
			c.report.settle(doubts[i].request, f.verdict, o.planned[doubts[i].refID] != nil)
		}
	}
	jobs := make([]*job, 0, FindMax)
	for i := range o.lines {
		change := o.change(int32(i))
		if v, stands := o.standing(&change); stands {
			c.report.settle(change.Request, v, true)
			continue
		}
		j := o.jobOf(&change)
		j.planned = true
		if jobs = append(jobs, j); len(jobs) < FindMax {
			continue
		}
		if err := c.adoptJobs(jobs, listed); err != nil {
			return err
		}
		jobs = jobs[:0]
	}
	return c.adoptJobs(jobs, listed)
}

// notInExport leaves a doubt to what the plan says goes on with it, and to a person's word only where
// nothing else does.
func (o *order) notInExport(u *unsettled) verdict {
	v := undecided(u.known, "The export has no record that settles it.")
	if change := o.planned[u.refID]; change == nil || change.Next != doubt.Apply {
		v.next, v.idle = command(u.refID, "--not-made"), true
		v.outcome.Reason += " Where the service's operator says that there is none, say so."
	}
	return v
}

// adoptJobs looks up at most 100 transfers and tells what became of each.
func (c *course) adoptJobs(jobs []*job, listed func(string) (Claim, bool)) error {
	if len(jobs) == 0 || c.report.interrupted() {
		return nil
	}
	findings, err := c.precheck(jobs)
	if err != nil {
		return err
	}
	c.adoptClaims(jobs, findings, listed)
	for i, f := range findings {
		switch {
		case !f.settled:
			f.verdict = unsent(jobs[i].known, "The export has no record of it.")
		case f.verdict.result == ResultInDoubt: // a side that decides nothing
			f.verdict.next, f.verdict.idle = command(jobs[i].refID, "--recorded FILE"), true
		}
		c.report.settle(jobs[i].request, f.verdict, jobs[i].planned)
	}
	return nil
}

// adoptUnknown adopts what both sides of an export name whole, and keeps halves of the others,
// 100 at a time.
func (c *course) adoptUnknown(others Others) error {
	page := make([]string, 0, FindMax)
	adopt := func() error {
		found, err := c.run.Finder.Find(c.lasting, page)
		if err != nil {
			return err
		}
		jobs, halves := c.others(page, found, others.Listed)
		page = page[:0]
		if err := c.adoptJobs(jobs, nil); err != nil {
			return err
		}
		c.adoptHalves(halves)
		return nil
	}
	for refID := range others.Unknown {
		if c.report.interrupted() {
			return nil
		}
		if page = append(page, refID); len(page) < FindMax {
			continue
		}
		if err := adopt(); err != nil {
			return err
		}
	}
	if len(page) == 0 {
		return nil
	}
	return adopt()
}

// others makes jobs of records that no line of the plan is about, where both sides say what the
// request was, and halves of the others. The state knows nothing of their ref_ids.
func (c *course) others(refIDs []string, found map[string][]transfer.Record, listed func(string) (Claim, bool)) (jobs []*job, halves []half) {
	run := c.run
	for _, refID := range refIDs {
		records := found[refID]
		if len(records) == 0 {
			if claim, ok := claimOf(listed, refID); ok {
				halves = append(halves, newClaimed(run, claim))
			}
			continue
		}
		request, ok := requestOf(records, run.Policy.Operator)
		if !ok {
			halves = append(halves, newHalf(run, refID, records))
			continue
		}
		jobs = append(jobs, &job{
			known: known{refID: refID, runID: run.Begun.RunID, request: request, operator: run.Policy.Operator},
			intent: state.Intent{
				RefID: refID, RunID: run.Begun.RunID, Operation: request.Operation,
				Path: run.Policy.Operator.Path(request.Operation),
				Body: string(request.Body()), Fingerprint: request.Fingerprint().String(),
			},
		})
	}
	return jobs, halves
}

// half is a transfer of which an export does not say the whole request.
type half struct {
	request transfer.Request // as far as it is known
	verdict verdict
	why     error // it is not taken
}

// refusal is why the state does not take it; nil where it does.
func (h *half) refusal() error {
	if h.why != nil {
		return h.why
	}
	_, err := state.NewDraft(h.verdict.outcome)
	return err
}

// newHalf judges records without a request: the debit side decides where there is one.
func newHalf(run Run, refID string, records []transfer.Record) half {
	deciding, has := &records[0], "only the credit side, which does not say what was debited"
	for i := range records {
		if records[i].Direction == transfer.Debit {
			deciding, has = &records[i], "no credit side that says whom it paid"
			break
		}
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
	amount, _ := transfer.ParseAmount(deciding.Amount) // what is none is refused by the state
	return half{request: transfer.Request{RefID: refID, Asset: deciding.Asset, Amount: amount}, verdict: v}
}

// adoptHalves makes what is known of half exported transfers durable, and tells it.
func (c *course) adoptHalves(halves []half) {
	for chunk := range slices.Chunk(halves, FindMax) {
		var entries []state.Entry
		for _, h := range chunk {
			if h.refusal() == nil {
				entries = append(entries, h.verdict.outcome)
			}
		}
		together := len(entries) == 0 || c.journal.append(entries...) == nil
		for _, h := range chunk {
			v := h.verdict
			if err := h.refusal(); err != nil {
				v = untaken(v, err)
			} else if v.written = together; !together {
				v = c.writeHalf(v)
			}
			c.report.settle(h.request, v, false)
		}
	}
}

// writeHalf makes one outcome durable.
func (c *course) writeHalf(v verdict) verdict {
	err := c.journal.append(v.outcome)
	if against, ok := contradiction(err, v); ok { // never of the group_id: what is kept is unverified as it is
		return untaken(against, errors.New(against.outcome.Reason))
	}
	if err != nil {
		return untaken(v, err)
	}
	v.written = true
	return v
}

// untaken is what the state refuses: it is a conflict that is told and stands nowhere else,
// since a ref_id without a request has no row that could keep it.
func untaken(v verdict, why error) verdict {
	v.outcome.Status, v.result, v.stop, v.next = state.Conflict, ResultConflict, "", ""
	v.outcome.Reason = fmt.Sprintf("%v. The state has nothing of it: never declare this ref_id", why)
	return v
}

// requestOf is what was asked for when both sides of one transfer came out of it.
func requestOf(records []transfer.Record, operator transfer.Operator) (transfer.Request, bool) {
	var debit, credit *transfer.Record
	for i := range records {
		switch records[i].Direction {
		case transfer.Debit:
			debit = &records[i]
		case transfer.Credit:
			credit = &records[i]
		}
	}
	if debit == nil || credit == nil {
		return transfer.Request{}, false
	}
	request, ok := requestOfDebit(debit, operator)
	request.ToProfileID, request.ToIdentityID, request.ToAccountID = credit.ProfileID, credit.IdentityID, credit.AccountID
	if request.Operation == transfer.Platform {
		request.RecipientMetadata = transfer.NewMetadata(credit.Metadata)
	}
	return request, ok
}

// requestOfDebit is what its debit says of what was asked for: all but the destination.
func requestOfDebit(debit *transfer.Record, operator transfer.Operator) (transfer.Request, bool) {
	amount, err := transfer.ParseAmount(debit.Amount)
	if err != nil {
		return transfer.Request{}, false
	}
	request := transfer.Request{
		RefID: debit.RefID, Amount: amount, Asset: debit.Asset,
		FromProfileID: debit.ProfileID, FromIdentityID: debit.IdentityID, FromAccountID: debit.AccountID,
		Metadata: transfer.NewMetadata(debit.Metadata),
	}
	for _, operation := range transfer.Operations() {
		if debit.Type == operator.RecordType(operation, transfer.Debit) {
			request.Operation = operation
		}
	}
	return request, request.Operation != ""
}
