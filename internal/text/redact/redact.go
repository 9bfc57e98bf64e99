// Package redact removes secrets from the text of others, such as the answer of a service that
// repeats a request's headers.
//
// Its one invariant: what [Set.Scrub] returns has no secret of the set, neither as it is nor in
// JSON escapes, percent-encoding, HTML entities, base64 or hexadecimal digits, nor in several of
// them at once; and a text without a secret is returned byte for byte.
package redact

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// LengthMin is how many bytes a secret has at least. A shorter one, which may be a common
	// word, would shred every text.
	LengthMin = 8

	// Removed takes the place of a secret, or of a text that may be one.
	Removed = "[removed]"

	// passingMax bounds the secrets that are replaced by newer ones, such as tokens.
	passingMax = 8
)

// Set knows secrets. Its zero value knows none. It is safe for concurrent use.
type Set struct {
	mu             sync.Mutex // of those who add
	fixed, passing []string
	known          atomic.Pointer[needles]
}

// Add has a secret be removed from now on. One shorter than [LengthMin] is not looked for.
func (s *Set) Add(secret string) { s.add(&s.fixed, secret) }

// AddPassing is Add for a secret that others replace: of those, the newest 8 are looked for.
func (s *Set) AddPassing(secret string) { s.add(&s.passing, secret) }

func (s *Set) add(to *[]string, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(secret) < LengthMin || slices.Contains(*to, secret) {
		return
	}
	*to = append(*to, secret)
	s.passing = s.passing[max(len(s.passing)-passingMax, 0):]
	s.known.Store(newNeedles(slices.Concat(s.fixed, s.passing)))
}

// Scrub returns b with [Removed] in place of each secret of the set and of those in also; b
// itself where it has none. One in also that is shorter than [LengthMin] is removed where it is not
// encoded. A part that is encoded so often that nobody can tell what it holds is removed as well. A
// JSON text stays one, unless a secret is in it outside of a string.
func (s *Set) Scrub(b []byte, also ...string) []byte {
	known := s.known.Load()
	if known != nil {
		b = known.scrub(b)
	}
	if len(also) == 0 {
		return b
	}
	for _, text := range also {
		if 0 < len(text) && len(text) < LengthMin && bytes.Contains(b, []byte(text)) {
			b = bytes.ReplaceAll(b, []byte(text), []byte(Removed))
		}
	}
	return newNeedles(also).scrub(b)
}

// ScrubText is Scrub of a text.
func (s *Set) ScrubText(text string) string { return string(s.Scrub([]byte(text))) }

func (n *needles) scrub(b []byte) []byte {
	if len(n.texts) == 0 || !n.holds(b) {
		return b
	}
	return replace(b, n.find(b))
}

// replace puts [Removed] in the place of each span.
func replace(b []byte, spans []span) []byte {
	slices.SortFunc(spans, func(x, y span) int { return x.from - y.from })
	var out []byte
	end := 0
	for _, next := range spans {
		if next.from < end {
			end = max(end, next.to)
			continue
		}
		if next.from > end || end == 0 {
			out = append(out, b[end:next.from]...)
			out = append(out, Removed...)
		}
		end = next.to
	}
	return append(out, b[end:]...)
}

// needles are the forms of secrets that are looked for in a text and in all that it may encode.
type needles struct {
	texts [][]byte
	// grams are four bytes of each needle at each of its first places. One of them is at a multiple of
	// gramStep in every text that holds a needle.
	grams map[uint32]struct{}
	bits  [1024]uint64 // by the hash of a gram: most texts end here

	areText  bool // no secret has a byte that is not printed
	isFolded bool // a secret has a line break, or begins as a folded line does: joined lines may lack a part of it
}

const (
	gramLength = 4
	gramStep   = LengthMin - gramLength + 1
)

func newNeedles(secrets []string) *needles {
	n := &needles{grams: make(map[uint32]struct{}), areText: true}
	for _, secret := range secrets {
		n.isFolded = n.isFolded || strings.ContainsAny(secret, "\r\n") || strings.ContainsAny(secret[:min(len(secret), 1)], " \t+")
		n.add([]byte(secret))
		n.add([]byte(strings.ReplaceAll(secret, " ", "+"))) // as forms have it
		n.add(layer{bytes: []byte(secret)}.fold().bytes)
		// A text that encodes a secret ends, when it is decoded to its end, as the secret does.
		for _, last := range ends([]byte(secret)) {
			n.add(last)
			n.add(layer{bytes: last}.fold().bytes)
		}
	}
	return n
}

func (n *needles) add(text []byte) {
	isKnown := slices.ContainsFunc(n.texts, func(known []byte) bool { return bytes.Equal(known, text) })
	if isKnown || len(text) < LengthMin {
		return
	}
	n.texts = append(n.texts, text)
	n.areText = n.areText && !slices.ContainsFunc(text, func(b byte) bool { return !isText(b) })
	for i := range gramStep {
		gram := binary.LittleEndian.Uint32(text[i:])
		n.grams[gram] = struct{}{}
		n.bits[gramHash(gram)/64] |= 1 << (gramHash(gram) % 64)
	}
}

func gramHash(gram uint32) uint32 { return gram * 0x9E3779B1 >> 16 }

// mayHold reports whether a needle may be in b. It looks at each byte at most once.
func (n *needles) mayHold(b []byte) bool {
	for i := 0; i+gramLength <= len(b); i += gramStep {
		gram := binary.LittleEndian.Uint32(b[i:])
		h := gramHash(gram)
		if n.bits[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		if _, ok := n.grams[gram]; ok {
			return true
		}
	}
	return false
}
