package storage

import (
	"maps"
	"slices"
)

// Overlay are rows that are newer than those below it, by ref_id. The lowest overlay lies on
// the stored rows.
type Overlay struct {
	Under *Overlay        // nil for the lowest
	Rows  map[string]*Row // a row is not changed once it is there

	records map[string]string // the ref_id of each record of Rows, by its id
	groups  map[string]owners // by group_id
}

// owners are two of those who have, or had, a group_id: so that either of them can tell whether
// there is another one. "" for none.
type owners [2]string

// with has a ref_id among them, where there is room.
func (o owners) with(refID string) owners {
	switch {
	case refID == "" || o[0] == refID || o[1] == refID:
	case o[0] == "":
		o[0] = refID
	case o[1] == "":
		o[1] = refID
	}
	return o
}

// NewOverlay returns an empty one.
func NewOverlay(under *Overlay) *Overlay {
	return &Overlay{Under: under, Rows: make(map[string]*Row), records: make(map[string]string), groups: make(map[string]owners)}
}

// Row returns the newest row of a ref_id, if one of the overlays has it.
func (o *Overlay) Row(refID string) (Row, bool) {
	for ; o != nil; o = o.Under {
		if r, ok := o.Rows[refID]; ok {
			return *r, true
		}
	}
	return Row{}, false
}

// Owner returns the ref_id under which a record is stored, if one of the overlays knows. A
// stored record never leaves its ref_id, so any overlay may say so.
func (o *Overlay) Owner(recordID string) (string, bool) {
	for ; o != nil; o = o.Under {
		if refID, ok := o.records[recordID]; ok {
			return refID, true
		}
	}
	return "", false
}

// Put lays a row over those of its ref_id.
func (o *Overlay) Put(r Row) {
	o.Rows[r.RefID] = &r
	if r.RecordID != "" && !r.SharesID {
		o.records[r.RecordID] = r.RefID
	}
	if r.GroupID != "" {
		o.groups[r.GroupID] = o.groups[r.GroupID].with(r.RefID)
	}
}

// GroupOwner returns another ref_id than the given one that has a group_id, by the overlays' rows or
// as one of those stored, which the overlays may have newer; "" where there is none.
func (o *Overlay) GroupOwner(groupID, refID string, stored [2]string) string {
	has := func(other string) bool {
		r, isNewer := o.Row(other)
		return other != "" && other != refID && (!isNewer || r.GroupID == groupID)
	}
	for at := o; at != nil; at = at.Under {
		for _, other := range at.groups[groupID] {
			if has(other) {
				return other
			}
		}
	}
	for _, other := range stored {
		if has(other) {
			return other
		}
	}
	return ""
}

// Absorb takes the rows of a newer overlay over.
func (o *Overlay) Absorb(newer *Overlay) {
	maps.Copy(o.Rows, newer.Rows)
	maps.Copy(o.records, newer.records)
	for groupID, refIDs := range newer.groups {
		o.groups[groupID] = o.groups[groupID].with(refIDs[0]).with(refIDs[1])
	}
}

// Sorted returns the ref_ids in byte order.
func (o *Overlay) Sorted() []string { return slices.Sorted(maps.Keys(o.Rows)) }
