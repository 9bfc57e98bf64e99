package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/books"
	"remit/internal/transfer"
)

// tallies are the payments to each of many, by its key: some 150 bytes for one that was paid
// in one bucket.
type tallies map[string][]cell

// cell is the payments of one bucket.
type cell struct {
	bucket int
	sum    transfer.Sum
}

func (t tallies) add(key string, bucket int, amount decimal.Decimal) {
	cells, known := t[key]
	if !known {
		key = strings.Clone(key) // it may be a part of a whole request
	}
	at, found := slices.BinarySearchFunc(cells, bucket, func(c cell, bucket int) int { return cmp.Compare(c.bucket, bucket) })
	if !found {
		cells = slices.Insert(cells, at, cell{bucket: bucket})
		t[key] = cells
	}
	cells[at].sum.AddExact(amount)
}

// keyOf is a destination as the key of a tally.
func keyOf(e *books.Entry) string {
	return e.To + "\x00" + e.ToIdentityID + "\x00" + e.ToAccountID
}

func partyRow(key string) Subtotal {
	parts := strings.SplitN(key, "\x00", 3)
	return Subtotal{Name: parts[0], Party: Party{parts[0], parts[1], parts[2]}}
}

func batchRow(key string) Subtotal { return Subtotal{Name: key} }

// largest are the keys with the largest sums, the largest first, at most [TopMax].
func (t tallies) largest() []string {
	type sized struct {
		key string
		sum decimal.Decimal
	}
	var list []sized
	for key, cells := range t {
		next := sized{key: key}
		for _, c := range cells {
			next.sum = next.sum.Add(c.sum.Decimal())
		}
		at, _ := slices.BinarySearchFunc(list, next, func(a, b sized) int {
			return cmp.Or(b.sum.Cmp(a.sum), cmp.Compare(a.key, b.key))
		})
		if at < TopMax {
			list = slices.Insert(list, at, next)
			list = list[:min(len(list), TopMax)]
		}
	}
	keys := make([]string, len(list))
	for i := range list {
		keys[i] = list[i].key
	}
	return keys
}

// top are the largest rows, and one for the rest: what the asset was paid less these.
func (a *asset) top(t tallies, rowOf func(key string) Subtotal) []Subtotal {
	rest := Subtotal{Others: len(t) - TopMax, Sum: a.OfStanding(Paid), Buckets: make(map[int]Sum)}
	for bucket, s := range a.Buckets {
		rest.Buckets[bucket] = s
	}
	var named []Subtotal
	for _, key := range t.largest() {
		row := rowOf(key)
		row.Buckets = make(map[int]Sum, len(t[key]))
		for _, c := range t[key] {
			s := Sum{Count: c.sum.Count(), Sum: c.sum.Decimal()}
			row.Buckets[c.bucket] = s
			row.Sum = row.plus(s)
			rest.Sum = rest.minus(s)
			rest.Buckets[c.bucket] = rest.Buckets[c.bucket].minus(s)
		}
		named = append(named, row)
	}
	if rest.Others <= 0 {
		return named
	}
	for bucket, s := range rest.Buckets {
		if s.Count == 0 {
			delete(rest.Buckets, bucket)
		}
	}
	return append(named, rest)
}

func (s Sum) plusOne(amount decimal.Decimal) Sum { return Sum{s.Count + 1, s.Sum.Add(amount)} }

func (s Sum) plus(other Sum) Sum { return Sum{s.Count + other.Count, s.Sum.Add(other.Sum)} }

func (s Sum) minus(other Sum) Sum { return Sum{s.Count - other.Count, s.Sum.Sub(other.Sum)} }
