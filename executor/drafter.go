package executor

import (
	"fmt"
	"time"

	"remit/planner"
	"remit/state"
)

// drafter makes attempts of lines, by what the state had of them when the run began.
type drafter struct {
	run    *Run
	survey *survey
}

// settledLine is a line with the outcome that an earlier run of its plan wrote.
type settledLine struct {
	knownTransfer
	verdict
}

// earlier returns the result of a line that the state has settled since the plan was made. It reports
// false if the line is still to be sent.
func (d *drafter) earlier(change *planner.Change) (verdict, bool) {
	row, recorded := d.survey.rows[change.RefID]
	v := verdict{
		outcome: state.Outcome{RefID: change.RefID, Reason: "An earlier run settled it."},
		status:  row.RecordStatus, recordID: row.RecordID, group: row.GroupID,
	}
	switch {
	case !recorded || row.Status == state.Unsent:
	case row.Status == state.Refused && row.RunID != d.run.Begun.RunID && d.again(change, row):
	case row.Status == state.Refused && row.RunID != d.run.Begun.RunID && d.run.Settings.LeaveRefused:
		v.result, v.outcome.Reason = ResultNotAttempted, "Nothing was sent: the service refused it before."
		v.next, v.idle = NextRefused, true
		return v, true
	case row.Status == state.Tombstone:
		v.result, v.outcome.Reason, v.idle = ResultNotAttempted, "It was closed as not made, or forgotten: it is never sent again.", true
		return v, true
	default:
		v.result, v.outcome.Status = resultOf(row.Status, row.RecordStatus), row.Status
		if v.result == ResultConflict || v.result == ResultUnverified {
			v.next = command(change.RefID, "--accept-record")
		}
		return v, true
	}
	if change.Action == planner.Resolve {
		v.result, v.outcome.Reason = ResultNotAttempted, "It is no longer in doubt, and this plan does not say that it is to be sent."
		v.next, v.idle = "remit plan", true
		return v, true
	}
	return verdict{}, false
}

// again reports whether a refused transfer is sent again: where the plan shows the refusal that the state
// holds, its reviewer wants that, unless the settings say otherwise.
func (d *drafter) again(change *planner.Change, row state.Transfer) bool {
	switch {
	case d.run.Settings.LeaveRefused:
		return false
	case !d.run.isFinished():
		return true
	}
	return change.Again && change.Recorded != nil && change.Recorded.RunID == row.RunID
}

// knownOf returns what the run knows of a line before its first attempt.
func (d *drafter) knownOf(change *planner.Change) knownTransfer {
	k := knownTransfer{
		refID: change.RefID, runID: d.run.Begun.RunID,
		request: change.Request, operator: d.run.Settings.Operator,
		old: d.run.Settings.ReplayWindow, // an import, which sends nothing, has none
	}
	if row, ok := d.survey.rows[change.RefID]; ok && row.Fingerprint == change.Request.Fingerprint() {
		k.first, k.earlier = row.IntendedAt, !row.IntendedAt.IsZero()
	}
	return k
}

// attempt returns the first attempt of a line.
func (d *drafter) attempt(change *planner.Change) *attempt {
	request := change.Request
	a := &attempt{knownTransfer: d.knownOf(change), until: change.Expires}
	if !change.Expires.IsZero() {
		a.late = fmt.Sprintf("Nothing was sent: it expired at %s. Remove it, or pay it under a new ref_id.", change.Expires.UTC().Format(time.RFC3339))
	}
	a.intent = state.Intent{
		RefID: change.RefID, RunID: a.runID,
		Operation: request.Operation, Path: a.operator.Path(request.Operation),
		Body: string(request.Body()), Fingerprint: request.Fingerprint().String(),
		Address: change.Address, Place: change.Place, Batch: change.Batch, FromLabel: change.FromLabel,
		Naming: change.Naming, Reverses: change.Reverses, Due: change.Due, Occurrence: change.Occurrence, DisplayName: change.DisplayName,
	}
	a.closed = d.closed(change)
	return a
}

// closed returns the function that names a closed window of a line; nil if the line has no windows.
func (d *drafter) closed(change *planner.Change) func(time.Time) string {
	windows, header := change.Windows, &d.run.Plan.Header
	if len(windows) == 0 {
		return nil
	}
	return func(now time.Time) string { return header.Shut(windows, now) }
}
