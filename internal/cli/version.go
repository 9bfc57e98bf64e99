package cli

import (
	"encoding/json"
	"fmt"

	"remit/internal/cli/exit"

	"github.com/spf13/cobra"
)

func newVersion(p *process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			b := readVersion()
			if asJSON {
				return json.NewEncoder(p.streams.Out).Encode(b)
			}
			_, err := fmt.Fprintf(p.streams.Out, "remit %s\n", b.Version)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object, with the commit, the dependencies and the releases of SQLite and of the time zones")
	return cmd
}

func newCompletion(p *process) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Write a completion script for a shell",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactArgs("SHELL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(p.streams.Out, true)
			case "zsh":
				return root.GenZshCompletion(p.streams.Out)
			case "fish":
				return root.GenFishCompletion(p.streams.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(p.streams.Out)
			}
			return exit.WithHint(fmt.Errorf("there is no completion for %q; bash, zsh, fish and powershell have one", args[0]), "remit completion --help")
		},
	}
}
