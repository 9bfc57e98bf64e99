package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/text/english"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// letters lists the doubts that an export has under ref_ids in other letters, or accepts those that agree in all else, where they
// are as many as was said.
func (r *resolving) letters(ctx context.Context, w *opened, journal state.Journal, snapshot state.Snapshot, by state.Holder) error {
	found, resolution, err := r.relettered(ctx, w, journal, snapshot, by)
	if err != nil {
		return err
	}
	count := 0
	for i := range found {
		if found[i].Why == "" {
			count++
		}
	}
	file := shell.File(r.recorded)
	switch {
	case !r.acceptRecord:
		return r.showLetters(w, found, count)
	case count != r.count || count == 0:
		return exit.WithHint(fmt.Errorf("%s has %s in doubt under a ref_id in other letters that agree in all else, not %d. Nothing was changed",
			r.recorded, english.Plural(count, "transfer"), r.count), r.dir.Command("resolve --recorded="+file))
	}
	outcomes, err := executor.ResolveRelettered(ctx, resolution, found)
	if err != nil {
		return r.explain(err)
	}
	for i := range outcomes {
		if _, err := fmt.Fprintln(w.streams.Out, view.Resolved(&outcomes[i], time.Time{})); err != nil {
			return err
		}
	}
	return nil
}

// relettered are the doubts that the file has so.
func (r *resolving) relettered(ctx context.Context, w *opened, journal state.Journal, snapshot state.Snapshot, by state.Holder) ([]executor.Relettered, executor.Resolution, error) {
	resolution := newResolution(w, journal, by, "", r.reason)
	folds, err := executor.DoubtFolds(ctx, snapshot)
	if err != nil {
		return nil, resolution, w.state.Error(err)
	}
	read, err := r.read(ctx, w, func(record *transfer.Record) bool { return folds[transfer.FoldRefID(record.RefID)] })
	if err != nil {
		return nil, resolution, err
	}
	given, err := read.newest(r.recorded)
	if err != nil {
		return nil, resolution, err
	}
	found, err := executor.FindRelettered(ctx, resolution, given)
	return found, resolution, err
}

// showLetters lists them, and changes nothing.
func (r *resolving) showLetters(w *opened, found []executor.Relettered, count int) error {
	shown := view.Relettered{File: r.recorded, Found: found}
	if count > 0 {
		shown.Next = r.dir.Command(fmt.Sprintf(`resolve --recorded=%s --count=%d --accept-record --reason="…"`, shell.File(r.recorded), count))
	}
	if err := shown.Write(w.streams.Out, w.streams.Screen(w.streams.Out)); err != nil {
		return err
	}
	if len(found) > 0 {
		return exit.Code(exit.Look)
	}
	return nil
}

// checkBulk refuses flags that say nothing of several transfers together.
func (r *resolving) checkBulk() error {
	isBulk := r.refID == "" && (r.runID != "" || r.recorded != "")
	switch {
	case (r.refID == "") != isBulk:
		return exit.WithHint(errors.New("resolve takes one REF_ID, or --run, or --recorded of an export"), "remit resolve --help")
	case r.refID != "" && r.runID != "":
		return exit.WithHint(errors.New("resolve takes one REF_ID, or --run"), "remit resolve --help")
	case r.runID != "" && r.notMade:
		return errors.New("--run does not go with --not-made: the unverified transfers of a run were made")
	case (isBulk && r.acceptRecord) != (r.count != 0):
		return exit.WithHint(errors.New("--count says how many --run, or --recorded without a REF_ID, and --accept-record accept: they need it, and nothing else takes it; nothing was changed"), "remit resolve --help")
	}
	return nil
}
