package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/text/english"
	"remit/state"
)

func newStateEraseNames(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var reason string
	cmd := &cobra.Command{
		Use:   "erase-names",
		Short: "Remove every display name from the state, for good",
		Long: "Remove every display name from the state, for good. The journal says who did it, when, why and how\n" +
			"many names there were. Everything else stays and is verified as before. Backups, saved plans and\n" +
			"packs of evidence keep the names that they have: remove those files yourself.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkReason(cmd, reason); err != nil {
				return err
			}
			return eraseNames(cmd.Context(), p, &from, reason)
		},
	}
	directoryFlags(&from, cmd)
	reasonFlag(cmd, &reason)
	return cmd
}

func eraseNames(ctx context.Context, p *process, from *workspace.Directory, reason string) error {
	w, err := open(p, from)
	if err != nil {
		return err
	}
	by, count := p.host.Holder("remit state erase-names"), 0
	err = w.state.LockedThen(ctx, by, func(journal state.Journal, snapshot state.Snapshot) error {
		for _, err := range snapshot.Names(ctx) {
			if err != nil {
				return w.state.Error(err)
			}
			count++
		}
		if count == 0 {
			return nil
		}
		return journal.Append(ctx, state.Erased{Names: count, By: by, Reason: reason})
	}, scrub)
	if errors.Is(err, state.ErrBusy) {
		return exit.WithHint(fmt.Errorf("%s removed, and bytes of them are left: %w", english.Plural(count, "display name"), err), "run the same command again once nobody reads the state")
	}
	if err != nil {
		return err
	}
	text := "The state has no display name. Its files were rewritten, so that none of an earlier removal is left in them."
	if count > 0 {
		text = fmt.Sprintf("%s removed. The journal says so. Backups, saved plans and packs of evidence keep theirs.", english.Plural(count, "display name"))
	}
	_, err = fmt.Fprintln(p.streams.Out, text)
	return err
}

// scrub has a store whose files keep removed bytes write them anew.
func scrub(ctx context.Context, journal state.Journal) error {
	if s, ok := journal.(state.Scrubber); ok {
		return s.Scrub(ctx)
	}
	return nil
}
