package config

import (
	"context"
	"iter"

	"github.com/hashicorp/hcl/v2"
)

// CurrencyScale lets tests compare the list of currencies with another one.
func CurrencyScale(code string) (int, bool) { return currencyScale(code) }

// Interpreted streams c's transfers by general evaluation alone: the oracle of what is
// compiled.
func Interpreted(ctx context.Context, c *Configuration) iter.Seq2[Transfer, hcl.Diagnostics] {
	s := newStream(c)
	for _, block := range c.transfers {
		s.compiled[block] = nil
	}
	return s.all(ctx)
}

// Compiled streams c's transfers and then says how many blocks were compiled.
func Compiled(ctx context.Context, c *Configuration, blocks *int) iter.Seq2[Transfer, hcl.Diagnostics] {
	s := newStream(c)
	return func(yield func(Transfer, hcl.Diagnostics) bool) {
		for t, diags := range s.all(ctx) {
			if !yield(t, diags) {
				return
			}
		}
		for _, compiled := range s.compiled {
			if compiled != nil {
				*blocks++
			}
		}
	}
}
