package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/doubt"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

func newState(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Inspect and repair the state",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return p.unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newStateList(p), newStateShow(p), newStateForget(p), newStateClock(p), newStateEraseNames(p), newStateVerify(p),
		newStateBackup(p), newStateExport(p), newStateRebind(p), newStateMigrate(p))
	return cmd
}

func newStateShow(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	cmd := &cobra.Command{
		Use:   "show REF_ID",
		Short: "Show all that the state knows of one transfer",
		Args:  exactArgs("REF_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := open(p, &from)
			if err != nil {
				return err
			}
			return showDetail(cmd.Context(), w, args[0])
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write one JSON object")
	return cmd
}

func showDetail(ctx context.Context, w *opened, refID string) error {
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	details, err := snapshot.Details(ctx, refID)
	if err != nil {
		return w.state.Error(err)
	}
	if len(details) == 0 && isAddress(refID) {
		return notByAddress(ctx, w.dir, w.state, snapshot, refID)
	}
	if len(details) == 0 {
		return notInState(ctx, w.dir, w.state, snapshot, refID)
	}
	o := view.StateShowOptions{Screen: w.streams.Screen(w.streams.Out)}
	holder, isHeld := snapshot.Holder()
	if d := &details[0]; d.Status == state.InDoubt && (!isHeld || d.RunID != holder.RunID) {
		u, err := doubtsOf(ctx, w, snapshot)(d)
		if err != nil {
			return err
		}
		o.Doubt = u.Sentence()
		if o.Next, err = settling(ctx, w, snapshot, d, u.Next()); err != nil {
			return err
		}
	}
	if w.streams.AsJSON {
		return w.streams.JSON().StateShow(details[0], o)
	}
	return view.StateShow(w.streams.Out, details[0], o)
}

func newStateForget(p *process) *cobra.Command {
	var from workspace.Directory
	var reason string
	cmd := &cobra.Command{
		Use:   "forget REF_ID",
		Short: "Settle a ref_id that is no longer declared for good: it is never sent again",
		Args:  exactArgs("REF_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkReason(cmd, reason); err != nil {
				return err
			}
			return forget(cmd.Context(), p, &from, args[0], reason)
		},
	}
	directoryFlags(&from, cmd)
	reasonFlag(cmd, &reason)
	return cmd
}

func forget(ctx context.Context, p *process, from *workspace.Directory, refID, reason string) error {
	w, err := open(p, from)
	if err != nil {
		return err
	}
	as, err := declaredAs(ctx, p.streams, w.config, func(declared string) bool { return declared == refID })
	if err != nil {
		return err
	}
	if as != "" {
		return fmt.Errorf("ref_id %q is still declared; remove the declaration first. Nothing was changed", refID)
	}
	by := p.host.Holder("remit state forget")
	return w.state.Locked(ctx, by, 0, func(journal state.Journal, snapshot state.Snapshot) error {
		_, err := executor.ResolveForgotten(ctx, newResolution(w, journal, by, refID, reason))
		if unsettled, ok := errors.AsType[*executor.UnsettledError](err); ok {
			return withSettling(ctx, w, snapshot, unsettled)
		}
		if errors.Is(err, executor.ErrUnknownRefID) {
			return exit.WithHint(fmt.Errorf("the state knows no ref_id %q", refID), w.dir.Command("state list"))
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w.streams.Out, "%s is forgotten: it is never sent again.\n", view.Visible(refID))
		return err
	})
}

// withSettling adds the command by which a person settles a transfer that can't be forgotten. It is no longer declared.
func withSettling(ctx context.Context, w *opened, snapshot state.Snapshot, unsettled *executor.UnsettledError) error {
	next := nextFor(&unsettled.Detail, w.service.CanLookUp())
	if unsettled.Status == state.InDoubt {
		u, err := doubtsOf(ctx, w, snapshot)(&unsettled.Detail)
		if err != nil {
			return err
		}
		if !u.Hold.Holds() {
			u.Hold = doubt.Undeclared()
		}
		next = u.Next()
	}
	return exit.WithHint(unsettled, w.dir.Here(next))
}

func newStateRebind(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedService}
	var reason string
	var sameClient bool
	cmd := &cobra.Command{
		Use:   "rebind",
		Short: "Bind the state to the service that the configuration names now",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkReason(cmd, reason); err != nil {
				return err
			}
			return rebind(cmd.Context(), p, &from, reason, sameClient)
		},
	}
	directoryFlags(&from, cmd)
	reasonFlag(cmd, &reason)
	sameClientFlag(cmd, &sameClient)
	return cmd
}

func rebind(ctx context.Context, p *process, from *workspace.Directory, reason string, sameClient bool) error {
	loaded, err := workspace.Load(p.ctx, p.host, p.streams, from)
	if err != nil {
		return err
	}
	w := newOpened(p, *from, loaded)
	w.state.UseBackend(workspace.BackendOf(w.config, w.dir, w.host))
	bound, isBound, err := w.dir.ReadLock()
	if err != nil {
		return err
	}
	if from.Sandbox {
		return exit.WithHint(errors.New("a state of the sandbox is bound to no service: plan and apply go on with it, whatever service the configuration names. Nothing was changed"),
			w.dir.Command("plan"))
	}
	if !isBound {
		return exit.WithHint(errors.New("there is no state to bind anew"), w.dir.Command("init"))
	}
	w.state.Binding = bound
	if bound.Environment != loaded.Environment {
		return w.state.EnvironmentError(bound.Environment)
	}
	after, err := workspace.Identity(w.config, w.streams)
	if err != nil {
		return err
	}
	by := p.host.Holder("remit state rebind")
	return w.state.Locked(ctx, by, 0, func(journal state.Journal, snapshot state.Snapshot) error {
		before, done := snapshot.Meta().Service, "The state is bound anew."
		if after.CustomerID = before.CustomerID; before == after {
			return bind(w, "The state is bound to this service already.", nil)
		}
		if !sameService(before, after) {
			if err := checkClient(w, before, after, sameClient, "state rebind --reason="+shell.Word(reason)); err != nil {
				return err
			}
			made, err := madeHere(ctx, w.dir, w.state, snapshot)
			if err != nil {
				return err
			}
			after.CustomerID = ""
			done = w.streams.Screen(w.streams.Out).Rebound(&made, after.BaseURL)
		}
		if err := journal.Append(ctx, state.Rebound{Before: before, After: after, By: by, Reason: reason}); err != nil {
			return fmt.Errorf("bind the state anew: %w", err)
		}
		w.state.Binding.Service = after
		return bind(w, done, nil)
	})
}

// sameService reports whether two identities are of one service, which may have its tokens from
// elsewhere by now: what one of them made or has in doubt, the other knows.
func sameService(a, b state.Identity) bool {
	a.TokenURL = b.TokenURL
	return a == b
}

// madeHere adds up the transfers that the state has as made at its service. It refuses to leave one that alone can settle a doubt.
func madeHere(ctx context.Context, dir *workspace.Directory, st *workspace.State, snapshot state.Snapshot) (made transfer.Totals, err error) {
	for t, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return made, st.Error(err)
		}
		if t.MayBeMade() {
			made.Add(t.Asset, t.Amount)
		}
		if t.Status == state.InDoubt {
			return made, exit.WithHint(fmt.Errorf("%q is in doubt: another service could never settle it. Settle it first; nothing was changed", t.RefID),
				dir.Command("resolve "+shell.Word(t.RefID)))
		}
	}
	return made, nil
}
