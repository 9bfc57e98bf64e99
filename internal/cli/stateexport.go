package cli

import (
	"context"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/state"
)

func newStateExport(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all that the state has as JSON Lines, for other programs",
		Long: "Write all that the state has, as it is now, as JSON Lines to standard output: what it says of\n" +
			"itself, every transfer with its request and its record, and the whole journal with its\n" +
			"hashes. It is for a warehouse, a script or an archive that is read without remit. It is no\n" +
			"backup: remit state backup writes what a state is restored from.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.streams.AsJSON = true
			w, err := open(p, &from)
			if err != nil {
				return err
			}
			return exportState(cmd.Context(), w.streams, w.state)
		},
	}
	directoryFlags(&from, cmd)
	return cmd
}

// exportState writes the state out of one snapshot, and holds a page of it.
func exportState(ctx context.Context, streams *terminal.Streams, st *workspace.State) error {
	snapshot, done, err := st.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	return streams.JSON().StateExport(snapshot.Meta(), state.AllDetails(ctx, snapshot), snapshot.Events(ctx, 0, ""))
}
