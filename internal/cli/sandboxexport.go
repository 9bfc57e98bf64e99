package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/sandbox"
	"remit/internal/transfer"
)

// sandboxExporting is remit sandbox export.
type sandboxExporting struct {
	dir      workspace.Directory
	ledger   string
	operator string
}

func newSandboxExport(p *process) *cobra.Command {
	e := sandboxExporting{dir: workspace.Directory{Need: config.NeedService}}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the sandbox's transfer records, as a service would export them",
		Long: "Write the transfer records of the sandbox to standard output as JSON Lines, in the order in\n" +
			"which they were made, both sides of each transfer: what a service's own export has. They are\n" +
			"those of apply --sandbox in this directory, or with --ledger those of sandbox serve.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("sandbox") && !e.dir.Sandbox {
				return errors.New("sandbox export has the records of the sandbox alone; leave --sandbox=false out")
			}
			e.dir.Sandbox = true
			return e.run(cmd.Context(), p)
		},
	}
	directoryFlags(&e.dir, cmd)
	cmd.Flags().StringVar(&e.ledger, "ledger", "", "read this `file`, which sandbox serve --ledger keeps, and no configuration")
	cmd.Flags().StringVar(&e.operator, "operator", string(transfer.DefaultOperator), "with --ledger: the operator's word in types")
	return cmd
}

func (e *sandboxExporting) run(ctx context.Context, p *process) error {
	path, operator, environment := e.dir.Within(e.ledger), transfer.Operator(e.operator), ""
	if e.ledger == "" {
		loaded, err := workspace.Load(p.ctx, p.host, p.streams, &e.dir)
		if err != nil {
			return err
		}
		if err := e.dir.CheckSandbox(); err != nil {
			return err
		}
		path, operator, environment = filepath.Join(e.dir.SandboxDirectory(), "ledger.db"), loaded.Service.Operator, e.dir.Block()
	}
	if _, err := os.Stat(path); err != nil {
		if e.ledger != "" {
			return fmt.Errorf("read the ledger: %w", err)
		}
		return exit.WithHint(errors.New("the sandbox has no ledger yet: its first apply makes it"), e.dir.Command("apply"))
	}
	box, err := sandbox.Open(ctx, sandbox.Options{Path: path, Environment: environment, Operator: operator, Now: p.host.Now})
	if err != nil {
		return fmt.Errorf("open the sandbox: %w", err)
	}
	defer func() { _ = box.Close() }() // nothing was written
	out := bufio.NewWriter(exit.Interruptible(ctx, p.streams.Out))
	for record, err := range box.Ledger(ctx) {
		if err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
		_, _ = out.Write(record.Raw)
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}
