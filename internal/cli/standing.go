package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"remit/executor"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

const (
	watchedMax = 10_000 // ref_ids that a watch remembers
	namedMax   = 20     // ref_ids that a notice names

	detailsPerCall = 500 // that are in memory at once
)

// watch is a snapshot that remembers at which transfers a person should look, as they pass:
// a plan does not have those that nobody declares any more or that no target names.
type watch struct {
	state.Snapshot
	refIDs     []string
	more       bool // than it remembers
	unfinished int  // recorded, and neither COMPLETED nor FAILED
}

// asksForAPerson reports whether a status keeps every apply at exit code 4.
func asksForAPerson(s state.Status) bool {
	switch s {
	case state.InDoubt, state.Unverified, state.Conflict:
		return true
	case state.Unsent, state.Recorded, state.Adopted, state.Refused, state.Tombstone:
	}
	return false
}

// Transfers yields what the snapshot does, from the first one again where it is called again.
func (w *watch) Transfers(ctx context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		w.refIDs, w.more, w.unfinished = nil, false, 0
		for t, err := range w.Snapshot.Transfers(ctx) {
			w.pass(t.RefID, t.Status, t.RecordStatus, err)
			if !yield(t, err) {
				return
			}
		}
	}
}

// Outlines does with outlines what Transfers does with rows.
func (w *watch) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		w.refIDs, w.more, w.unfinished = nil, false, 0
		for o, err := range w.Snapshot.Outlines(ctx) {
			w.pass(o.RefID, o.Status, o.RecordStatus, err)
			if !yield(o, err) {
				return
			}
		}
	}
}

func (w *watch) pass(refID string, status state.Status, service transfer.RecordStatus, err error) {
	if err == nil && status.Made() && service != "" && !service.Final() {
		w.unfinished++
	}
	switch {
	case err != nil || !asksForAPerson(status):
	case len(w.refIDs) == watchedMax:
		w.more = true
	default:
		w.refIDs = append(w.refIDs, strings.Clone(refID))
	}
}

// standing is how an apply ended, or exit code 4 where something that it saw in the state, in
// its plan or not, is still in doubt, unverified or in conflict: whatever the run did, a
// person should look. What neither the plan nor the run has named is named.
func (a *applying) standing(ctx context.Context, w *workspace, journal state.Journal, seen *watch, plan *planner.Plan, ended error) error {
	var code exitCode
	if ended != nil && !errors.As(ended, &code) {
		return ended
	}
	left, err := stillStanding(context.WithoutCancel(ctx), journal, seen)
	if err != nil {
		return hinted{fmt.Errorf("read what is left in doubt: %w", err), w.command("state list"), exitLook}
	}
	if len(left) == 0 && !seen.more {
		return ended
	}
	for _, c := range plan.Changes.All() {
		delete(left, c.RefID)
	}
	if !plan.Empty() { // each doubt was settled or listed
		for refID, status := range left {
			if status == state.InDoubt {
				delete(left, refID)
			}
		}
	}
	if err := a.tellStanding(w, left); err != nil {
		return err
	}
	return exitCode(exitLook)
}

// stillStanding are those of the seen transfers at which a person should look now.
func stillStanding(ctx context.Context, journal state.Journal, seen *watch) (map[string]state.Status, error) {
	if len(seen.refIDs) == 0 {
		return nil, nil
	}
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	left := make(map[string]state.Status)
	for some := range slices.Chunk(seen.refIDs, detailsPerCall) {
		details, err := snapshot.Details(ctx, some...)
		if err != nil {
			return nil, err
		}
		for _, d := range details {
			if asksForAPerson(d.Status) {
				left[d.RefID] = d.Status
			}
		}
	}
	return left, nil
}

// tellStanding names transfers that nothing else in the output does.
func (a *applying) tellStanding(w *workspace, left map[string]state.Status) error {
	if len(left) == 0 {
		return nil
	}
	refIDs := make([]string, 0, len(left))
	for refID := range left {
		refIDs = append(refIDs, refID)
	}
	slices.Sort(refIDs)
	shown := refIDs[:min(len(refIDs), namedMax)]
	names := make([]string, len(shown))
	for i, refID := range shown {
		names[i] = fmt.Sprintf("%s (%s)", view.Visible(refID), left[refID])
		if w.wantsLines(a.asJSON) {
			w.json().Handle(executor.Event{
				Time: w.now().UTC(), Type: executor.EventNotice, RefID: refID,
				Reason: left[refID].String() + ", and not in this plan: a person should look",
			})
		}
	}
	if more := len(refIDs) - len(shown); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	_, err := fmt.Fprintf(w.stderr, "Notice: a person should look at what this plan does not have: %s.\n\n    %s\n",
		strings.Join(names, ", "), view.Visible(w.command("state list")))
	return err
}

// tellUnfinished says that an apply with nothing to send waits for nothing: --wait is about what a
// run records.
func (a *applying) tellUnfinished(w *workspace, seen *watch) error {
	if !a.waitFinal || a.wait == 0 || seen.unfinished == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w.stderr, "Notice: %d recorded by earlier runs are neither COMPLETED nor FAILED yet. With nothing to send, --wait waits for nothing; this does:\n\n    %s\n",
		seen.unfinished, view.Visible(w.command(fmt.Sprintf("refresh --wait=%v", a.wait))))
	return err
}
