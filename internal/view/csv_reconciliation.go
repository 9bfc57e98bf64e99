package view

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"remit/internal/accounts/reconcile"
)

// ReconciliationCSV writes a line for each transfer of a reconciliation, as they come, below a
// line of column names. It is written as [PlanCSV] writes: a spreadsheet may open it.
type ReconciliationCSV struct {
	out   *csv.Writer
	begun bool
}

// NewReconciliationCSV makes a file of w, to which the first line or the end writes.
func NewReconciliationCSV(w io.Writer) *ReconciliationCSV {
	c := &ReconciliationCSV{out: csv.NewWriter(w)}
	c.out.UseCRLF = true
	return c
}

// begin writes the column names, once.
func (c *ReconciliationCSV) begin() error {
	if c.begun {
		return nil
	}
	c.begun = true
	columns := []string{"result", "breaks", "ref_id", "group_id", "amount", "asset", "batch", "state_status", "state_record_status"}
	for _, side := range []string{"debit", "credit"} {
		for _, name := range []string{"id", "profile_id", "amount", "asset", "status", "created_at", "place"} {
			columns = append(columns, side+"_"+name)
		}
	}
	return c.write(append(columns, "differences", "reason", "next"))
}

// Line writes a transfer.
func (c *ReconciliationCSV) Line(l *reconcile.Item) error {
	if err := c.begin(); err != nil {
		return err
	}
	var breaks []string
	for _, b := range l.Breaks {
		breaks = append(breaks, string(b))
	}
	status, recorded := "", ""
	if l.State != nil {
		status, recorded = l.State.Status.String(), string(l.State.RecordStatus)
	}
	cells := []string{string(l.Result), strings.Join(breaks, " "), l.RefID, l.GroupID, l.Amount, l.Asset, l.Batch, status, recorded}
	for _, s := range []*reconcile.Side{l.Debit, l.Credit} {
		if s == nil {
			cells = append(cells, "", "", "", "", "", "", "")
			continue
		}
		cells = append(cells, s.ID, s.ProfileID, s.Amount, s.Asset, string(s.Status), moment(s.CreatedAt), s.Place)
	}
	reason := l.Reason
	for i := range l.More {
		reason = strings.TrimSpace(reason + " Also there: " + sideText(&l.More[i], plainNumber) + ".")
	}
	cells = append(cells, strings.Join(reconciledDifferences(l, plainNumber), "; "), reason, l.Next)
	for i := range cells {
		cells[i] = cellText(cells[i])
	}
	return c.write(cells)
}

// End writes the rest. The file has no line of its own for the whole.
func (c *ReconciliationCSV) End(*reconcile.Summary, ReconciliationOptions) error {
	if err := c.begin(); err != nil {
		return err
	}
	c.out.Flush()
	return c.out.Error()
}

func (c *ReconciliationCSV) write(cells []string) error {
	if err := c.out.Write(cells); err != nil {
		return fmt.Errorf("write the reconciliation: %w", err)
	}
	return nil
}
