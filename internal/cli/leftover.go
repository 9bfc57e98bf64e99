package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/text/english"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// countingSnapshot counts the transfers at which a person should look, as they pass:
// a plan does not have those that nobody declares any more or that no target names.
type countingSnapshot struct {
	state.Snapshot
	asks       int
	unfinished int  // recorded, and neither COMPLETED nor FAILED
	whole      bool // every transfer has passed
}

// Transfers yields what the snapshot does, from the first one again where it is called again.
func (w *countingSnapshot) Transfers(ctx context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		w.asks, w.unfinished, w.whole = 0, 0, false
		for t, err := range w.Snapshot.Transfers(ctx) {
			if err == nil {
				w.pass(t.Outline())
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
		w.whole = true
	}
}

// Outlines does with outlines what Transfers does with rows.
func (w *countingSnapshot) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		w.asks, w.unfinished, w.whole = 0, 0, false
		for o, err := range w.Snapshot.Outlines(ctx) {
			if err == nil {
				w.pass(o)
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
		w.whole = true
	}
}

func (w *countingSnapshot) pass(o state.Outline) {
	if o.Status.Made() && o.RecordStatus != "" && !o.RecordStatus.Final() {
		w.unfinished++
	}
	if o.AsksForPerson() || o.HasUnknownStatus() {
		w.asks++
	}
}

// withLeftover returns how an apply ended, with exit code 4 where the state has a transfer, in the plan or
// not, that is in doubt, unverified or in conflict, or whose status at the service nobody documents, or where the state
// lacks events: a person should look, whatever the apply did and whatever else would be its exit code. It names the transfers that neither the plan nor the run has named.
// The plan is nil where the apply had none that it could use. Where the state can't be read, the apply ends as it did.
func (a *applying) withLeftover(ctx context.Context, w *opened, journal state.Journal, seen *countingSnapshot, plan *planner.Plan, ended error) error {
	if _, goesOn := errors.AsType[*awayError](ended); goesOn || exit.IsUnread(ended) {
		return ended
	}
	if ctx.Err() != nil && !seen.whole { // who interrupts the reading of a large state does not wait for another one
		return ended
	}
	left, err := readLeftover(context.WithoutCancel(ctx), journal, seen, plan)
	switch {
	case err != nil && ended != nil: // the error that keeps the state from being read was told
		return ended
	case err != nil:
		if errors.Is(err, state.ErrReplaced) || errors.Is(err, state.ErrDamaged) {
			return w.state.LostAtEnd(err)
		}
		return exit.New(err, w.dir.Command("state list"), exit.Look)
	case !left.AsksForPerson():
		return ended
	}
	unnamed := left.Statuses
	if plan != nil {
		for _, c := range plan.Changes.All() {
			delete(unnamed, c.RefID)
		}
	}
	if a.monitoring.facts.summary != nil { // each doubt was settled or listed
		maps.DeleteFunc(unnamed, func(_ string, status state.Status) bool { return status == state.InDoubt })
	}
	if err := errors.Join(tellUnnamed(w, unnamed, plan != nil), tellUnknown(a, w, left.Unknown), tellLacking(w, &left, ended)); err != nil {
		return err
	}
	return exit.WithCode(ended, exit.Look)
}

// readLeftover finds the transfers that the apply leaves to a person. All of the state is read only where that can say
// more than the run did.
func readLeftover(ctx context.Context, journal state.Journal, seen *countingSnapshot, plan *planner.Plan) (executor.Leftover, error) {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return executor.Leftover{}, fmt.Errorf("read what is left in doubt: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	if seen.whole && seen.asks == 0 {
		edited, err := executor.ReadEdited(ctx, snapshot, plan)
		return executor.Leftover{Edited: edited, Lacks: snapshot.Meta().MayLack()}, err
	}
	left, err := executor.ReadLeftover(ctx, snapshot, plan)
	left.Lacks = snapshot.Meta().MayLack()
	return left, err
}

// tellLacking says what ends the lack of events, which no apply does, unless the apply ended with an error that says what to do.
func tellLacking(w *opened, left *executor.Leftover, ended error) error {
	var silent exit.Code
	if !left.Lacks || ended != nil && !errors.As(ended, &silent) {
		return nil
	}
	const reason = "The state still lacks events. An apply looks up what it sends, and not all that was paid. " +
		"Have the service export all transfer records anew, and import them: --complete is your word that they are all"
	return tellNotice(w, reason, "import FILE --complete")
}

// tellNotice tells of an apply what no run of it tells, and the command that leads on.
func tellNotice(w *opened, reason, next string) error {
	if w.streams.WantsLines() {
		w.streams.JSON().Handle(executor.Event{Time: w.host.Now().UTC(), Type: executor.EventNotice, Reason: reason})
	}
	text := "Notice: " + reason + ".\n"
	if next != "" {
		text += "\n    " + view.Visible(w.dir.Command(next)) + "\n"
	}
	_, err := fmt.Fprint(w.streams.Err, text)
	return err
}

// tellUnnamed names transfers that nothing else in the output does, beside a plan that was shown or without one.
func tellUnnamed(w *opened, left map[string]state.Status, hasPlan bool) error {
	if len(left) == 0 {
		return nil
	}
	of, beyond := "transfers of the state", ""
	if hasPlan {
		of, beyond = "transfers that this plan does not have", ", and not in this plan"
	}
	refIDs := slices.Sorted(maps.Keys(left))
	shown := refIDs[:min(len(refIDs), namedMax)]
	names := make([]string, len(shown))
	for i, refID := range shown {
		names[i] = fmt.Sprintf("%s (%s)", view.Visible(refID), left[refID])
		if w.streams.WantsLines() {
			w.streams.JSON().Handle(executor.Event{
				Time: w.host.Now().UTC(), Type: executor.EventNotice, RefID: refID,
				Reason: left[refID].String() + beyond + ": action needed",
			})
		}
	}
	if more := len(refIDs) - len(shown); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	_, err := fmt.Fprintf(w.streams.Err, "Notice: action needed for %s: %s.\n\n    %s\n",
		of, strings.Join(names, ", "), view.Visible(w.dir.Command("state list")))
	return err
}

// tellUnknown counts the transfers that have a status that remit does not know, unless the run has named as many.
func tellUnknown(a *applying, w *opened, left executor.Unknown) error {
	n := left.Count()
	if s := a.monitoring.facts.summary; n == 0 || s != nil && s.Unknown.Count() >= n {
		return nil
	}
	var words []string
	for _, status := range slices.Sorted(maps.Keys(left)) {
		words = append(words, fmt.Sprintf("%s: %d", view.Visible(string(status)), left[status]))
	}
	reason := fmt.Sprintf("action needed for %s whose status at the service remit does not know (%s); ask the operator of the service what it means",
		english.Plural(n, "transfer"), strings.Join(words, ", "))
	return tellNotice(w, reason, "status")
}

// tellUnfinished says that an apply with nothing to send waits for nothing: --wait is about what a
// run records.
func tellUnfinished(a *applying, streams *terminal.Streams, dir *workspace.Directory, seen *countingSnapshot) error {
	if !a.waitFinal || a.wait == 0 || seen.unfinished == 0 {
		return nil
	}
	_, err := fmt.Fprintf(streams.Err, "Notice: %d recorded by earlier runs are neither COMPLETED nor FAILED yet. With nothing to send, --wait waits for nothing; this does:\n\n    %s\n",
		seen.unfinished, view.Visible(dir.Command(fmt.Sprintf("refresh --wait=%v", a.wait))))
	return err
}
