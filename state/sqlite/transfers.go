package sqlite

import (
	"context"
	"iter"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/storage"
)

// Transfers implements [state.Snapshot].
func (s *snapshot) Transfers(ctx context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for r, err := range s.allRows(ctx) {
			if !yield(r.Transfer, err) {
				return
			}
		}
	}
}

// allRows yields every row, the newest that s knows, in the order of ref_id. One that is newer than the journal is an error.
func (s *snapshot) allRows(ctx context.Context) iter.Seq2[storage.Row, error] {
	return func(yield func(storage.Row, error) bool) {
		for r, err := range packedRows().all(ctx, s) {
			if err == nil {
				err = r.CheckIn(s.head.Serial)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func packedRows() packed[storage.Row] {
	var assets, statuses, runs storage.Texts
	return packed[storage.Row]{
		words: []string{
			`ref_id`, `amount`, `group_id`, `ifnull(record_id, '')`, `asset`, `record_status`, `run_id`,
		},
		digests: []digest{{`fingerprint`, len(transfer.Fingerprint{})}, {`request_digest`, len(state.RequestDigest{})}},
		numbers: []string{
			`ifnull(intended_ms, 'n')`, `ifnull(attempted_ms, 'n')`, `ifnull(settled_ms, 'n')`,
			`twin`, `destination`, `intent_seq`, `outcome_seq`, `last_seq`,
		},
		unpack: func(u *unpacking) storage.Row { return unpackRow(u, &assets, &statuses, &runs) },
		of:     func(r storage.Row) storage.Row { return r },
		refID:  func(r storage.Row) string { return r.RefID },
	}
}

func unpackRow(u *unpacking, assets, statuses, runs *storage.Texts) storage.Row {
	var r storage.Row
	words := u.own(4) // a caller may keep one row of many
	r.RefID = words.next(packedSep)
	amount, err := transfer.ParseAmount(words.next(packedSep))
	r.Amount = amount
	r.GroupID = words.next(packedSep)
	r.ReadID(words.next(packedSep))
	r.Asset = assets.Intern(u.word())
	r.RecordStatus = transfer.RecordStatus(statuses.Intern(u.word()))
	r.RunID = runs.Intern(u.word())

	f := u.flags()
	r.Status, r.FromLabel, r.Doubted = f.status, f.fromLabel, f.doubted
	u.digest(r.Fingerprint[:])
	u.digest(r.RequestDigest[:])
	u.digestsEnd()
	r.IntendedAt, r.AttemptedAt, r.SettledAt = u.time(), u.time(), u.time()
	r.Twin, r.Destination = transfer.Twin(u.number()), transfer.Destination(u.number())
	r.IntentSeq, r.OutcomeSeq, r.Last = u.number(), u.number(), u.number()
	u.bad = u.bad || err != nil
	return r
}
