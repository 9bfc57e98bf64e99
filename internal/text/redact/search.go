package redact

import (
	"bytes"
	"hash/maphash"
)

const (
	// escapesMax is how many times in a row escapes are taken off.
	escapesMax = 6
	// packedMax is how many times in a row base64 or hexadecimal digits are unpacked.
	packedMax = 3
	// runMin is how many characters base64 needs for a secret of LengthMin bytes.
	runMin = (LengthMin*4 + 2) / 3
	// undecidedMin is how long a run that is packed too often has to be to count as one.
	undecidedMin = 2 * runMin

	workPerByte = 256
	workMin     = 1 << 20
)

// span is a part of a text, without its end.
type span struct{ from, to int }

// layer is a text, or what a part of one encodes.
type layer struct {
	bytes   []byte
	tracked bool   // the place of a secret matters, not only its presence
	at      []span // the place of each byte in the first text; nil for its own
}

func (l layer) source(from, to int) span {
	if l.at == nil {
		return span{from, to}
	}
	return span{l.at[from].from, l.at[to-1].to}
}

// fold is l with the lines joined, as base64 and headers are broken into lines.
func (l layer) fold() layer {
	whole := bytes.TrimRight(l.bytes, "\r\n")
	if bytes.IndexByte(whole, '\n') < 0 && bytes.IndexByte(whole, '\r') < 0 {
		l.bytes = whole // as many a service ends its answer with a line break, nothing is copied for that
		return l
	}
	out := layer{tracked: l.tracked, bytes: make([]byte, 0, len(l.bytes))}
	isBreak := false // '+' is the space of a form
	for i, b := range l.bytes {
		isBreak = b == '\n' || b == '\r' || isBreak && (b == ' ' || b == '\t' || b == '+')
		if !isBreak {
			out.take(l, i, b)
		}
	}
	return out
}

// take appends a byte that stands for one of another layer.
func (l *layer) take(of layer, i int, b byte) {
	l.bytes = append(l.bytes, b)
	if l.tracked {
		l.at = append(l.at, of.source(i, i+1))
	}
}

// search is one search through a text and what it encodes.
type search struct {
	*needles
	work    int               // bytes that may still be looked at
	scratch [packedMax][]byte // unpacked texts, by how often each may be unpacked again
}

func (n *needles) search(b []byte) *search {
	return &search{needles: n, work: workMin + workPerByte*len(b)}
}

// holds reports whether b has a secret, or may have one.
func (n *needles) holds(b []byte) bool {
	return len(n.search(b).through(layer{bytes: b}, packedMax)) > 0
}

// find returns the parts of b that hold a secret, or may hold one.
func (n *needles) find(b []byte) []span {
	s := n.search(b)
	found := s.through(layer{bytes: b, tracked: true}, packedMax)
	if s.work < 0 {
		return []span{{0, len(b)}}
	}
	return found
}

// through looks through a text, and through what it encodes. Of one that isn't tracked, the first
// secret is all that is found.
func (s *search) through(l layer, packed int) []span {
	return (&text{search: s, packed: packed}).through(l, escapesMax)
}

// text is the search through one text whose escapes are taken off.
type text struct {
	*search
	packed int // how often parts may still be unpacked
	seed   maphash.Seed
	seen   map[uint64]struct{} // layers that were looked through
}

func (t *text) through(l layer, escapes int) []span {
	if t.work -= len(l.bytes); t.work < 0 {
		return []span{{0, len(l.bytes)}}
	}
	found := t.literal(l)
	if folded := l.fold(); len(folded.bytes) < len(l.bytes) && !l.isEnough(found) {
		if t.isFolded {
			found = append(found, t.inside(l, escapes)...)
		}
		l = folded
		found = append(found, t.literal(l)...)
	}
	if l.isEnough(found) {
		return found
	}
	return append(found, t.inside(l, escapes)...)
}

// inside looks through what l encodes.
func (t *text) inside(l layer, escapes int) []span {
	found := t.runs(l, t.packed)
	for _, of := range kinds {
		if l.isEnough(found) {
			return found
		}
		next, isOther := l.unescape(of)
		switch {
		case !isOther:
		case escapes == 0:
			found = append(found, l.undecided(of.first)...)
		case t.isNew(next):
			found = append(found, t.through(next, escapes-1)...)
		}
	}
	return found
}

// isEnough reports whether no further secret of l matters.
func (l layer) isEnough(found []span) bool { return !l.tracked && len(found) > 0 }

// isNew reports whether a layer was not looked through yet: escapes of several kinds can be taken
// off in any order.
func (t *text) isNew(l layer) bool {
	if t.seen == nil {
		t.seed, t.seen = maphash.MakeSeed(), make(map[uint64]struct{})
	}
	sum := maphash.Bytes(t.seed, l.bytes)
	_, isKnown := t.seen[sum]
	t.seen[sum] = struct{}{}
	return !isKnown
}

func (s *search) literal(l layer) []span {
	if !s.mayHold(l.bytes) {
		return nil
	}
	var found []span
	for _, text := range s.texts {
		for from := 0; ; {
			i := bytes.Index(l.bytes[from:], text)
			if i < 0 {
				break
			}
			found = append(found, l.source(from+i, from+i+len(text)))
			if !l.tracked {
				return found
			}
			from += i + 1
		}
	}
	return found
}

// undecided are the words of l with something that is still encoded.
func (l layer) undecided(first byte) []span {
	var found []span
	isEnd := func(b byte) bool { return b <= ' ' || b == '"' }
	for i := 0; i < len(l.bytes); i++ {
		if l.bytes[i] != first {
			continue
		}
		from, to := i, i
		for from > 0 && !isEnd(l.bytes[from-1]) {
			from--
		}
		for to < len(l.bytes) && !isEnd(l.bytes[to]) {
			to++
		}
		found = append(found, l.source(from, max(to, i+1)))
		i = max(to, i)
	}
	return found
}
