package planner

import (
	"strings"

	"remit/internal/transfer"
)

// A state keeps twins and destinations of requests as they are spelled. What is declared is compared in
// one spelling, so that usd is a look-alike of USD, and as it is spelled in the state.

// noteSpellings notes the twins that r may have in the state besides the one of its one spelling.
func (b *builder) noteSpellings(r *transfer.Request, twin transfer.Twin) {
	if b.otherAssets == nil {
		b.otherAssets = otherSpellings(b.rows.assets)
		b.spelled = make(map[transfer.Twin]transfer.Twin)
	}
	note := func(r transfer.Request) {
		if other := r.SpelledTwin(); other != twin {
			b.spelled[other] = twin
		}
	}
	one := r.OneSpelling()
	if !one.SaysAsSpelled(r) {
		note(*r)
	}
	for _, asset := range b.otherAssets[one.Asset] {
		as := *r
		as.Asset = asset
		note(as)
		as = one
		as.Asset = asset
		note(as)
	}
}

// otherSpellings are the assets that are not in one spelling, by that.
func otherSpellings(assets []string) map[string][]string {
	others := make(map[string][]string)
	for _, asset := range assets {
		if one := transfer.AssetSpelled(asset); one != asset {
			others[one] = append(others[one], asset)
		}
	}
	return others
}

// sameAssets gives each asset the number of the first one with its spelling.
func sameAssets(assets []string) []int32 {
	first := make(map[string]int32)
	numbers := make([]int32, len(assets))
	for i, asset := range assets {
		one := transfer.AssetSpelled(strings.Clone(asset))
		if _, ok := first[one]; !ok {
			first[one] = int32(i)
		}
		numbers[i] = first[one]
	}
	return numbers
}
