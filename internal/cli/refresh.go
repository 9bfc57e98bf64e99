package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/doubt"
	"remit/internal/sandbox"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/state"
)

// refreshing is one remit refresh, or the first part of remit plan --refresh.
type refreshing struct {
	dir         workspace.Directory
	words       string // of the command, behind "remit"
	targets     []string
	wait        time.Duration
	lockTimeout time.Duration
	into        string   // the file of JSON Lines
	faults      []string // of the sandbox
}

func newRefresh(p *process) *cobra.Command {
	r := refreshing{dir: workspace.Directory{Need: config.NeedService}, words: "refresh"}
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Look up what became of the transfers that are PENDING",
		Long: "Look up what became of the transfers that are recorded as PENDING, and record it. It sends\n" +
			"no transfer. It needs a service that can look up (lookup_path).\n\n" +
			"Exit codes: 0 done; 1 an error, such as that not all could be looked up; 3 with --wait:\n" +
			"some are still PENDING; 4 some failed, are in conflict, or can't be read: check\n" +
			"them; 129, 130, 143 interrupted.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.run(cmd.Context(), p)
		},
	}
	directoryFlags(&r.dir, cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&r.targets, "target", nil, "look up only this `address`, block or batch, as it was declared when it was sent; may be repeated")
	flags.DurationVar(&r.wait, "wait", 0, "go on until all are COMPLETED or FAILED, at most so long")
	flags.DurationVar(&r.lockTimeout, "lock-timeout", 0, "how long to wait for another run's lock")
	flags.BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	intoFlag(cmd, &r.into)
	inputUnasked(cmd, p.streams)
	flags.StringArrayVar(&r.faults, "fault", nil, "with --sandbox: misbehave, as `KIND=VALUE`, such as lookup-error=50%; may be repeated")
	return cmd
}

func (r *refreshing) run(ctx context.Context, p *process) error {
	if r.wait < 0 {
		return fmt.Errorf("--wait=%v is no length of time to wait; it takes 0s or more", r.wait)
	}
	if len(r.faults) > 0 && !r.dir.Sandbox {
		return errors.New("--fault is for --sandbox: a real service has its own")
	}
	if _, err := sandbox.ParseFaults(r.faults...); err != nil {
		return err
	}
	w, err := openInto(p, &r.dir, r.into)
	if err != nil {
		return err
	}
	code, err := r.carryOut(ctx, w)
	if err == nil && code != exit.Done {
		return exit.Code(code)
	}
	return err
}

// carryOut looks up under the lock and shows the news. It returns the exit code that this
// asks for; an error has its own.
func (r *refreshing) carryOut(ctx context.Context, w *opened) (int, error) {
	if !w.dir.Sandbox && !w.config.ServiceDeclared() {
		return exit.Error, exit.WithHint(errors.New("there is no service block, so no service can be asked what became of a PENDING transfer. "+
			"The sandbox is asked with --sandbox"), r.dir.Command(r.words+" --sandbox"))
	}
	if !w.service.CanLookUp() {
		return exit.Error, exit.WithHint(errors.New("the service cannot be asked what became of a PENDING transfer: its service block has no lookup_path. "+
			"Where the service can look up, write lookup_path there. Where it can't, import an export of its records, which takes over how all of them ended"),
			r.dir.Here(doubt.Import))
	}
	if w.dir.Sandbox {
		if there, err := w.state.Backend.Look(ctx); err == nil && !there {
			return exit.Done, r.show(w.streams, &executor.Refreshed{}, nil) // nothing was ever recorded
		}
	}
	code := exit.Done
	err := w.state.Locked(ctx, w.host.Holder("remit "+r.words), r.lockTimeout, func(journal state.Journal, snapshot state.Snapshot) (err error) {
		if err := r.checkTargets(ctx, snapshot); err != nil {
			return err
		}
		_ = snapshot.Close() // it was only read; while it is open, the log of a state in a file only grows
		code, err = r.locked(ctx, w, journal)
		return err
	})
	if locked, ok := errors.AsType[*state.LockedError](err); ok {
		return exit.Error, exit.WithHint(fmt.Errorf("%w; nothing was looked up. It is released when that process ends. Wait for it", locked),
			r.dir.Command(r.words+" --lock-timeout=5m"))
	}
	return code, err
}

func (r *refreshing) locked(ctx context.Context, w *opened, journal state.Journal) (int, error) {
	connection, err := w.service.Connect(ctx, 1, r.faults...)
	if err != nil {
		return exit.Error, err
	}
	defer connection.Close()
	service := w.config.Service
	handler, end := r.faces(w.streams)
	w.streams.Outlets.Unhurried()
	found, failed := executor.Refresh(ctx, executor.Run{
		Journal: journal, Submitter: connection.Submitter, Finder: connection.Finder, Handler: handler, Clock: w.host.Clock(),
		Settings: executor.Settings{Operator: service.Operator, FingerprintKey: service.FingerprintKey, RequestTimeout: service.Timeout},
	}, r.wait, r.taken())
	shown := end(&found, failed)
	code := r.exit(ctx, &found)
	switch {
	case failed != nil:
		text, next := w.state.Explain(failed)
		if next == "" {
			next = r.words
		}
		if errors.Is(failed, executor.ErrLookup) {
			text += ". What it said of others is in the state; no transfer was sent"
		}
		if code != exit.Look {
			code = exit.Error
		}
		return code, exit.New(exit.Explain(failed, text), r.dir.Command(next), code)
	case shown != nil:
		return code, unshown(fmt.Errorf("show what was looked up, which is in the state: %w", shown), code)
	}
	return code, nil
}

// taken says which transfers the targets name; nil takes all.
func (r *refreshing) taken() func(state.Detail) bool {
	if len(r.targets) == 0 {
		return nil
	}
	return func(d state.Detail) bool {
		return slices.ContainsFunc(r.targets, func(name string) bool { return isTarget(name, &d) })
	}
}

// isTarget reports whether a target names a transfer.
func isTarget(name string, d *state.Detail) bool {
	batch, isBatch := strings.CutPrefix(name, "batch.")
	address := d.Intent.Address
	return isBatch && batch != "" && batch == d.Intent.Batch || name == address || strings.HasPrefix(address, name+"[")
}

// checkTargets refuses a target that names nothing that the state has: that nothing of it is
// PENDING would be true, and say that all is well.
func (r *refreshing) checkTargets(ctx context.Context, snapshot state.Snapshot) error {
	unknown := slices.Clone(r.targets)
	addresses := make(map[string]string) // of ref_ids that were given for a target
	if len(unknown) == 0 {
		return nil
	}
	for d, err := range state.AllDetails(ctx, snapshot) {
		if err != nil {
			return err
		}
		if slices.Contains(r.targets, d.RefID) && d.Intent.Address != "" {
			addresses[d.RefID] = d.Intent.Address
		}
		if unknown = slices.DeleteFunc(unknown, func(name string) bool { return isTarget(name, d) }); len(unknown) == 0 {
			return nil
		}
	}
	err := fmt.Errorf("--target=%s names no transfer that the state has; nothing was looked up. A target is transfer.OPERATION.NAME, "+
		`transfer.OPERATION.NAME["KEY"] or batch.NAME, as it was declared when it was sent`, unknown[0])
	if meant := addresses[unknown[0]]; meant != "" {
		return exit.WithHint(fmt.Errorf("%w. A ref_id is none; this is its transfer", err), r.dir.Command(r.words+" --target="+shell.Word(meant)))
	}
	return err
}

// exit is the exit code of a refresh that ended without an error.
func (r *refreshing) exit(ctx context.Context, found *executor.Refreshed) int {
	switch {
	case found.Failed.Count() > 0, asksForPerson(found):
		return exit.Look
	case found.Interrupted:
		return exit.CodeOf(ctx)
	case r.wait > 0 && found.Pending.Count() > 0:
		return exit.Partial
	}
	return exit.Done
}

// next is the command to type after a refresh; "" where there is nothing to do.
func (r *refreshing) next(found *executor.Refreshed) string {
	switch {
	case r.words != "refresh": // the plan follows
	case found.Failed.Count() == 1 && found.Conflicts.Count()+found.CreditFailed == 0:
		return r.dir.Command("why " + shell.Word(found.FailedOne))
	case found.Failed.Count()+found.Conflicts.Count()+found.CreditFailed > 0:
		return r.dir.Command("plan")
	case found.Pending.Count()+found.AgainUnasked > 0:
		line := "refresh"
		for _, name := range r.targets {
			line += " --target=" + shell.Word(name)
		}
		return r.dir.Command(line)
	}
	return ""
}

// faces returns the handler of the changes by lookups, and the function that shows how the refresh
// ended.
func (r *refreshing) faces(streams *terminal.Streams) (executor.Handler, func(*executor.Refreshed, error) error) {
	if streams.AsJSON {
		return streams.JSON(), func(found *executor.Refreshed, failed error) error { return r.show(streams, found, failed) }
	}
	people := view.NewRefresh(streams.Out, streams.Err, streams.Screen(streams.Err))
	end := func(found *executor.Refreshed, failed error) error {
		return errors.Join(people.Close(), r.show(streams, found, failed))
	}
	if streams.WantsLines() {
		return handlers{streams.JSON(), people}, end
	}
	return people, end
}

// show shows how a refresh ended. Of one that failed before anything was known, nothing.
func (r *refreshing) show(streams *terminal.Streams, found *executor.Refreshed, failed error) error {
	if failed != nil && found.Asked()+found.Again.Count() == 0 {
		return nil
	}
	o := view.RefreshOptions{Targeted: len(r.targets) > 0, Screen: streams.Screen(streams.Out)}
	if failed == nil { // otherwise the error says what to do
		o.Next = r.next(found)
	}
	var err error
	if streams.WantsLines() {
		err = streams.JSON().Refreshed(found, o)
	}
	if !streams.AsJSON {
		err = errors.Join(err, view.Refreshed(streams.Out, found, o))
		if err == nil && r.words != "refresh" {
			_, err = fmt.Fprintln(streams.Out)
		}
	}
	return err
}
