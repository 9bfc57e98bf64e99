package planner

import (
	"remit/internal/transfer"
	"remit/state"
)

// addUndeclared adds the recorded transfers that are no longer declared: a line where one is in doubt
// or in conflict, which does not end because a declaration was deleted, and else a count.
// A transfer that was never made counts apart: a period that somebody moved on takes a refused salary with it, which nobody meant to leave unpaid.
func (b *builder) addUndeclared() {
	for _, r := range b.rows.all() {
		if r.is(markDeclared) {
			continue
		}
		if b.word != nil && b.word.hides(r) {
			continue
		}
		switch r.status {
		case state.InDoubt:
			action := Resolve
			if r.is(markInFlight) {
				action = Wait
			}
			b.addUndeclaredLine(r, action)
		case state.Conflict:
			b.addUndeclaredLine(r, Conflict)
		case state.Recorded, state.Adopted, state.Unverified:
			b.plan.count(Undeclared, b.rows.assetOf(r), b.rows.amount(r))
			if r.is(markFailed) && !r.is(markMayBeMade) {
				b.plan.UndeclaredFailed.Add(b.rows.assetOf(r), b.rows.amount(r))
			}
			b.listUndeclared(r)
			if r.status == state.Unverified && !r.is(markFailed) {
				c := b.undeclared(r)
				b.plan.Unverified.add(&c)
			}
		case state.Unsent, state.Refused:
			unmade := &b.plan.Unmade
			unmade.Add(b.rows.assetOf(r), b.rows.amount(r))
			if len(unmade.RefIDs) < refIDsMax {
				unmade.RefIDs = append(unmade.RefIDs, b.rows.refID(r))
			}
		case state.Tombstone: // a person settled it
		}
	}
}

func (b *builder) addUndeclaredLine(r *row, action Action) {
	b.add(&Change{Action: action, RefID: b.rows.refID(r), FromLabel: r.is(markFromLabel)}, facts{row: r}, false)
}

func (b *builder) listUndeclared(r *row) {
	if len(b.plan.Undeclared) < UndeclaredMax {
		b.plan.Undeclared = append(b.plan.Undeclared, b.undeclared(r))
	}
}

// undeclared is what a row says of a transfer that nobody declares any more.
func (b *builder) undeclared(r *row) Change {
	c := Change{
		Action: Undeclared, RefID: b.rows.refID(r), FromLabel: r.is(markFromLabel),
		Request:  transfer.Request{RefID: b.rows.refID(r), Asset: b.rows.assetOf(r), Amount: b.rows.amount(r)},
		Recorded: &Recorded{Status: r.status},
	}
	switch {
	case r.is(markCompleted):
		c.Recorded.RecordStatus = transfer.Completed
	case r.is(markFailed):
		c.Recorded.RecordStatus = transfer.Failed
	}
	if r.status == state.Unverified {
		c.markUnverified(nil)
	}
	return c
}
