package planner

import (
	"fmt"

	"remit/internal/transfer"
	"remit/state"
)

// isImported reports whether a row was made of a record alone: its request is unknown, and
// what is declared can be compared only with what the record says.
func (r *row) isImported() bool {
	return r.status.Made() && r.fingerprint == transfer.Fingerprint{}
}

// describeImported compares what is declared with the records of a row without a request. The
// destination is among them only where a record of the credit side is.
func (b *builder) describeImported(c *Change, d *state.Detail) error {
	if !c.Declared() {
		c.Request = transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount}
		return nil
	}
	if !d.Status.Made() || d.Outcome == nil {
		return nil
	}
	var records []transfer.Record
	for _, raw := range d.Outcome.Records {
		record, err := transfer.ParseRecord(raw)
		if err != nil {
			return fmt.Errorf("read the imported record of %q: %w", c.RefID, err)
		}
		records = append(records, record)
	}
	c.Differences = transfer.Examine(c.Request, records, b.controls.Operator).Differences
	if len(c.Differences) > 0 {
		c.Action = Conflict
	}
	return nil
}

// dropAgreed counts the lines of imported records that agree with what is declared and at
// which nobody has to look any more.
func (b *builder) dropAgreed() {
	n := 0
	for i := range b.plan.Changes {
		c, f := &b.plan.Changes[i], b.facts[i]
		if c.Action == None && f.row.status != state.Unverified {
			b.plan.count(None, c.Request.Asset, c.Request.Amount)
			continue
		}
		b.plan.Changes[n], b.facts[n] = *c, f
		n++
	}
	clear(b.plan.Changes[n:])
	clear(b.facts[n:])
	b.plan.Changes, b.facts = b.plan.Changes[:n], b.facts[:n]
}
