package config

// sortedTexts are the slots of texts that came in ascending order, the shorter one first of two: no text was there
// before, and none has to be looked for, which costs a miss of the processor's cache for each of a million. Most
// files are sorted by their key.
type sortedTexts struct {
	first, last []byte
	chunks      [][]seenSlot // so that no growth copies all
	ended       bool         // a text came out of order, or is looked for: the shards have all
}

// chunkSlots is how many slots a chunk has at most.
const chunkSlots = 4096

// add takes a text in that follows on all others, and reports whether it does.
func (s *sortedTexts) add(text string, slot seenSlot) bool {
	if s.ended || len(s.chunks) > 0 && !isBehind(text, s.last) {
		return false
	}
	n := len(s.chunks)
	if n == 0 {
		s.first = append(s.first, text...)
	}
	if n == 0 || len(s.chunks[n-1]) == cap(s.chunks[n-1]) {
		size := seenSlotsMin
		if n > 0 {
			size = min(chunkSlots, 2*cap(s.chunks[n-1]))
		}
		s.chunks = append(s.chunks, make([]seenSlot, 0, size))
		n++
	}
	s.last = append(s.last[:0], text...)
	s.chunks[n-1] = append(s.chunks[n-1], slot)
	return true
}

// lacks reports whether a text is before or behind all.
func (s *sortedTexts) lacks(text string) bool {
	return !s.ended && (len(s.chunks) == 0 || isBehind(text, s.last) || text != string(s.first) && !isBehind(text, s.first))
}

// isBehind reports whether a text follows another in the order of length, then of bytes.
func isBehind(text string, other []byte) bool {
	if len(text) != len(other) {
		return len(text) > len(other)
	}
	return text > string(other)
}
