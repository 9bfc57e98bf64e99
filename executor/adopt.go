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
	// Listed returns the line of a list about a ref_id, and whether there is one; nil for no list.
	// Adopt asks it only about ref_ids without records.
	Listed func(refID string) (ListedTransfer, bool)
	// Known are those of transfers that are made, of which the export may say something new.
	Known []string
}

// Adopt records transfers that were made before this state knew of them: run.Finder knows exported
// records, by ref_id. Adopt sends nothing and asks for no token, and its lists do not lag. It judges
// the records of the plan's lines and of doubts as a lookup before the first sending does: adopted,
// unverified or in conflict. It adopts records of others, which the state does not know, if both
// sides name the whole transfer. If they don't, it keeps the record alone, as unverified: the
// ref_id exists at the service, remit never sends it, and a person should look. Of others that are
// made, it keeps the news (see [News]). What run.Finder can't read is never called absent: a line or a
// doubt of it is kept in doubt, with the reason, and no apply sends it. A page of records is in memory at
// once.
//
// The error says that the state could not be read or written; the Summary holds as for
// [Apply], with ResultNotAttempted for transfers without a record in the export. On a [DryRun] it
// holds as if all of it were recorded.
func Adopt(ctx context.Context, run Run, others Others) (Summary, error) {
	all := newLines(run.Plan, isAdoptable)
	active := newActiveRun(ctx, run, all.len())
	defer active.life.release()
	survey, err := takeSurvey(active.life.lasting, &active.Run, active.clocks, all)
	if err == nil {
		active.Begun.File = fileOf(run.Journal)
		err = active.journal.append(active.Begun)
	}
	if err != nil {
		active.life.ignoreInterrupts()
		return active.report.summary, fmt.Errorf("begin run %s: %w", run.Begun.RunID, err)
	}
	a := newAdoption(active, survey, all, others.Listed)
	active.report.tell(Event{Type: EventBegun, Total: len(a.lines.numbers) + len(survey.doubts) + others.Count + len(others.Known)})
	a.doubts()
	err = a.planned()
	if err == nil {
		err = a.others(others.Unknown)
	}
	if err == nil {
		err = a.news(others.Known)
	}
	active.life.ignoreInterrupts()
	err = active.end(errors.Join(err, active.journal.failure()))
	return active.summary(), err
}

// adoption is an Adopt under way.
type adoption struct {
	run     *activeRun
	survey  *survey
	drafter drafter
	listed  func(string) (ListedTransfer, bool)

	doubtful map[string]*planner.Change // lines that are in doubt
	lines    lines                      // the others
}

func newAdoption(run *activeRun, survey *survey, all lines, listed func(string) (ListedTransfer, bool)) *adoption {
	a := &adoption{
		run: run, survey: survey, drafter: drafter{&run.Run, survey}, listed: listed,
		doubtful: make(map[string]*planner.Change), lines: lines{of: all.of},
	}
	isDoubt := make(map[string]bool, len(survey.doubts))
	for _, d := range survey.doubts {
		isDoubt[d.refID] = true
	}
	for i, change := range all.all() {
		if !isDoubt[change.RefID] {
			a.lines.numbers = append(a.lines.numbers, all.numbers[i])
			continue
		}
		doubtful := *change // it is valid until the next
		a.doubtful[change.RefID] = &doubtful
	}
	return a
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

// doubts looks the doubts up.
func (a *adoption) doubts() {
	for doubts := range slices.Chunk(a.survey.doubts, FindMax) {
		findings := byLookup(a.run).doubts(doubts)
		a.unreadDoubts(doubts, findings)
		for i, f := range findings {
			d := doubts[i]
			if !f.settled {
				f.verdict = a.notSettled(d, f.undue)
			}
			a.run.report.settle(d.request, f.verdict, a.doubtful[d.refID] != nil)
		}
	}
}

// planned looks up the lines of the plan, 100 at a time.
func (a *adoption) planned() error {
	attempts := make([]*attempt, 0, FindMax)
	for _, change := range a.lines.all() {
		if v, isSettled := a.drafter.earlier(change); isSettled {
			a.run.report.settle(change.Request, v, true)
			continue
		}
		one := a.drafter.attempt(change)
		one.planned, one.stands = true, change.Action == planner.Wait || change.Action == planner.Expired
		if attempts = append(attempts, one); len(attempts) < FindMax {
			continue
		}
		if err := a.attempts(attempts, a.listed); err != nil {
			return err
		}
		attempts = attempts[:0]
	}
	return a.attempts(attempts, a.listed)
}

// notSettled leaves a doubt to what the plan says goes on with it, and to a person's word only where
// nothing else does. One of which the export has something that decides nothing, as undue says, may have been made: nobody
// is to say that it was not.
func (a *adoption) notSettled(u *unsettled, undue doubt.Hold) verdict {
	if one, ok := listedUnder(a.listed, u.refID); ok && !undue.Holds() {
		return holdListed(u, one)
	}
	v := undecided(u.knownTransfer, orElse(undue.Text(), "The export has no record that settles it."))
	switch change := a.doubtful[u.refID]; {
	case change != nil && change.Next == doubt.Apply:
	case undue.Holds():
		v.next, v.idle = command(u.refID, "--recorded FILE"), true
	default:
		v.next, v.idle = command(u.refID, "--not-made"), true
		v.outcome.Reason += " Where the service's operator says that there is none, say so."
	}
	return v
}

// attempts looks up at most 100 transfers and tells the result of each.
func (a *adoption) attempts(attempts []*attempt, listed func(string) (ListedTransfer, bool)) error {
	if len(attempts) == 0 || a.run.report.interrupted() {
		return nil
	}
	findings, err := byLookup(a.run).firsts(attempts)
	if err != nil {
		return err
	}
	a.unreadFirsts(attempts, findings)
	a.listedOnly(attempts, findings, listed)
	for i, f := range findings {
		switch {
		case !f.settled:
			f.verdict = unsent(attempts[i].knownTransfer, "The export has no record of it.")
			if attempts[i].stands { // no run was to send it
				f.verdict.stands, f.verdict.idle, f.verdict.next = true, true, ""
			}
		case f.verdict.result == ResultInDoubt && !f.verdict.idle: // a side that decides nothing
			f.verdict.next, f.verdict.idle = command(attempts[i].refID, "--recorded FILE"), true
		}
		a.run.report.settle(attempts[i].request, f.verdict, attempts[i].planned)
	}
	return nil
}

// others adopts transfers that both sides of an export name whole, and keeps what there is of the
// rest, 100 at a time.
func (a *adoption) others(unknown iter.Seq[string]) error {
	page := make([]string, 0, FindMax)
	adopt := func() error {
		found, err := a.run.Finder.Find(a.run.life.lasting, page)
		if err != nil {
			return err
		}
		attempts, rest := a.ofRecords(page, found)
		page = page[:0]
		if err := a.attempts(attempts, nil); err != nil {
			return err
		}
		a.incomplete(rest)
		return nil
	}
	for refID := range unknown {
		if a.run.report.interrupted() {
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

// ofRecords makes attempts of records that no line of the plan is about, where both sides say what the
// request was, and incomplete transfers of the others. The state knows nothing of their ref_ids.
func (a *adoption) ofRecords(refIDs []string, found map[string][]transfer.Record) (attempts []*attempt, rest []incomplete) {
	run := &a.run.Run
	for _, refID := range refIDs {
		records := found[refID]
		if len(records) == 0 {
			if one, ok := listedUnder(a.listed, refID); ok {
				rest = append(rest, newListed(run, one))
			}
			continue
		}
		request, ok := requestOf(records, run.Settings.Operator)
		if !ok {
			rest = append(rest, newIncomplete(run, refID, records))
			continue
		}
		attempts = append(attempts, &attempt{
			knownTransfer: knownTransfer{refID: refID, runID: run.Begun.RunID, request: request, operator: run.Settings.Operator},
			intent: state.Intent{
				RefID: refID, RunID: run.Begun.RunID, Operation: request.Operation,
				Path: run.Settings.Operator.Path(request.Operation),
				Body: string(request.Body()), Fingerprint: request.Fingerprint().String(),
			},
		})
	}
	return attempts, rest
}

// news keeps what the export says anew of transfers that are made, 100 at a time.
func (a *adoption) news(refIDs []string) error {
	for page := range slices.Chunk(refIDs, FindMax) {
		if a.run.report.interrupted() {
			return nil
		}
		found, err := a.run.Finder.Find(a.run.life.lasting, page)
		if err != nil {
			return err
		}
		snapshot, err := a.run.journal.snapshot()
		if err != nil {
			return err
		}
		details, err := snapshot.Details(a.run.life.lasting, page...)
		_ = snapshot.Close() // it was only read
		if err != nil {
			return err
		}
		var findings []finding
		var requests []transfer.Request
		for i := range details {
			d := &details[i]
			o, _, isNew := News(*d, found[d.RefID], a.run.Settings)
			if !isNew {
				continue
			}
			o.RunID = a.run.Begun.RunID
			v := verdict{outcome: o, result: ResultConflict, next: command(d.RefID, "--accept-record")}
			if record := o.Deciding; record != nil {
				v.outcome.Reason = orElse(v.outcome.Reason, fmt.Sprintf("the export has it as %s", record.Status))
				v.status, v.recordID, v.group = record.Status, record.ID, record.GroupID
				v.result, v.next = resultOf(o.Status, record.Status), ""
			}
			findings = append(findings, finding{verdict: v, settled: true})
			requests = append(requests, transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount})
		}
		a.run.outcomes.writeAll(findings)
		for i, f := range findings {
			a.run.report.settle(requests[i], f.verdict, false)
		}
	}
	return nil
}
