package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/spf13/cobra"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

func newReversal(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var out string
	cmd := &cobra.Command{
		Use:   "reversal REF_ID...",
		Short: "Write the transfers that give money back",
		Long: "Write the transfers that give back what recorded transfers moved, as blocks to review, plan and\n" +
			"apply like any other. A transfer can be reversed when it is COMPLETED, and only as far as it\n" +
			"was not reversed already. Nothing is sent, and no file is replaced.",
		Args: someArgs("REF_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("out") && out == "" {
				return errors.New("--out is empty: it takes the name of a file. Is a variable of the shell not set?")
			}
			return reverse(cmd.Context(), p, &from, args, out)
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().StringVar(&out, "out", "", "write into this new `file`, such as reversals.hcl, instead of to standard output")
	return cmd
}

func reverse(ctx context.Context, p *process, from *workspace.Directory, refIDs []string, out string) error {
	if out != "" && !isRead(from, out) {
		return fmt.Errorf("--out=%s: no plan would read it; name a new file of the directory whose name ends in .hcl, such as reversals.hcl", out)
	}
	w, snapshot, done, err := openRead(ctx, p, from)
	if err != nil {
		return err
	}
	defer done()
	text, err := reversals(ctx, snapshot, refIDs)
	if err != nil {
		return err
	}
	if out == "" {
		_, err := p.streams.Out.Write(text)
		return err
	}
	file, err := os.OpenFile(w.dir.Within(out), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--out=%s: it is there already, and reversals replace no file; name a new one, such as reversals.hcl", out)
	}
	if err != nil {
		return fmt.Errorf("write the reversals, of which no file is replaced: %w", err)
	}
	if _, err := file.Write(text); err != nil {
		return errors.Join(fmt.Errorf("write the reversals: %w", err), file.Close())
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the reversals: %w", err)
	}
	_, err = fmt.Fprintf(p.streams.Out, "Wrote %d to %s. Nothing was sent. To see what it would do:\n\n    %s\n",
		len(slices.Compact(slices.Sorted(slices.Values(refIDs)))), view.Visible(out), view.Command(w.dir.Command("plan")))
	return err
}

// isRead reports whether a file that remit writes would be read as part of the configuration.
func isRead(s *workspace.Directory, name string) bool {
	base := filepath.Base(name)
	into, err := os.Stat(filepath.Dir(s.Within(name)))
	if err != nil || !config.IsSource(base) || !strings.HasSuffix(base, ".hcl") {
		return false
	}
	here, err := os.Stat(s.Path)
	return err == nil && os.SameFile(here, into)
}

// reversals are blocks that give back all that is left of the given transfers.
func reversals(ctx context.Context, snapshot state.Snapshot, refIDs []string) ([]byte, error) {
	found, err := planner.FindReversed(ctx, snapshot, refIDs)
	if err != nil {
		return nil, err
	}
	file := hclwrite.NewEmptyFile()
	written := make(map[string]bool)
	var wrong []error
	for _, refID := range refIDs {
		r := found[refID]
		switch {
		case written[refID]:
			continue
		case r.Why != "":
			wrong = append(wrong, fmt.Errorf("%s, %s, cannot be reversed: only a COMPLETED transfer that was made as it was asked for can be", shell.Word(refID), r.Why))
			continue
		case !r.Left.IsPositive():
			wrong = append(wrong, fmt.Errorf("%s was reversed already", shell.Word(refID)))
			continue
		}
		written[refID] = true
		name, err := reversalName(ctx, snapshot, refID)
		if err != nil {
			return nil, err
		}
		if len(written) > 1 {
			file.Body().AppendNewline()
		}
		appendReversal(file.Body(), name, refID, r)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("nothing was written: %w", errors.Join(wrong...))
	}
	return bytes.TrimLeft(hclwrite.Format(file.Bytes()), "\n"), nil
}

// appendReversal writes one block; r has an amount left.
func appendReversal(body *hclwrite.Body, name, refID string, r *planner.Reversed) {
	block := body.AppendNewBlock("transfer", []string{string(r.Request.Operation), name}).Body()
	set := func(argument, text string) {
		if text != "" {
			block.SetAttributeValue(argument, cty.StringVal(text))
		}
	}
	set("reverses", refID)
	set("from_profile_id", r.Request.ToProfileID)
	set("from_identity_id", r.Request.ToIdentityID)
	set("from_account_id", r.Request.ToAccountID)
	set("to_profile_id", r.Request.FromProfileID)
	set("to_identity_id", r.Request.FromIdentityID)
	set("to_account_id", r.Request.FromAccountID)
	set("amount", transfer.Digits(r.Left))
	set("asset", r.Request.Asset)
}

// reversalName is a ref_id that the state does not have: reversal-of-X, then reversal-2-of-X.
func reversalName(ctx context.Context, snapshot state.Snapshot, refID string) (string, error) {
	for n := 1; ; n++ {
		name := "reversal-of-" + refID
		if n > 1 {
			name = fmt.Sprintf("reversal-%d-of-%s", n, refID)
		}
		if err := transfer.CheckRefID(name); err != nil { // too long
			sum := sha256.Sum256([]byte(refID))
			name = fmt.Sprintf("reversal-%d-of-%s", n, hex.EncodeToString(sum[:8]))
		}
		known, err := snapshot.Details(ctx, name)
		if err != nil || len(known) == 0 {
			return name, err
		}
	}
}
