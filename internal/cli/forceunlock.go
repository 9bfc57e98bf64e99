package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func newForceUnlock(p *process) *cobra.Command {
	var from source
	var reason string
	cmd := &cobra.Command{
		Use:   "force-unlock",
		Short: "Take the state's lock away from a run that can't be reached",
		Long: "Take the state's lock away from a run that can't be reached. A lock dies with its holder by\n" +
			"itself, so this is for a process that hangs or a machine that is cut off. From now on\n" +
			"that run can write nothing and begins no request. What it has in flight is in doubt.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if reason == "" {
				return errors.New("force-unlock needs --reason: it is journalled under your name")
			}
			return p.forceUnlock(cmd.Context(), &from, reason)
		},
	}
	from.flags(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	return cmd
}

func (p *process) forceUnlock(ctx context.Context, from *source, reason string) error {
	w, err := p.open(from, false)
	if err != nil {
		return err
	}
	store, err := w.write(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // every append was durable when it returned
	if err := store.ForceUnlock(ctx, p.holder("remit force-unlock"), reason); err != nil {
		return w.stateError(err)
	}
	_, err = fmt.Fprintf(p.stdout, "The lock of %s was taken away.\n", w.path)
	return err
}
