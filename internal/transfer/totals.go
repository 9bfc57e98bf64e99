package transfer

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/shopspring/decimal"
)

// Digits writes an exact sum, with as many decimals as its most precise part was written with.
func Digits(sum decimal.Decimal) string { return sum.StringFixed(max(0, -sum.Exponent())) }

// Totals are the count and the exact sum per asset of some transfers. The zero value counts
// nothing and is ready for use. An asset is counted in one spelling ([AssetSpelled]): 1 usd and 2 USD
// are 3 USD. A Totals is not safe for concurrent use.
type Totals struct {
	count  int
	assets map[string]*runningSum
	hash   runningSum // of those that were counted with their destinations; see HashTotal
}

// Total is the count and the sum of one asset.
type Total struct {
	Asset string
	Count int
	Sum   decimal.Decimal
}

// Add counts one transfer.
func (t *Totals) Add(asset string, amount Amount) {
	t.add(asset, amount, 1)
}

// Remove takes back one transfer that was added.
func (t *Totals) Remove(asset string, amount Amount) {
	t.add(asset, amount, -1)
	if one := AssetSpelled(asset); t.assets[one].count == 0 {
		delete(t.assets, one)
	}
}

// AddTotal counts what total counts: so All of other totals is added, or was saved and is
// restored.
func (t *Totals) AddTotal(total Total) {
	sum := t.of(total.Asset)
	sum.count += total.Count
	sum.base = sum.base.Add(total.Sum)
	t.count += total.Count
}

// Merge counts all that other counts.
func (t *Totals) Merge(other Totals) {
	for total := range other.All() {
		t.AddTotal(total)
	}
	t.hash.count += other.hash.count
	t.hash.base = t.hash.base.Add(other.hash.exact())
}

// add counts one transfer; sign is 1 or -1.
func (t *Totals) add(asset string, amount Amount, sign int) {
	sum := t.of(asset)
	sum.count += sign
	t.count += sign
	if units, scale, ok := amount.units(); ok {
		sum.add(int64(sign)*units, scale)
	} else {
		sum.base = sum.base.Add(amount.Decimal().Mul(decimal.NewFromInt(int64(sign))))
	}
}

func (t *Totals) of(asset string) *runningSum {
	asset = AssetSpelled(asset)
	sum := t.assets[asset]
	if sum == nil {
		sum = new(runningSum)
		if t.assets == nil {
			t.assets = make(map[string]*runningSum)
		}
		t.assets[asset] = sum
	}
	return sum
}

// runningSum is the count and the sum of one asset, which is that of base and units. Units
// are added up without memory; base has what they can't hold.
type runningSum struct {
	count int
	base  decimal.Decimal
	units int64
	scale int // decimals of units
}

func (s *runningSum) exact() decimal.Decimal {
	return s.base.Add(decimal.New(s.units, -int32(s.scale)))
}

// add adds units of so many decimals.
func (s *runningSum) add(units int64, scale int) {
	if scale > s.scale {
		s.base, s.units, s.scale = s.exact(), 0, scale
	}
	for more := s.scale - scale; more > 0; more-- {
		if units > math.MaxInt64/10 || units < math.MinInt64/10 {
			s.base = s.base.Add(decimal.New(units, -int32(s.scale-more)))
			return
		}
		units *= 10
	}
	if sum := s.units + units; (sum < s.units) == (units < 0) {
		s.units = sum
		return
	}
	s.base, s.units = s.exact(), units
}

// SameAs reports whether two totals are the same numbers, however these are written: counts, sums, and the hash
// totals where there are any.
func (t Totals) SameAs(other Totals) bool {
	hash, hasHash := t.HashTotal()
	otherHash, otherHas := other.HashTotal()
	if t.count != other.count || hasHash != otherHas || hasHash && !hash.Equal(otherHash) {
		return false
	}
	return slices.EqualFunc(slices.Collect(t.All()), slices.Collect(other.All()), func(a, b Total) bool {
		return a.Asset == b.Asset && a.Count == b.Count && a.Sum.Equal(b.Sum)
	})
}

// Count is how many transfers were added.
func (t Totals) Count() int { return t.count }

// Sum is the exact sum of one asset; 0 where there is none.
func (t Totals) Sum(asset string) decimal.Decimal {
	if sum := t.assets[AssetSpelled(asset)]; sum != nil {
		return sum.exact()
	}
	return decimal.Decimal{}
}

// All yields a total per asset, in the order of their codes.
func (t Totals) All() iter.Seq[Total] {
	return func(yield func(Total) bool) {
		for _, asset := range slices.Sorted(maps.Keys(t.assets)) {
			sum := t.assets[asset]
			if !yield(Total{asset, sum.count, sum.exact()}) {
				return
			}
		}
	}
}
