package executor

import (
	"fmt"
	"slices"
	"strings"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// refusedMax bounds how many refused transfers are looked up before a run ends: fifty lookups.
const refusedMax = 50 * FindMax

// lookRefusedUp looks up once, after the last request, the transfers that the run has as refused, or as not processed: a server in between may have
// written that after the service made the transfer, or have sent the request to the service twice. It takes listed records over, and a
// list without a record leaves the refusal as it is, as does a lookup that fails. An error is the state's.
func lookRefusedUp(run *activeRun, isOfRun func(state.Transfer) bool) error {
	if !run.lookups.possible() || run.report.interrupted() || !run.report.has(ResultRefused) && !run.report.has(ResultNotAttempted) {
		return nil
	}
	refused, err := readRefused(run, isOfRun)
	if err != nil {
		return err
	}
	for lot := range slices.Chunk(refused, FindMax) {
		list, err := run.watcher.read(lot, saidNo)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		found, err := run.lookups.find(run.life.flight, watchedIDs(list)...)
		if err != nil {
			return nil //nolint:nilerr // the refusals stand
		}
		takeOver(run, list, found)
	}
	return nil
}

// readRefused returns the ref_ids of the run's transfers to which an answer said no, at most [refusedMax] of them.
func readRefused(run *activeRun, isOfRun func(state.Transfer) bool) ([]string, error) {
	snapshot, err := run.journal.snapshot()
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	var refused []string
	for o, err := range outlinesOf(isOfRun)(run.life.lasting, snapshot) {
		if err != nil {
			return nil, fmt.Errorf("read the state: %w", err)
		}
		if o.Status == state.Refused || o.Status == state.Unsent {
			if refused = append(refused, strings.Clone(o.RefID)); len(refused) == refusedMax {
				break
			}
		}
	}
	return refused, nil
}

// saidNo reports whether nothing is known of a transfer but an answer that nothing was made.
func saidNo(d state.Detail) bool {
	return (d.Status == state.Refused || d.Status == state.Unsent) && d.Outcome != nil && d.Outcome.Source == state.SourceAnswer && d.Outcome.HTTPStatus != 0
}

// takeOver writes down which of the refused transfers are listed, and tells it.
func takeOver(run *activeRun, list []watched, found lookup) {
	var taken []watched
	var findings []finding
	for _, w := range list {
		records := found.records[w.refID]
		why := found.unreadable[w.refID]
		if len(records) > 0 && !w.isUnknown && why == "" {
			v := judgeFound(w.knownTransfer, beforeAny, records)
			if !v.unread {
				taken, findings = append(taken, w), append(findings, finding{verdict: v, settled: true})
				continue
			}
			why = v.outcome.Reason
		}
		if why != "" {
			run.report.tell(Event{
				Type: EventNotice, RefID: w.refID, Next: command(w.refID, "--recorded FILE"),
				Reason: "An answer said that nothing was made, and yet the service lists it: " + why + ". Do not pay it under another ref_id before that is settled.",
			})
		}
	}
	run.outcomes.writeAll(findings)
	for i, f := range findings {
		d := &taken[i].detail
		before := resultOf(d.Status, transfer.NoStatus)
		isLeft := d.Status == state.Refused && d.Intent.RunID != run.Begun.RunID && run.Settings.LeaveRefused
		if isLeft {
			before = ResultNotAttempted // as the run has counted it
		}
		run.report.changed(&news{
			watched: taken[i], kind: newsChanged, verdict: f.verdict, wasIdle: isLeft,
			changes: []RecordChange{{Field: "status", Before: d.Status.String(), After: string(f.verdict.status)}},
		}, before)
	}
}

// hasAgain reports whether a plan sends a transfer again that was refused before.
func hasAgain(changes *planner.Changes) bool {
	for _, c := range changes.Movements() {
		if c.Again {
			return true
		}
	}
	return false
}
