package config

import (
	"hash/maphash"
	"math"
	"math/bits"
)

const (
	seenShards   = 64 // that grow one by one, so that no growth copies all
	seenSlotsMin = 16
)

// seen are texts and where each was first, in 20 to 30 bytes a text however long it is. It
// has 96 bits of a hash in place of the text. A text that was seen is always found. That two
// different texts pass for one has, among a million, a probability of 10^-17; it would be a
// mistake that stops a plan and never a transfer that is lost or made twice. The hash has a
// seed of this process, so that nobody can write files that make it likely.
type seen struct {
	seeds  [2]maphash.Seed
	sorted sortedTexts // all texts, as long as they come in order
	shards [seenShards]seenShard
}

// seenShard is a table with open addressing, four fifths full at most.
type seenShard struct {
	slots []seenSlot
	count int
}

// seenSlot is free where its number is 0.
type seenSlot struct {
	high   uint64
	low    uint32
	number uint32
}

func newSeen() *seen {
	return &seen{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// add notes that text is at number, which is not 0. Where it was added before, add returns the
// number of that place and false, and notes nothing.
func (s *seen) add(text string, number uint32) (first uint32, isNew bool) {
	slot := s.slotOf(text, number)
	if s.sorted.add(text, slot) {
		return number, true
	}
	return s.addSlot(slot)
}

// slotOf is what s has in the place of a text.
func (s *seen) slotOf(text string, number uint32) seenSlot {
	return seenSlot{high: maphash.String(s.seeds[0], text), low: uint32(maphash.String(s.seeds[1], text)), number: number}
}

// has reports whether the text of a slot was added.
func (s *seen) has(slot seenSlot) bool {
	s.index()
	shard := &s.shards[slot.high%seenShards]
	return shard.count > 0 && shard.find(slot).number != 0
}

func (s *seen) addSlot(slot seenSlot) (first uint32, isNew bool) {
	s.index()
	return s.put(slot)
}

// index moves the texts that came in order into the shards. Later ones go there at once.
func (s *seen) index() {
	if s.sorted.ended {
		return
	}
	s.sorted.ended = true
	for i, chunk := range s.sorted.chunks {
		for _, slot := range chunk {
			s.put(slot)
		}
		s.sorted.chunks[i] = nil
	}
	s.sorted.chunks = nil
}

// put notes a slot in its shard. Where the shard has its text, put returns the number of that place and false.
func (s *seen) put(slot seenSlot) (first uint32, isNew bool) {
	shard := &s.shards[slot.high%seenShards]
	if shard.count*5 >= len(shard.slots)*4 {
		shard.grow()
	}
	found := shard.find(slot)
	if found.number != 0 {
		return found.number, false
	}
	*found = slot
	shard.count++
	return slot.number, true
}

// find returns the number of the place where text was first; 0 where it was not.
func (s *seen) find(text string) uint32 {
	if s.sorted.lacks(text) {
		return 0
	}
	s.index()
	high := maphash.String(s.seeds[0], text)
	shard := &s.shards[high%seenShards]
	if len(shard.slots) == 0 {
		return 0
	}
	return shard.find(seenSlot{high: high, low: uint32(maphash.String(s.seeds[1], text))}).number
}

// find returns the slot that has the hash of like, or the free one where it belongs.
func (s *seenShard) find(like seenSlot) *seenSlot {
	at, _ := bits.Mul64(like.high, uint64(len(s.slots)))
	for i := int(at); ; i++ {
		if i == len(s.slots) {
			i = 0
		}
		slot := &s.slots[i]
		if slot.number == 0 || slot.high == like.high && slot.low == like.low {
			return slot
		}
	}
}

func (s *seenShard) grow() {
	old := s.slots
	s.slots = make([]seenSlot, max(seenSlotsMin, len(old)+len(old)/2))
	for _, slot := range old {
		if slot.number != 0 {
			*s.find(slot) = slot
		}
	}
}

// places gives places numbers of four bytes, from 1, in the order in which they come.
type places struct {
	runs []run
	last uint32 // the highest number so far
}

// run are places of one file, or of one sheet of it, one after the other. The number of a line is base and the
// line.
type run struct {
	file, sheet string
	base        uint32
}

// number returns the number of p. After four billion lines all places have the last number.
func (l *places) number(p Place) uint32 {
	n := len(l.runs)
	if n == 0 || l.runs[n-1].file != p.File || l.runs[n-1].sheet != p.Sheet {
		l.runs = append(l.runs, run{p.File, p.Sheet, l.last})
		n++
	}
	number := uint32(min(uint64(l.runs[n-1].base)+uint64(max(p.Line, 1)), math.MaxUint32))
	l.last = max(l.last, number)
	return number
}

// place returns the place with the number.
func (l *places) place(number uint32) Place {
	i := len(l.runs) - 1
	for l.runs[i].base >= number {
		i--
	}
	return Place{File: l.runs[i].file, Sheet: l.runs[i].sheet, Line: int(number - l.runs[i].base)}
}
