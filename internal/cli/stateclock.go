package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/view"
	"remit/state"
)

// wrongClocksMax is how many wrong times are named at once.
const wrongClocksMax = 20

func newStateClock(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var reason string
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Say that the clock of this machine is right, although the journal is ahead of it",
		Long: "Say that the clock of this machine is right, although an event of the journal is ahead of it\n" +
			"or another time there is wrong. An apply begins then, and status and plan name what was wrong\n" +
			"no more. Where the service's token comes with a Date, none of this is needed: an apply compares\n" +
			"the clock with that by itself.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkReason(cmd, reason); err != nil {
				return err
			}
			return stateClock(cmd.Context(), p, &from, reason)
		},
	}
	directoryFlags(&from, cmd)
	reasonFlag(cmd, &reason)
	return cmd
}

func stateClock(ctx context.Context, p *process, from *workspace.Directory, reason string) error {
	w, err := open(p, from)
	if err != nil {
		return err
	}
	by := p.host.Holder("remit state clock")
	return w.state.Locked(ctx, by, 0, func(journal state.Journal, snapshot state.Snapshot) error {
		wrong, err := wrongClocks(ctx, w.host, w.state, snapshot, false)
		if err != nil {
			return err
		}
		now, meta := p.host.Now().UTC(), snapshot.Meta()
		if len(wrong) == 0 {
			_, err := fmt.Fprintln(p.streams.Out, "No time in the journal is known to be wrong. Nothing was changed.")
			return err
		}
		jump, _, err := state.Jumped(ctx, snapshot, now, p.host.Clocks())
		if err != nil {
			return w.state.Error(err)
		}
		entry := state.ClockConfirmed{
			BehindMS: max(0, meta.At.Sub(now).Milliseconds()), JumpMS: jump.By.Milliseconds(), Clocks: p.host.Clocks(), By: by, Reason: reason,
		}
		if err := journal.Append(ctx, entry); err != nil {
			return fmt.Errorf("journal that the clock is right: %w", err)
		}
		_, err = fmt.Fprintf(p.streams.Out, "The clock of this machine is right: it is %s. The journal has this, and the next apply begins.\n", now.Format(time.RFC3339))
		return err
	})
}

// wrongClocks names the times of the state that can't be right; with settled, also those that a
// person or the service settled.
func wrongClocks(ctx context.Context, h *host.Host, st *workspace.State, snapshot state.Snapshot, settled bool) ([]state.WrongClock, error) {
	wrong, err := state.WrongClocks(ctx, snapshot, h.Now(), h.Clocks(), settled, wrongClocksMax)
	if err != nil {
		return nil, st.Error(err)
	}
	return wrong, nil
}

// withServer adds the clock of the server that keeps the state, where that is far from this machine's.
func withServer(ctx context.Context, h *host.Host, st *workspace.State, snapshot state.Snapshot, wrong []state.WrongClock) ([]state.WrongClock, error) {
	server, isOne, err := state.WrongServerClock(ctx, snapshot, h.Now)
	switch {
	case err != nil:
		return nil, st.Error(err)
	case isOne:
		return append([]state.WrongClock{server}, wrong...), nil
	}
	return wrong, nil
}

// tellWrongClocks names wrong times that nobody settled, on standard error.
func tellWrongClocks(ctx context.Context, w *opened, snapshot state.Snapshot) error {
	wrong, err := wrongClocks(ctx, w.host, w.state, snapshot, false)
	if err == nil {
		wrong, err = withServer(ctx, w.host, w.state, snapshot, wrong)
	}
	if err != nil {
		return err
	}
	for _, one := range wrong {
		if _, err := fmt.Fprintf(w.streams.Err, "Notice: %s\n", view.Visible(one.Words)); err != nil {
			return err
		}
	}
	return nil
}

// allWrongClocks names the wrong times in the journal of a state, settled or not, and the server's clock
// where that is far from this machine's. Of a state that was moved away nothing is read.
func allWrongClocks(ctx context.Context, h *host.Host, st *workspace.State, store workspace.ReadStore) ([]state.WrongClock, error) {
	snapshot, err := store.Snapshot(ctx)
	if _, isMoved := errors.AsType[*state.MovedError](err); isMoved || errors.Is(err, state.ErrOlder) {
		return nil, nil
	}
	if err != nil {
		return nil, st.Error(err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	wrong, err := wrongClocks(ctx, h, st, snapshot, true)
	if err != nil {
		return nil, err
	}
	return withServer(ctx, h, st, snapshot, wrong)
}
