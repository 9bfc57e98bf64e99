package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/view"
	"remit/state"
)

func newForceUnlock(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var reason string
	cmd := &cobra.Command{
		Use:   "force-unlock",
		Short: "Take the state's lock away from a run that can't be reached",
		Long: "Take the state's lock away from a run that can't be reached. A lock dies with its holder by\n" +
			"itself, so this is for a process that hangs or a machine that is cut off. From now on\n" +
			"that run can write nothing and begins no request. What it has in flight is in doubt.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.WithHint(errors.New("force-unlock takes no ID: a state has one lock"), from.Command("force-unlock --reason=TEXT"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkReason(cmd, reason); err != nil {
				return err
			}
			return forceUnlock(cmd.Context(), p, &from, reason)
		},
	}
	directoryFlags(&from, cmd)
	reasonFlag(cmd, &reason)
	return cmd
}

func forceUnlock(ctx context.Context, p *process, from *workspace.Directory, reason string) error {
	w, err := open(p, from)
	if err != nil {
		return err
	}
	store, err := w.state.Write(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // every append was durable when it returned
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return w.state.Error(err)
	}
	meta := snapshot.Meta()
	holder, held := snapshot.Holder()
	_ = snapshot.Close() // it was only read
	if err := w.state.Check(meta); err != nil {
		return err
	}
	if err := store.ForceUnlock(ctx, p.host.Holder("remit force-unlock"), p.host.Clocks(), reason); err != nil {
		if errors.Is(err, state.ErrBusy) {
			return busyError(ctx, w.state, err)
		}
		return w.state.Error(err)
	}
	text := fmt.Sprintf("No holder of the lock of %s was seen. A hidden holder can write nothing any more.", w.state.Name)
	if held {
		text = fmt.Sprintf("The lock of %s was taken away from process %d of %s on %s.", w.state.Name, holder.PID, holder.User, holder.Host)
	}
	_, err = fmt.Fprintln(p.streams.Out, view.Visible(text))
	return err
}

// busyError says what to do about a holder that hangs in the middle of a commit: it is a process of
// this machine, or of one that shares the file, and can be ended there.
func busyError(ctx context.Context, st *workspace.State, err error) error {
	next, where := "", "it"
	if snapshot, done, readErr := st.Read(ctx); readErr == nil {
		defer done()
		if holder, held := snapshot.Holder(); held && holder.PID > 0 {
			where = fmt.Sprintf("process %d on %s", holder.PID, holder.Host)
			next = fmt.Sprintf("kill -KILL %d", holder.PID)
		}
	}
	return exit.WithHint(fmt.Errorf("the lock of %s cannot be taken away, because its holder stands still in the middle of a commit; "+
		"nothing was changed. End %s: that loses nothing, and its lock dies with it:\n%w", st.Name, where, err), next)
}
