package transfer

import (
	"iter"
	"maps"
	"slices"

	"github.com/shopspring/decimal"
)

// Totals are the count and the exact sum per asset of some transfers. The zero value counts
// nothing and is ready for use. A Totals is not safe for concurrent use.
type Totals struct {
	count  int
	assets map[string]Total
}

// Total is the count and the sum of one asset.
type Total struct {
	Asset string
	Count int
	Sum   decimal.Decimal
}

// Add counts one transfer.
func (t *Totals) Add(asset string, amount Amount) {
	t.add(Total{Asset: asset, Count: 1, Sum: amount.Decimal()})
}

// Remove takes back one transfer that was added.
func (t *Totals) Remove(asset string, amount Amount) {
	t.add(Total{Asset: asset, Count: -1, Sum: amount.Decimal().Neg()})
	if t.assets[asset].Count == 0 {
		delete(t.assets, asset)
	}
}

// Merge counts all that other counts.
func (t *Totals) Merge(other Totals) {
	for total := range other.All() {
		t.add(total)
	}
}

func (t *Totals) add(more Total) {
	if t.assets == nil {
		t.assets = make(map[string]Total)
	}
	total := t.assets[more.Asset]
	t.assets[more.Asset] = Total{more.Asset, total.Count + more.Count, total.Sum.Add(more.Sum)}
	t.count += more.Count
}

// Count is how many transfers were added.
func (t Totals) Count() int { return t.count }

// Sum is the exact sum of one asset; 0 where there is none.
func (t Totals) Sum(asset string) decimal.Decimal { return t.assets[asset].Sum }

// All yields a total per asset, in the order of their codes.
func (t Totals) All() iter.Seq[Total] {
	return func(yield func(Total) bool) {
		for _, asset := range slices.Sorted(maps.Keys(t.assets)) {
			if !yield(t.assets[asset]) {
				return
			}
		}
	}
}
