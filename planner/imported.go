package planner

import (
	"fmt"

	"remit/internal/transfer"
	"remit/state"
)

// isImported reports whether a row was made of a record alone: its request is unknown, and
// the declaration can be compared only with the record.
func (r *row) isImported() bool {
	return r.status.Made() && r.fingerprint.IsZero()
}

// describeImported compares the declaration with the records of a row without a request. The
// destination is among them only where a record of the credit side is.
func (b *builder) describeImported(c *Change, d *state.Detail) error {
	if !c.Declared() {
		c.Request = transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount}
		return nil
	}
	if b.isAlone() { // what its records say, the state knows
		if c.Differences = b.word.lineOf(c.RefID).Differences; len(c.Differences) > 0 && d.Status.Made() {
			c.Action = Conflict
		}
		return nil
	}
	if !d.Status.Made() || d.Outcome == nil {
		return nil
	}
	if d.IsListed() {
		describeListed(c, d)
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

// describeSides takes over who paid and who was paid, as far as the imported records name them.
func (c *Change) describeSides(d *state.Detail) error {
	if d.Outcome == nil {
		return nil
	}
	for _, raw := range d.Outcome.Records {
		record, err := transfer.ParseRecord(raw)
		if err != nil {
			return fmt.Errorf("read the imported record of %q: %w", c.RefID, err)
		}
		switch record.Direction {
		case transfer.Debit:
			c.Request.FromProfileID = record.ProfileID
		case transfer.Credit:
			c.Request.ToProfileID = record.ProfileID
		}
	}
	return nil
}

// describeListed compares the declaration with a list, which has only the amount.
func describeListed(c *Change, d *state.Detail) {
	if !transfer.SameNumber(c.Request.Amount.String(), d.Amount.String()) {
		c.Differences = append(c.Differences, transfer.Difference{Field: "amount", Asked: c.Request.Amount.String(), Answered: d.Amount.String()})
	}
	if c.Request.Asset != d.Asset {
		c.Differences = append(c.Differences, transfer.Difference{Field: "asset", Asked: c.Request.Asset, Answered: d.Asset})
	}
	if len(c.Differences) > 0 {
		c.Action = Conflict
	}
}

// dropAgreed counts the lines of imported records that agree with the declaration and at
// which nobody has to look any more.
func (b *builder) dropAgreed() {
	agrees := func(i int) bool {
		row := b.facts.at(i).row
		return row != nil && row.isImported() && row.status != state.Unverified && b.plan.Changes.Action(i) == None
	}
	found := false
	for i := range b.facts.len() {
		if agrees(i) {
			found = true
			c := b.plan.Changes.At(i)
			b.plan.count(None, c.Request.Asset, c.Request.Amount)
			b.noteUnknown(b.facts.at(i).row)
		}
	}
	if found {
		b.retain(func(i int) bool { return !agrees(i) })
	}
}
