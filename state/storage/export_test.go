package storage

import (
	"context"

	"remit/state"
)

// NewCall is a call to append drafts.
func NewCall(ctx context.Context, drafts ...state.Draft) *Call {
	return &Call{Drafts: drafts, ctx: ctx}
}

// PackedRows are rows as a [Refold] holds them.
type PackedRows struct{ packed packedRows }

// NewPackedRows returns none.
func NewPackedRows() *PackedRows { return &PackedRows{newPackedRows()} }

// Remove forgets a row.
func (p *PackedRows) Remove(refID string) { p.packed.remove(refID) }

// Sorted returns the ref_ids.
func (p *PackedRows) Sorted() []string { return p.packed.sorted() }

// Put keeps a row in the place of an older one.
func (p *PackedRows) Put(r Row) { p.packed.put(r) }

// Row returns the row of a ref_id.
func (p *PackedRows) Row(refID string) Row { return p.packed.row(refID) }

// Has reports whether r is the row of its ref_id.
func (p *PackedRows) Has(r Row) bool { return p.packed.has(r) }

// Last is the newest event of a ref_id.
func (p *PackedRows) Last(refID string) int64 { return p.packed.last(refID) }

// Add has a note that could not be written because of err.
func (u *Unnoted) Add(path string, err error) { u.add(path, err) }
