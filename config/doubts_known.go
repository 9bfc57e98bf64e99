package config

import "github.com/hashicorp/hcl/v2"

// transferWarnings are the warnings of transfers that may be acknowledged, by the data sources of their rows. The zero value is ready for use.
type transferWarnings struct {
	of      map[*dataSource]*knownWarnings
	sources []*dataSource // in the order in which transfers are made of them
}

// others holds those of the doubts of a block that may be acknowledged, and returns the rest.
func (w *transferWarnings) others(block *transferBlock, doubts hcl.Diagnostics) hcl.Diagnostics {
	d := block.data
	if d == nil && len(block.held) > 0 {
		d = block.held[0]
	}
	if d == nil {
		return doubts
	}
	if w.of[d] == nil {
		if w.of == nil {
			w.of = map[*dataSource]*knownWarnings{}
		}
		w.of[d] = d.newKnown()
		w.sources = append(w.sources, d)
	}
	return w.of[d].take(doubts)
}

// rest are the doubts that are held and whose number nobody acknowledged, once all transfers were read. Where a mistake may hide a
// warning, none is said to be acknowledged for nothing.
func (w *transferWarnings) rest(isWhole bool) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, d := range w.sources {
		k := w.of[d]
		diags = append(diags, k.rest()...)
		if isWhole {
			diags = append(diags, k.needless(isOfTransfers)...)
		}
		d.readWarnings[2] = k.all()
	}
	return diags
}
