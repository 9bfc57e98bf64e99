package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/internal/view"
)

func newValidate(p *process) *cobra.Command {
	var from workspace.Directory
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration and every transfer that it declares",
		Long:  "Check the configuration and every transfer that it declares. It reads neither the state\nnor the service. Of several environments it checks each, where none is chosen.",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if names := unchosen(p.host, &from); len(names) > 1 {
				return validateEach(cmd.Context(), p, &from, names)
			}
			loaded, err := workspace.Load(p.ctx, p.host, p.streams, &from)
			if err != nil {
				return err
			}
			var mistakes mistake.Set
			var totals transfer.Totals
			for t := range declared(cmd.Context(), loaded, &mistakes) {
				totals.Add(t.Request.Asset, t.Request.Amount)
			}
			if err := p.streams.Report(loaded, mistakes.Diagnostics()); err != nil {
				return err
			}
			if service, isNamed := workspace.Named(&from); isNamed {
				if err := warnOfService(p.streams, &from, loaded, service); err != nil {
					return err
				}
			}
			if p.streams.AsJSON {
				return p.streams.JSON().Validated("", totals.Count(), loaded.Notes())
			}
			if _, err := fmt.Fprintf(p.streams.Out, "The configuration is valid. It declares %s.\n", english.Plural(totals.Count(), "transfer")); err != nil {
				return err
			}
			return view.Notes(p.streams.Out, loaded.Notes(), p.streams.Screen(p.streams.Out))
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

// unchosen are the environments of a directory of which the command line and the environment name none.
func unchosen(h *host.Host, from *workspace.Directory) []string {
	if from.Environment != "" || h.Getenv(config.EnvironmentVariable) != "" {
		return nil
	}
	environments, diags := config.Environments(from.Path, config.Options{Unsaved: from.Unsaved, Memory: from.Memory})
	if diags.HasErrors() {
		return nil // the whole configuration is read, and its mistakes are told
	}
	var names []string
	for _, e := range environments {
		names = append(names, e.Name)
	}
	return names
}
