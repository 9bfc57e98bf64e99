package storage

import (
	"maps"
	"slices"
)

// Overlay are rows that are newer than those below it, by ref_id. The lowest overlay lies on
// what is stored.
type Overlay struct {
	Under *Overlay        // nil for the lowest
	Rows  map[string]*Row // a row is not changed once it is there

	records map[string]string // the ref_id of each record of Rows, by its id
}

// NewOverlay returns an empty one.
func NewOverlay(under *Overlay) *Overlay {
	return &Overlay{Under: under, Rows: make(map[string]*Row), records: make(map[string]string)}
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
	if r.RecordID != "" {
		o.records[r.RecordID] = r.RefID
	}
}

// Absorb takes the rows of a newer overlay over.
func (o *Overlay) Absorb(newer *Overlay) {
	maps.Copy(o.Rows, newer.Rows)
	maps.Copy(o.records, newer.records)
}

// Sorted returns the ref_ids in byte order.
func (o *Overlay) Sorted() []string { return slices.Sorted(maps.Keys(o.Rows)) }
