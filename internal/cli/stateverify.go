package cli

import (
	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/workspace"
)

func newStateVerify(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var check packCheck
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the state is whole and is what its journal makes of it",
		Long: "Check that the storage of the state is whole, that nobody changed its journal, that every\n" +
			"transfer and run is what the journal makes of it, and that it is the state that this\n" +
			"directory is bound to. It is remit audit verify of the state. Nothing is changed.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.streams.AsJSON {
				p.streams.JSON() // errors are told there too
			}
			if err := check.read(cmd, false); err != nil {
				return err
			}
			return verifyState(cmd.Context(), p, &from, check.head)
		},
	}
	directoryFlags(&from, cmd)
	check.headFlag(cmd)
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}
