package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"remit/executor"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/view"
)

// linesStart is how a file of JSON Lines of this program begins.
var linesStart = `{"type":"version","format":"` + strings.SplitAfter(view.Format, "/")[0]

func intoFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "json-into", "", "write JSON Lines to this `file` as well")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("json-into") && *name == "" {
			return errors.New("--json-into is empty, which names no file. Is a variable of the shell not set?")
		}
		return nil
	}
}

// writeInto makes the file to which JSON Lines go beside what a person reads; only its owner may
// read it. Like --out it replaces nothing that would be missed: only an earlier such file or an
// empty one. An empty name means that the flag is absent.
func writeInto(streams *terminal.Streams, s *workspace.Directory, name string) error {
	if name == "" {
		return nil
	}
	if streams.AsJSON {
		return errors.New("--json writes to standard output and --json-into to a file: say one of them")
	}
	path := s.Within(name)
	for _, suffix := range []string{".hcl", ".hcl.json", "-wal", "-shm", "-journal", ".lock"} {
		if strings.HasSuffix(path, suffix) {
			return fmt.Errorf("--json-into=%s: a name that ends in %s belongs to the configuration or to a state; name another file, such as run.jsonl", name, suffix)
		}
	}
	replaceable, err := isReplaceable(path, linesStart)
	if err != nil {
		return fmt.Errorf("--json-into: %w", err)
	}
	if !replaceable {
		return fmt.Errorf("--json-into=%s: it is there already and no file of JSON Lines, so it is not replaced; name another file", name)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("--json-into: %w", notWritten(path, err))
	}
	streams.WriteLines(file)
	if err := file.Chmod(0o600); err != nil {
		return fmt.Errorf("--json-into: %w", err)
	}
	return nil
}

// handlers tell each of them every event.
type handlers []executor.Handler

// Handle tells them in order.
func (all handlers) Handle(e executor.Event) {
	for _, h := range all {
		h.Handle(e)
	}
}
