package config

import (
	"context"

	"remit/config/mistake"
)

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
// each block come to, by its address. Where the configuration has a [Memory], facts of an unchanged block are taken
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
		c.kept.memory.forget()
	}
	return s.facts
}
