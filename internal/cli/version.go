package cli

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"remit/internal/clock/zone"
	"remit/state/sqlite"
)

// version is set by a release build: -ldflags "-X remit/internal/cli.version=0.1.0".
var version = "0.1.0"

// build is what remit version --json prints.
type build struct {
	Version      string            `json:"version"`
	Commit       string            `json:"commit,omitempty"`
	Modified     bool              `json:"modified,omitempty"`
	Go           string            `json:"go"`
	SQLite       string            `json:"sqlite"`     // release of the SQLite that is linked in
	TimeZones    string            `json:"time_zones"` // release of the IANA database
	Dependencies map[string]string `json:"dependencies"`
}

func readVersion() build {
	b := build{Version: version, SQLite: sqlite.Version(), TimeZones: zone.Version, Dependencies: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	for _, module := range info.Deps {
		b.Dependencies[module.Path] = module.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	return b
}

func newVersion(p *process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show which remit this is",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			b := readVersion()
			if asJSON {
				return json.NewEncoder(p.stdout).Encode(b)
			}
			_, err := fmt.Fprintf(p.stdout, "remit %s\n", b.Version)
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
		Long:      "Write a completion script for a shell. For bash:\n\n    source <(remit completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactArgs("SHELL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(p.stdout, true)
			case "zsh":
				return root.GenZshCompletion(p.stdout)
			case "fish":
				return root.GenFishCompletion(p.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(p.stdout)
			}
			return withHint(fmt.Errorf("there is no completion for %q; bash, zsh, fish and powershell have one", args[0]), "remit completion --help")
		},
	}
}
