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
	shares   map[uint64]bool   // hashes of ref_ids whose record has the id of another one's, as a person accepted
	groups   groupOwners
}

// groupOwners are the ref_ids that have a group_id, by its hash. Two of each are enough to find another one than any,
// and few have a second one.
type groupOwners struct{ first, second map[uint64]owner }

// owner is a ref_id, as a hash but for the lowest bit. That says that it was called recorded or adopted: its group_id
// was held against the others then. It is 0 for none.
type owner uint64

func newGroupOwners() groupOwners {
	return groupOwners{make(map[uint64]owner), make(map[uint64]owner)}
}

func newOwner(hash uint64, isVouched bool) owner {
	if isVouched {
		return owner(hash | 1)
	}
	return owner(hash &^ 1)
}

// is reports whether two owners are one ref_id.
func (o owner) is(other owner) bool { return o|1 == other|1 }

// of returns the owners of a group_id that are known.
func (g groupOwners) of(group uint64) [2]owner { return [2]owner{g.first[group], g.second[group]} }

// add adds an owner to those before, where there is room.
func (g groupOwners) add(group uint64, before [2]owner, one owner) {
	switch {
	case before[0] == 0 || before[0].is(one):
		before[0] = one
	case before[1] == 0 || before[1].is(one):
		before[1] = one
	}
	g.first[group] = before[0]
	if before[1] != 0 {
		g.second[group] = before[1]
	}
}

// refuse reports whether a ref_id may not be called recorded or adopted with a group_id that these have.
func refuse(owners [2]owner, one owner) bool {
	isAnothers := false
	for _, o := range owners {
		if o.is(one) && o&1 == 1 {
			return false
		}
		isAnothers = isAnothers || o != 0 && !o.is(one)
	}
	return isAnothers
}

// NewDryRun reads the ids and the group_ids of the records that a state has. The snapshot must outlive it.
func NewDryRun(ctx context.Context, snapshot state.Snapshot) (*DryRun, error) {
	p := &DryRun{
		snapshot: snapshot, meta: snapshot.Meta(), seed: maphash.MakeSeed(),
		records: make(map[uint64]uint64), shares: make(map[uint64]bool), groups: newGroupOwners(),
	}
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, err
		}
		if row.SharesID {
			p.shares[p.hash(row.RefID)] = true
		} else if row.RecordID != "" {
			p.records[p.hash(row.RecordID)] = p.hash(row.RefID)
		}
		if row.GroupID != "" {
			group := p.hash(row.GroupID)
			p.groups.add(group, p.groups.of(group), newOwner(p.hash(row.RefID), isVouched(row.Status)))
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
	stored, groups := make(map[uint64]uint64), newGroupOwners()
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
		if id := d.RecordID(); id != "" && !p.shares[mine] {
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
	maps.Copy(p.groups.first, groups.first)
	maps.Copy(p.groups.second, groups.second)
	return nil
}

// takeGroup notes the group_id that a draft stores in anew, unless the state would refuse it.
func (p *DryRun) takeGroup(ctx context.Context, d state.Draft, refID string, anew groupOwners) error {
	if d.GroupID() == "" {
		return nil
	}
	claims := d.ClaimsGroup() != ""
	group, mine := p.hash(d.GroupID()), newOwner(p.hash(refID), claims)
	known := anew.of(group)
	if known[0] == 0 {
		known = p.groups.of(group)
	}
	if claims && refuse(known, mine) {
		other := p.holder(ctx, func(row *state.Transfer) bool { return row.GroupID == d.GroupID() && row.RefID != refID })
		return &state.DuplicateGroupError{GroupID: d.GroupID(), RefID: other, Asked: refID}
	}
	anew.add(group, known, mine)
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
