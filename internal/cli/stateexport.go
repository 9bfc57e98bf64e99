package cli

import (
	"context"

	"github.com/spf13/cobra"

	"remit/config"
)

func newStateExport(p *process) *cobra.Command {
	from := source{need: config.NeedState}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all that the state has as JSON Lines, for other programs",
		Long: "Write all that the state has, as it is now, as JSON Lines to standard output: what it says of\n" +
			"itself, every transfer with its request and its record, and the whole journal with its\n" +
			"hashes. It is for a warehouse, a script or an archive that is read without remit. It is no\n" +
			"backup: remit state backup writes what a state is restored from.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := openWorkspace(p, &from, true)
			if err != nil {
				return err
			}
			return w.exportState(cmd.Context())
		},
	}
	from.flags(cmd)
	return cmd
}

// exportState writes the state out of one snapshot, and holds a page of it.
func (w *workspace) exportState(ctx context.Context) error {
	snapshot, done, err := w.read(ctx)
	if err != nil {
		return err
	}
	defer done()
	return w.streams.JSON().StateExport(snapshot.Meta(), allDetails(ctx, snapshot), snapshot.Events(ctx, 0, ""))
}
