package planner

import (
	"strings"

	"remit/internal/transfer"
)

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
