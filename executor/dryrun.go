package executor

import (
	"context"
	"hash/maphash"

	"remit/state"
)

// DryRun is a [Journal] on which nothing is written: a run on it comes out as it would on the
// state. It refuses what the state would refuse of records: one that is stored under another
// ref_id, and one of another customer. It is not for a run that sends.
type DryRun struct {
	snapshot state.Snapshot
	meta     state.Meta
	seed     maphash.Seed
	records  map[uint64]uint64 // ref_id by id of its record, as hashes
}

// NewDryRun reads the ids of the records that a state has. The snapshot must outlive it.
func NewDryRun(ctx context.Context, snapshot state.Snapshot) (*DryRun, error) {
	p := &DryRun{snapshot: snapshot, meta: snapshot.Meta(), seed: maphash.MakeSeed(), records: make(map[uint64]uint64)}
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, err
		}
		if row.RecordID != "" {
			p.records[p.hash(row.RecordID)] = p.hash(row.RefID)
		}
	}
	return p, nil
}

func (p *DryRun) hash(text string) uint64 { return maphash.String(p.seed, text) }

// Snapshot is the state as it is.
func (p *DryRun) Snapshot(context.Context) (state.Snapshot, error) { return lent{p.snapshot}, nil }

// lent is a snapshot that somebody else closes.
type lent struct{ state.Snapshot }

func (lent) Close() error { return nil }

// Append notes what the entries would store.
func (p *DryRun) Append(ctx context.Context, entries ...state.Entry) error {
	meta := p.meta
	stored := make(map[uint64]uint64)
	for _, entry := range entries {
		d, err := state.NewDraft(entry)
		if err != nil {
			return err
		}
		if meta, err = meta.Apply(d, meta.Serial+1, meta.CreatedAt); err != nil {
			return err
		}
		id := d.RecordID()
		if id == "" {
			continue
		}
		refID, _ := entry.Subject()
		mine := p.hash(refID)
		for _, known := range []map[uint64]uint64{p.records, stored} {
			if other, has := known[p.hash(id)]; has && other != mine {
				return &state.DuplicateRecordError{RecordID: id, RefID: p.holder(ctx, id)}
			}
		}
		stored[p.hash(id)] = mine
	}
	p.meta = meta
	for id, refID := range stored {
		p.records[id] = refID
	}
	return nil
}

// holder is the ref_id under which the state has a record.
func (p *DryRun) holder(ctx context.Context, id string) string {
	for row, err := range p.snapshot.Transfers(ctx) {
		if err == nil && row.RecordID == id {
			return row.RefID
		}
	}
	return "another one of the same file"
}

// Check finds the lock held: nothing is sent.
func (p *DryRun) Check(context.Context) error { return nil }
