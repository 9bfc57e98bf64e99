package cli

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// importFileMax bounds an export that is read, in bytes.
const importFileMax = 4 << 30

func newImport(p *process) *cobra.Command {
	a := applying{planning: planning{allowEmpty: true}}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Rebuild the state from an export of the service's transfer records",
		Long: "Rebuild the state from an export of the service's transfer records: JSON, JSON Lines, or\n" +
			"CSV whose header has the names of the service's fields; - is standard input. Nothing is\n" +
			"sent. Each record is compared with what is declared or in doubt under its ref_id:\n\n" +
			"    adopted      it agrees, and both sides or the fingerprint prove the destination\n" +
			"    unverified   it agrees, and nothing proves the destination\n" +
			"    conflict     it disagrees\n\n" +
			"What nobody declares is adopted where the export has both of its sides, and else kept as\n" +
			"unverified: its ref_id exists at the service and is never sent.",
		Args: exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runImport(cmd.Context(), p, args[0])
		},
	}
	a.source.flags(cmd)
	cmd.Flags().BoolVar(&a.asJSON, "json", false, "write JSON Lines")
	return cmd
}

func (a *applying) runImport(ctx context.Context, p *process, file string) error {
	w, err := p.open(&a.source, a.asJSON)
	if err != nil {
		return err
	}
	records, err := w.readRecords(file, importFileMax)
	if err != nil {
		return err
	}
	known, without := newExport(records)
	if without > 0 {
		if _, err := fmt.Fprintf(p.stderr, "Notice: records without a ref_id are left out: %d.\n", without); err != nil {
			return err
		}
	}
	holder := p.holder("remit import")
	holder.RunID = uuid.NewString()
	return w.locked(ctx, holder, 0, func(journal state.Journal, snapshot state.Snapshot) error {
		if err := checkCustomer(records, snapshot.Meta().Service.CustomerID); err != nil {
			return err
		}
		plan, err := a.make(ctx, w, snapshot, a.asJSON)
		if err != nil {
			return err
		}
		others, err := a.unknownTo(ctx, snapshot, known)
		if err != nil {
			return w.stateError(err)
		}
		for _, c := range plan.Changes.All() {
			delete(others, c.RefID)
		}
		meta := snapshot.Meta()
		run := executor.Run{
			Plan: plan, Begun: state.Begun{
				RunID: holder.RunID, By: holder, Digest: plan.Digest,
				Environment: meta.Environment, Lineage: meta.Lineage, Service: meta.Service,
			},
			Journal: journal, Finder: known, Clock: clock{w.now}, Random: rand.Float64,
			Policy: executor.Policy{Operator: w.config.Service.Operator, FingerprintKey: w.config.Service.FingerprintKey},
		}
		adopt := func(ctx context.Context, run executor.Run) (executor.Summary, error) {
			return executor.Adopt(ctx, run, others)
		}
		return a.execute(ctx, w, run, adopt)
	})
}

// checkCustomer refuses an export of several customers, or of another one than the state's:
// whose record came first would decide whose the state is, and leave the others' out of it.
// The credit side of a transfer may be somebody else's.
func checkCustomer(records []transfer.Record, customer string) error {
	if customer == "" {
		for _, r := range records {
			if r.Direction == transfer.Debit {
				customer = r.CustomerID
				break
			}
		}
	}
	for _, r := range records {
		if r.Direction == transfer.Debit && r.CustomerID != customer {
			return fmt.Errorf("the export has a record (id %q) of customer %q, and the state is for the records of one customer, here %q. "+
				"Nothing was changed. Export the records of that one alone", r.ID, r.CustomerID, customer)
		}
	}
	return nil
}

// unknownTo are the records of ref_ids of which the state has nothing.
func (a *applying) unknownTo(ctx context.Context, snapshot state.Snapshot, known export) (map[string][]transfer.Record, error) {
	others := make(map[string][]transfer.Record, len(known))
	for refID, records := range known {
		others[refID] = records
	}
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, err
		}
		delete(others, row.RefID)
	}
	return others, nil
}
