package executor

import (
	"context"
	"hash/maphash"
	"maps"

	"remit/state"
)

// DryRun is a [Journal] on which nothing is written: a run on it comes out as it would on the
// state. It refuses what the state would refuse of records: one that is stored under another
// ref_id, one that is called recorded or adopted with the group_id of another ref_id, and one of another
// customer. It is not for a run that sends.
type DryRun struct {
	snapshot state.Snapshot
	meta     state.Meta
	seed     maphash.Seed
	records  map[uint64]uint64 // ref_id by id of its record, as hashes
	groups   map[uint64]owners // by group_id, as hashes
}

// owners are the ref_ids that have one group_id, as hashes: two are enough to find another one than any.
type owners [2]owner

// owner is a ref_id that has a group_id; 0 for none.
type owner struct {
	refID     uint64
	isVouched bool // it was called recorded or adopted: its group_id was held against the others then
}

// with returns the owners and this one, where there is room.
func (o owners) with(one owner) owners {
	for i := range o {
		if o[i].refID == one.refID || o[i].refID == 0 {
			o[i] = one
			break
		}
	}
	return o
}

// refuse reports whether a ref_id may not be called recorded or adopted with the group_id now.
func (o owners) refuse(refID uint64) bool {
	isAnothers := false
	for _, one := range o {
		if one.refID == refID && one.isVouched {
			return false
		}
		isAnothers = isAnothers || one.refID != 0 && one.refID != refID
	}
	return isAnothers
}

// NewDryRun reads the ids and the group_ids of the records that a state has. The snapshot must outlive it.
func NewDryRun(ctx context.Context, snapshot state.Snapshot) (*DryRun, error) {
	p := &DryRun{
		snapshot: snapshot, meta: snapshot.Meta(), seed: maphash.MakeSeed(),
		records: make(map[uint64]uint64), groups: make(map[uint64]owners),
	}
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, err
		}
		if row.RecordID != "" {
			p.records[p.hash(row.RecordID)] = p.hash(row.RefID)
		}
		if row.GroupID != "" {
			group := p.hash(row.GroupID)
			p.groups[group] = p.groups[group].with(owner{p.hash(row.RefID), isVouched(row.Status)})
		}
	}
	return p, nil
}

func isVouched(status state.Status) bool { return status == state.Recorded || status == state.Adopted }

func (p *DryRun) hash(text string) uint64 { return maphash.String(p.seed, text) }

// Snapshot is the state as it is.
func (p *DryRun) Snapshot(context.Context) (state.Snapshot, error) { return lent{p.snapshot}, nil }

// lent is a snapshot that somebody else closes.
type lent struct{ state.Snapshot }

func (lent) Close() error { return nil }

// Append notes what the entries would store.
func (p *DryRun) Append(ctx context.Context, entries ...state.Entry) error {
	meta := p.meta
	stored, groups := make(map[uint64]uint64), make(map[uint64]owners)
	for _, entry := range entries {
		d, err := state.NewDraft(entry)
		if err != nil {
			return err
		}
		if meta, err = meta.Apply(d, meta.Serial+1, meta.CreatedAt); err != nil {
			return err
		}
		refID, _ := entry.Subject()
		mine := p.hash(refID)
		if id := d.RecordID(); id != "" {
			for _, known := range []map[uint64]uint64{p.records, stored} {
				if other, has := known[p.hash(id)]; !has || other == mine {
					continue
				}
				return &state.DuplicateRecordError{RecordID: id, RefID: p.holder(ctx, func(row *state.Transfer) bool { return row.RecordID == id })}
			}
			stored[p.hash(id)] = mine
		}
		if err := p.takeGroup(ctx, d, refID, groups); err != nil {
			return err
		}
	}
	p.meta = meta
	for id, refID := range stored {
		p.records[id] = refID
	}
	maps.Copy(p.groups, groups)
	return nil
}

// takeGroup notes the group_id that a draft stores in anew, unless the state would refuse it.
func (p *DryRun) takeGroup(ctx context.Context, d state.Draft, refID string, anew map[uint64]owners) error {
	if d.GroupID() == "" {
		return nil
	}
	group, mine := p.hash(d.GroupID()), p.hash(refID)
	known, has := anew[group]
	if !has {
		known = p.groups[group]
	}
	claims := d.ClaimsGroup() != ""
	if claims && known.refuse(mine) {
		other := p.holder(ctx, func(row *state.Transfer) bool { return row.GroupID == d.GroupID() && row.RefID != refID })
		return &state.DuplicateGroupError{GroupID: d.GroupID(), RefID: other, Asked: refID}
	}
	anew[group] = known.with(owner{mine, claims})
	return nil
}

// holder is the first ref_id of the state that is the one.
func (p *DryRun) holder(ctx context.Context, is func(*state.Transfer) bool) string {
	for row, err := range p.snapshot.Transfers(ctx) {
		if err == nil && is(&row) {
			return row.RefID
		}
	}
	return "another one of the same file"
}

// Check finds the lock held: nothing is sent.
func (p *DryRun) Check(context.Context) error { return nil }
