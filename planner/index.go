package planner

import (
	"hash/maphash"
	"math/bits"
)

// index finds one of many numbered things by its ref_id. It keeps a part of a hash and the
// number; the thing itself has the text. The zero value is not ready for use.
type index struct {
	seed  maphash.Seed
	slots []slot // a power of two, at most three quarters of them used
	used  int
}

// slot holds a number plus one; 0 where it is free.
type slot struct{ hash, number uint32 }

const slotsFirst = 64

// newIndex makes an index with room for so many ref_ids.
func newIndex(room int) *index {
	return &index{seed: maphash.MakeSeed(), slots: make([]slot, max(slotsFirst, 1<<bits.Len(uint(room+room/3))))}
}

func (x *index) hash(refID string) uint32 { return uint32(maphash.String(x.seed, refID)) }

// find returns the number under which a ref_id was added; is says whether a number is it.
func (x *index) find(refID string, is func(number int) bool) (int, bool) {
	hash := x.hash(refID)
	mask := len(x.slots) - 1
	for i := int(hash) & mask; x.slots[i].number != 0; i = (i + 1) & mask {
		if s := x.slots[i]; s.hash == hash && is(int(s.number-1)) {
			return int(s.number - 1), true
		}
	}
	return 0, false
}

// add adds a ref_id that is not there yet.
func (x *index) add(refID string, number int) {
	if 4*x.used >= 3*len(x.slots) {
		old := x.slots
		x.slots = make([]slot, 2*len(old))
		for _, s := range old {
			if s.number != 0 {
				x.put(s)
			}
		}
	}
	x.put(slot{x.hash(refID), uint32(number + 1)})
	x.used++
}

func (x *index) put(s slot) {
	mask := len(x.slots) - 1
	i := int(s.hash) & mask
	for x.slots[i].number != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = s
}

// Find returns a function that finds the number of a change by its ref_id. It is about the
// changes that the list has now.
func (l *Changes) Find() func(refID string) (number int, ok bool) {
	x := newIndex(l.Len())
	for i, c := range l.All() {
		x.add(c.RefID, i)
	}
	return func(refID string) (int, bool) {
		return x.find(refID, func(n int) bool { return l.At(n).RefID == refID })
	}
}
