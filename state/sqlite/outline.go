package sqlite

import (
	"context"
	"iter"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/storage"
)

// Outlines implements [state.Snapshot].
func (s *snapshot) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return packedOutlines().all(ctx, s)
}

func packedOutlines() packed[state.Outline] {
	var assets, statuses storage.Texts
	return packed[state.Outline]{
		words:   []string{`ref_id`, `asset`, `amount`, `record_status`, `iif(settled_ms IS NULL, run_id, '')`},
		digests: []digest{{`fingerprint`, len(transfer.Fingerprint{})}},
		numbers: []string{`ifnull(intended_ms, 'n')`, `ifnull(attempted_ms, 'n')`, `twin`, `destination`},
		unpack:  func(u *unpacking) state.Outline { return unpackOutline(u, &assets, &statuses) },
		of:      func(r storage.Row) state.Outline { return r.Outline() },
		refID:   func(o state.Outline) string { return o.RefID },
	}
}

func unpackOutline(u *unpacking, assets, statuses *storage.Texts) state.Outline {
	o := state.Outline{RefID: u.word(), Asset: assets.Intern(u.word())}
	amount, err := transfer.ParseAmount(u.word())
	o.Amount = amount
	o.RecordStatus = transfer.RecordStatus(statuses.Intern(u.word()))
	runID := u.word()

	f := u.flags()
	o.Status, o.FromLabel, o.HasRecord = f.status, f.fromLabel, f.hasRecord
	if o.Open = f.status == state.InDoubt && !f.settled; o.Open {
		o.RunID = runID
	}
	u.digest(o.Fingerprint[:])
	u.digestsEnd()
	o.IntendedAt, o.AttemptedAt = u.time(), u.time()
	o.Twin, o.Destination = transfer.Twin(u.number()), transfer.Destination(u.number())
	u.bad = u.bad || err != nil
	return o
}
