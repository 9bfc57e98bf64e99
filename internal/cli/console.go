package cli

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/spf13/cobra"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/view"
)

// consoleLineMax bounds one expression, in bytes.
const consoleLineMax = 1 << 20

func newConsole(p *process) *cobra.Command {
	var from workspace.Directory
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Evaluate expressions of the language, one a line, from standard input",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := workspace.Load(p.ctx, p.host, p.streams, &from)
			if err != nil {
				return err
			}
			return exit.OrInterrupted(cmd.Context(), func() error { return evaluateLines(p, loaded) })
		},
	}
	directoryFlags(&from, cmd)
	return cmd
}

// evaluateLines answers each line of standard input, up to its end or the line "exit".
func evaluateLines(p *process, loaded *config.Configuration) error {
	lines := bufio.NewScanner(p.streams.In)
	lines.Buffer(nil, consoleLineMax)
	failed := false
	for prompt(p); lines.Scan(); prompt(p) {
		line := strings.TrimSpace(lines.Text())
		if line == "exit" {
			break
		}
		if line == "" {
			continue
		}
		value, diags := loaded.Eval(line)
		if diags.HasErrors() {
			failed = true
			files := map[string]*hcl.File{"<console>": {Bytes: []byte(line)}}
			if err := view.Diagnostics(p.streams.Err, diags, files, p.streams.Screen(p.streams.Err)); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(p.streams.Out, valueText(value)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if failed && !p.streams.Interactive() {
		return exit.Code(exit.Error)
	}
	return nil
}

// prompt asks for an expression where a person is typing.
func prompt(p *process) {
	if p.streams.Interactive() {
		_, _ = fmt.Fprint(p.streams.Err, "> ")
	}
}

// valueText writes a value as the language would, with the line breaks of its layout. A
// sensitive one is not shown.
func valueText(value cty.Value) string {
	if value.ContainsMarked() {
		return "(sensitive value)"
	}
	value, err := cty.Transform(value, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if part.Type().IsCapsuleType() { // it is nothing that could be written
			return cty.StringVal("(" + part.Type().FriendlyName() + ")"), nil
		}
		return part, nil
	})
	if err != nil {
		panic(err) // it returns none
	}
	lines := strings.Split(string(hclwrite.Format(hclwrite.TokensForValue(value).Bytes())), "\n")
	for i, line := range lines {
		lines[i] = view.Visible(line)
	}
	return strings.Join(lines, "\n")
}
