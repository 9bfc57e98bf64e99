package transfer

import "github.com/shopspring/decimal"

// Sum is the count and the exact sum of some amounts of one asset. The zero value counts
// nothing and is ready for use.
type Sum struct{ sum runningSum }

// Add counts one amount.
func (s *Sum) Add(amount Amount) {
	s.sum.count++
	if units, scale, ok := amount.units(); ok {
		s.sum.add(units, scale)
	} else {
		s.sum.base = s.sum.base.Add(amount.Decimal())
	}
}

// AddExact counts one amount of a record, which may be of any sign.
func (s *Sum) AddExact(amount decimal.Decimal) {
	const digitsMax = 18 // of an int64
	s.sum.count++
	if scale := -amount.Exponent(); scale >= 0 && scale <= digitsMax && amount.NumDigits() <= digitsMax {
		s.sum.add(amount.CoefficientInt64(), int(scale))
	} else {
		s.sum.base = s.sum.base.Add(amount)
	}
}

// Count is how many amounts were added.
func (s Sum) Count() int { return s.sum.count }

// Decimal is their exact sum.
func (s Sum) Decimal() decimal.Decimal { return s.sum.exact() }
