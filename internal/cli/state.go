package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/config/mistake"
	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/files/lockfile"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/state"
)

func newState(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Look at the state, and say what only a person can say about it",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newStateList(p), newStateShow(p), newStateForget(p), newStateClock(p), newStateVerify(p),
		newStateBackup(p), newStateExport(p), newStateRebind(p), newStateMigrate(p))
	return cmd
}

func newStateShow(p *process) *cobra.Command {
	from := source{need: config.NeedState}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show REF_ID",
		Short: "Show all that the state knows of one transfer",
		Args:  exactArgs("REF_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := openWorkspace(p, &from, asJSON)
			if err != nil {
				return err
			}
			return w.showDetail(cmd.Context(), args[0], asJSON)
		},
	}
	from.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return cmd
}

func (w *workspace) showDetail(ctx context.Context, refID string, asJSON bool) error {
	snapshot, done, err := w.read(ctx)
	if err != nil {
		return err
	}
	defer done()
	details, err := snapshot.Details(ctx, refID)
	if err != nil {
		return w.stateError(err)
	}
	if len(details) == 0 {
		return exit.WithHint(fmt.Errorf("the state knows no ref_id %q", refID), w.command("state list"))
	}
	o := view.StateShowOptions{Screen: w.streams.Screen(w.streams.Out)}
	holder, isHeld := snapshot.Holder()
	if d := &details[0]; d.Status == state.InDoubt && (!isHeld || d.RunID != holder.RunID) {
		u := w.doubtOf(d)
		o.Doubt, o.Next = u.Sentence(), u.Next()
	}
	if asJSON {
		return w.streams.JSON().StateShow(details[0], o)
	}
	return view.StateShow(w.streams.Out, details[0], o)
}

func newStateForget(p *process) *cobra.Command {
	var from source
	var reason string
	cmd := &cobra.Command{
		Use:   "forget REF_ID",
		Short: "Settle a ref_id that is no longer declared for good: it is never sent again",
		Args:  exactArgs("REF_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isBlank(reason) {
				return errors.New("state forget needs --reason: it is journalled under your name")
			}
			return forget(cmd.Context(), p, &from, args[0], reason)
		},
	}
	from.flags(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	return cmd
}

func forget(ctx context.Context, p *process, from *source, refID, reason string) error {
	w, err := openWorkspace(p, from, false)
	if err != nil {
		return err
	}
	var mistakes mistake.Set
	isDeclared := false
	for t := range declared(ctx, w.config, &mistakes) {
		isDeclared = isDeclared || t.Request.RefID == refID
	}
	if err := p.streams.Report(w.config, mistakes.Diagnostics(), false); err != nil {
		return err
	}
	if isDeclared {
		return fmt.Errorf("ref_id %q is still declared; remove the declaration first. Nothing was changed", refID)
	}
	by := p.host.Holder("remit state forget")
	return w.locked(ctx, by, 0, func(journal state.Journal, _ state.Snapshot) error {
		_, err := executor.ResolveForgotten(ctx, w.resolution(journal, by, refID, reason))
		if errors.Is(err, executor.ErrUnknownRefID) {
			return exit.WithHint(fmt.Errorf("the state knows no ref_id %q", refID), w.command("state list"))
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w.streams.Out, "%s is forgotten: it is never sent again.\n", view.Visible(refID))
		return err
	})
}

func newStateRebind(p *process) *cobra.Command {
	from := source{need: config.NeedService}
	var reason string
	cmd := &cobra.Command{
		Use:   "rebind",
		Short: "Bind the state to the service that the configuration names now",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isBlank(reason) {
				return errors.New("state rebind needs --reason: it is journalled under your name")
			}
			return rebind(cmd.Context(), p, &from, reason)
		},
	}
	from.flags(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	return cmd
}

func rebind(ctx context.Context, p *process, from *source, reason string) error {
	loaded, err := load(p, from, false)
	if err != nil {
		return err
	}
	w := &workspace{process: p, source: *from, config: loaded}
	w.at(w.statePlace())
	bound, isBound, err := lockfile.Read(w.dir)
	if err != nil {
		return err
	}
	if from.sandbox || !isBound {
		return exit.WithHint(errors.New("there is no state to bind anew"), w.command("init"))
	}
	w.binding = bound
	if bound.Environment != loaded.Environment {
		return w.environmentError(bound.Environment)
	}
	after, err := w.identity()
	if err != nil {
		return err
	}
	by := p.host.Holder("remit state rebind")
	return w.locked(ctx, by, 0, func(journal state.Journal, snapshot state.Snapshot) error {
		before := snapshot.Meta().Service
		if after.CustomerID = before.CustomerID; before == after {
			return w.bind("The state is bound to this service already.", nil)
		}
		if !sameService(before, after) {
			if err := w.nothingInDoubt(ctx, snapshot); err != nil {
				return err
			}
			after.CustomerID = ""
		}
		if err := journal.Append(ctx, state.Rebound{Before: before, After: after, By: by, Reason: reason}); err != nil {
			return fmt.Errorf("bind the state anew: %w", err)
		}
		w.binding.Service = after
		return w.bind("The state is bound anew.", nil)
	})
}

// sameService reports whether two identities are of one service, which may have its tokens from
// elsewhere by now: what one of them made or has in doubt, the other knows.
func sameService(a, b state.Identity) bool {
	a.TokenURL = b.TokenURL
	return a == b
}

// nothingInDoubt refuses to leave a service that alone can settle a doubt.
func (w *workspace) nothingInDoubt(ctx context.Context, snapshot state.Snapshot) error {
	for t, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return w.stateError(err)
		}
		if t.Status == state.InDoubt {
			return exit.WithHint(fmt.Errorf("%q is in doubt: another service could never settle it. Settle it first; nothing was changed", t.RefID),
				w.command("resolve "+shell.Word(t.RefID)))
		}
	}
	return nil
}
