package config

import (
	"strings"
	"time"

	"remit/internal/transfer"
)

// BlockFacts are what the transfers of one block come to that have no mistake. They are not changed once they are given.
type BlockFacts struct {
	Totals transfer.Totals
	First  string      // the ref_id of the first of them
	due    []time.Time // when they are due, one after the other; equal ones in a row once
}

// NextDue is the earliest time behind now at which one of the transfers is due; zero where none is due later.
func (f *BlockFacts) NextDue(now time.Time) time.Time {
	var next time.Time
	for _, t := range f.due {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

// note counts one transfer.
func (f *BlockFacts) note(t *Transfer) {
	if f.Totals.Count() == 0 {
		f.First = strings.Clone(t.Request.RefID) // which shares the memory of its row
	}
	f.Totals.Add(t.Request.Asset, t.Request.Amount)
	if n := len(f.due); !t.NotBefore.IsZero() && (n == 0 || !f.due[n-1].Equal(t.NotBefore)) {
		f.due = append(f.due, t.NotBefore)
	}
}
