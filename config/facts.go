package config

import (
	"context"
	"strings"
	"time"

	"remit/config/mistake"
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

// DeclaredAt is where the transfer with a ref_id is declared: its row, or its block. It is false where there is none, or ctx ends first. It
// uses no memory, so that a later check may.
func DeclaredAt(ctx context.Context, c *Configuration, refID string) (Place, bool) {
	s := newStream(c)
	s.isWhole = true
	for t, diags := range s.all(ctx) {
		if !diags.HasErrors() && t.Request.RefID == refID {
			return t.Place, true
		}
	}
	return Place{}, false
}

// Facts evaluates all transfers as [Configuration.Transfers] does, adds their mistakes to a set, and returns what those of
// each block come to, by its address. Where the configuration has a [Memory], what is known of an unchanged block is taken
// from there: its mistakes are the same. It is whole where ctx has not ended.
func Facts(ctx context.Context, c *Configuration, mistakes *mistake.Set) map[string]*BlockFacts {
	if !c.sound {
		panic("facts are asked of a configuration that has mistakes")
	}
	s := newStream(c)
	s.facts = map[string]*BlockFacts{}
	for _, diags := range s.all(ctx) {
		mistakes.Add(diags)
	}
	if c.kept != nil && ctx.Err() == nil {
		c.kept.forget()
	}
	return s.facts
}
