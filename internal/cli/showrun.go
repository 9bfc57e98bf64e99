package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"remit/config"
	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

const (
	runLatest    = "latest" // means the newest run's ID
	runPrefixMin = 8        // characters of a run's ID that may name it
)

// showRun shows a run that the journal has, with the face that was asked for.
func showRun(ctx context.Context, p *process, o *planning, face showWriters, runID string) error {
	w, snapshot, done, err := openRead(ctx, p, &o.dir)
	if err != nil {
		return err
	}
	defer done()
	runID, err = findRun(ctx, w.dir, w.state, snapshot, runID)
	if err != nil {
		return err
	}
	w.streams.Begin("reading the journal")
	defer w.streams.Quiet()
	defer boundGarbage(w.host.Getenv)()
	past, err := executor.ReadPast(ctx, snapshot, runID)
	if err != nil {
		return w.state.Error(err)
	}
	names, err := namesOf(ctx, w.config, snapshot)
	if err != nil {
		return w.state.Error(err)
	}
	holder, isHeld := snapshot.Holder()
	options := view.PastOptions{
		Screen: w.streams.Screen(w.streams.Out), Meta: snapshot.Meta(), Alive: isHeld && holder.RunID == runID,
		Names: names, ShowAll: o.show == "all", Command: w.dir.Command("show --run=" + shell.Word(runID)),
	}
	if options.Now, err = statusNow(ctx, w, snapshot, past, options.Alive); err != nil {
		return w.state.Error(err)
	}
	w.streams.Quiet()
	if p.streams.WantsLines() {
		if err := p.streams.JSON().Past(past, options); p.streams.AsJSON || err != nil {
			return err
		}
	}
	return face.run(p.streams.Out, past, options)
}

// findRun is the ID of the run that a whole ID, the beginning of one, or the word latest names.
func findRun(ctx context.Context, dir *workspace.Directory, st *workspace.State, snapshot state.Snapshot, name string) (string, error) {
	var found []string
	for run, err := range snapshot.Runs(ctx) { // the newest first
		if err != nil {
			return "", st.Error(err)
		}
		id := run.Begun.RunID
		if id == name || name == runLatest {
			return id, nil
		}
		if strings.HasPrefix(id, name) {
			found = append(found, id)
		}
	}
	hint := dir.Command("audit log")
	switch {
	case name == runLatest:
		return "", exit.WithHint(fmt.Errorf("the state %s has no run yet", st.Name), hint)
	case len(name) < runPrefixMin:
		return "", exit.WithHint(fmt.Errorf("--run=%s is too short: give the run's whole ID, at least its first %d characters, or the word %s. The journal has the IDs",
			name, runPrefixMin, runLatest), hint)
	case len(found) == 0:
		return "", exit.WithHint(fmt.Errorf("the state %s has no run %s. The journal has those that there were", st.Name, name), hint)
	case len(found) > 1:
		return "", exit.WithHint(fmt.Errorf("--run=%s begins the IDs of %d runs: give more of it", name, len(found)), hint)
	}
	return found[0], nil
}

// statusNow returns the present status of each exception of a run, and the command to type about it. While the run goes on there is nothing to type.
func statusNow(ctx context.Context, w *opened, snapshot state.Snapshot, past *executor.PastRun, isAlive bool) (map[string]view.PastNow, error) {
	var refIDs []string
	for _, l := range past.Lines {
		if l.Result != executor.ResultRecorded && l.Result != executor.ResultAdopted {
			refIDs = append(refIDs, l.RefID)
		}
	}
	doubtOf := doubtsOf(ctx, w, snapshot)
	now := make(map[string]view.PastNow, len(refIDs))
	for some := range slices.Chunk(refIDs, detailsPerCall) {
		details, err := snapshot.Details(ctx, some...)
		if err != nil {
			return nil, err
		}
		for i := range details {
			d := &details[i]
			line := view.PastNow{Status: d.Status, RecordStatus: d.RecordStatus}
			switch {
			case isAlive:
			case d.Status == state.InDoubt:
				u, err := doubtOf(d)
				if err != nil {
					return nil, err
				}
				if line.Next = u.Next(); !u.IsIdle() {
					line.Next = settlingCommand(w.dir, w.config, past.Run.Begun.PlanFile)
				}
			default:
				line.Next = nextFor(d, w.service.CanLookUp())
			}
			now[d.RefID] = line
		}
	}
	return now, nil
}

// settlingCommand is the command that settles doubts. A run that carried out a saved plan goes on
// with that, by its name; anything else that needs approvers is saved for them first.
func settlingCommand(dir *workspace.Directory, loaded *config.Configuration, planFile string) string {
	switch {
	case planFile != "":
		return "remit apply " + shell.File(planFile)
	case len(approvalBlocks(loaded)) > 0 && !dir.Sandbox:
		return planToApprove(loaded)
	}
	return "remit apply"
}

// nextFor is the command that goes on with a transfer that is not in doubt; "" where it is settled.
func nextFor(d *state.Detail, canLookUp bool) string {
	switch d.Status {
	case state.Unverified, state.Conflict:
		if d.IsListed() && d.Outcome != nil && d.Outcome.Listed != nil {
			return "remit resolve " + shell.Word(d.RefID) + ` --recorded FILE --reason "…"`
		}
		return planner.NextOfConflict(d, canLookUp)
	case state.Refused, state.Unsent:
		return "remit plan"
	case state.Recorded, state.Adopted:
		if d.RecordStatus == transfer.Failed {
			return "remit plan"
		}
	case state.InDoubt, state.Tombstone:
	}
	return ""
}
