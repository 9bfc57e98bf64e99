package books

import (
	"context"
	"encoding/json"

	"remit/internal/transfer"
	"remit/state"
)

// sides finds the records of both sides of a transfer. The latest outcome has them, unless a
// person forgot the transfer, or a later look saw one side alone where nothing else names the
// destination: then the journal is asked for those before.
func sides(ctx context.Context, archive Archive, d *state.Detail) (debit, credit *transfer.Record, err error) {
	isForgotten := d.Status == state.Tombstone && d.RecordID != ""
	if !d.Status.Made() && !isForgotten {
		return nil, nil, nil
	}
	var f finder
	if d.Outcome != nil && d.Outcome.Status.Made() {
		f.take(d.Outcome.Records)
	}
	isWhole := (f.debit != nil || f.credit != nil) && (f.credit != nil || d.Intent.Body != "")
	if !isForgotten && isWhole {
		return f.debit, f.credit, nil
	}
	f = finder{}
	for event, err := range archive.Events(ctx, 0, d.RefID) {
		if err != nil {
			return nil, nil, err
		}
		if event.Kind != state.KindOutcome {
			continue
		}
		entry, err := event.Entry()
		if err != nil {
			return nil, nil, err
		}
		if o, ok := entry.(state.Outcome); ok && o.Status.Made() {
			f.take(o.Records)
		}
	}
	return f.debit, f.credit, nil
}

// finder keeps the newest record of each side.
type finder struct{ debit, credit *transfer.Record }

// take reads the records of one outcome, the deciding one first. That one may be of either
// side; a side whose direction nobody documents is the sender's.
func (f *finder) take(records []json.RawMessage) {
	var debit, credit *transfer.Record
	for _, raw := range records {
		r, err := transfer.ParseRecord(raw)
		switch {
		case err != nil:
		case r.Direction == transfer.Credit && credit == nil:
			credit = &r
		case r.Direction != transfer.Credit && debit == nil:
			debit = &r
		}
	}
	if debit != nil {
		f.debit = debit
	}
	if credit != nil {
		f.credit = credit
	}
	if f.debit != nil && f.credit != nil && (f.credit.GroupID == "" || f.debit.GroupID != f.credit.GroupID) {
		f.credit = nil // nothing says that it is of the same transfer
	}
}
