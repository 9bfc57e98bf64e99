package reconcile

import (
	"remit/internal/transfer"
	"remit/state"
)

// forgetCommand is the command of a person who forgot a ref_id, as the journal names it.
const forgetCommand = "remit state forget"

// findForgotten sets the outcome that a tombstone had before a person had it forgotten, where the service had made it by
// then; the books have it for ever. It stays nil where a person said that it was not made, and where nobody knew.
func (j *judge) findForgotten(p *pair) error {
	if p.row.Status != state.Tombstone || p.row.RecordID == "" && !p.row.IsListed() {
		return nil
	}
	made, before, err := j.history(p.row.RefID)
	o := p.detail.Outcome
	isForgotten := before == state.Conflict && o != nil && o.By != nil && o.By.Command == forgetCommand // over a record
	if before.Made() || isForgotten {
		p.forgotten = made
	}
	return err
}

// history is the last outcome of a ref_id that says that it was made, nil for none, and the last status before a
// tombstone.
func (j *judge) history(refID string) (made *state.Outcome, before state.Status, err error) {
	for event, err := range j.archive.Events(j.ctx, 0, refID) {
		if err != nil {
			return nil, 0, err
		}
		entry, err := event.Entry()
		if err != nil {
			return nil, 0, err
		}
		if outcome, ok := entry.(state.Outcome); ok && outcome.Status != state.Tombstone {
			if before = outcome.Status; before.Made() {
				made = &outcome
			}
		}
	}
	return made, before, nil
}

// isMade reports whether the state has the transfer as made, a forgotten one included.
func (p *pair) isMade() bool { return p.row.Status.Made() || p.forgotten != nil }

// outcome is the one that decides: of a forgotten transfer the one before that; nil for none.
func (p *pair) outcome() *state.Outcome {
	if p.forgotten != nil {
		return p.forgotten
	}
	return p.detail.Outcome
}

// storedRecords are the records that the state has of a transfer, the deciding one first.
func storedRecords(o *state.Outcome) []transfer.Record {
	if o == nil {
		return nil
	}
	var records []transfer.Record
	for _, raw := range o.Records {
		if record, err := transfer.ParseRecord(raw); err == nil { // of a conflict, it may be anything
			records = append(records, record)
		}
	}
	return records
}

// compareForgotten judges a transfer that a person had the state forget after the service had made it: it is known, and
// all that differs from what the state had is a break, as of any other. It is false where it moved nothing
// and the service does not have it.
func (j *judge) compareForgotten(p *pair, item *Item) bool {
	item.Reason = "It was forgotten on purpose"
	if o := p.detail.Outcome; o != nil && o.Reason != "" {
		item.Reason += ": " + o.Reason
	}
	if len(p.sides) == 0 {
		item.add(StateOnly)
		return p.row.RecordStatus != transfer.Failed
	}
	item.Result = Accepted
	j.compareSides(p, item)
	return true
}
