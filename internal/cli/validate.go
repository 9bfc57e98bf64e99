package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"remit/config/mistake"
	"remit/internal/cli/workspace"
	"remit/internal/transfer"
	"remit/internal/view"
)

func newValidate(p *process) *cobra.Command {
	var from workspace.Directory
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration and every transfer that it declares",
		Long:  "Check the configuration and every transfer that it declares. It reads neither the state\nnor the service.",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := workspace.Load(p.ctx, p.host, p.streams, &from, asJSON)
			if err != nil {
				return err
			}
			var mistakes mistake.Set
			var totals transfer.Totals
			for t := range declared(cmd.Context(), loaded, &mistakes) {
				totals.Add(t.Request.Asset, t.Request.Amount)
			}
			if err := p.streams.Report(loaded, mistakes.Diagnostics(), asJSON); err != nil {
				return err
			}
			if asJSON {
				return p.streams.JSON().Validated(totals.Count(), loaded.Notes())
			}
			declares := "1 transfer"
			if totals.Count() != 1 {
				declares = fmt.Sprintf("%d transfers", totals.Count())
			}
			if _, err := fmt.Fprintf(p.streams.Out, "The configuration is valid. It declares %s.\n", declares); err != nil {
				return err
			}
			return view.Notes(p.streams.Out, loaded.Notes(), p.streams.Screen(p.streams.Out))
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON Lines")
	return cmd
}
