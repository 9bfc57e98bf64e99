package config

import (
	"hash/maphash"
	"maps"
	"sync"

	"remit/config/syntax"
)

// Memory is what the checks of one directory keep for those that follow, so that an edit costs about what it changes.
//
// Its one invariant: a check with a memory finds the diagnostics that a check without one finds, to the byte. What it keeps is
// therefore kept by everything of which it was made, and only where it had no mistake: the text of its block, the values that the
// block names, and the bytes of its file. What touches other blocks, such as a ref_id that is used twice, is checked anew each time.
//
// No command that plans or sends has one. It is for one check at a time.
type Memory struct {
	environments map[string]*environmentMemory
	pieces       knownPieces
	seeds        [2]maphash.Seed // of all ref_ids, so that their hashes can be kept
}

// NewMemory returns a memory of nothing.
func NewMemory() *Memory {
	return &Memory{
		environments: map[string]*environmentMemory{}, pieces: knownPieces{known: map[string]bool{}},
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
}

// known are the pieces that are known to be right; nil where nothing is kept.
func (m *Memory) known() syntax.Pieces {
	if m == nil {
		return nil
	}
	return &m.pieces
}

// environmentMemory keeps one environment.
type environmentMemory struct {
	common   commonInputs
	check    uint64 // the number of the check under way
	recalled int    // how many blocks it took from here
	version  uint64 // the highest that a value has
	values   map[string]*knownValue
	rows     map[string]kept // [keptRows], by the address of their block
	blocks   map[string]kept // [keptBlock], by their text
}

// kept is what one block came to.
type kept interface {
	lastUsed() uint64 // the last check that took it
}

// commonInputs are what every transfer is made with.
type commonInputs struct {
	dir            string
	sandbox        bool
	fingerprintKey string
	scales         map[string]int    // of assets
	currencies     map[string]string // that files say in their place
}

func (i commonInputs) equal(other commonInputs) bool {
	return i.dir == other.dir && i.sandbox == other.sandbox && i.fingerprintKey == other.fingerprintKey && maps.Equal(i.scales, other.scales) && maps.Equal(i.currencies, other.currencies)
}

// begin begins a check with what earlier ones left.
func (m *Memory) begin(environment string, common commonInputs) *environmentMemory {
	of := m.environments[environment]
	if of == nil || !of.common.equal(common) {
		of = &environmentMemory{common: common, values: map[string]*knownValue{}, rows: map[string]kept{}, blocks: map[string]kept{}}
		m.environments[environment] = of
	}
	of.check++
	of.recalled = 0
	return of
}

// forget drops what a whole check did not use.
func (m *environmentMemory) forget() {
	maps.DeleteFunc(m.rows, func(_ string, k kept) bool { return k.lastUsed() != m.check })
	maps.DeleteFunc(m.blocks, func(_ string, k kept) bool { return k.lastUsed() != m.check })
	maps.DeleteFunc(m.values, func(_ string, k *knownValue) bool { return k.used != m.check })
}

// knownPieces are texts of whole blocks that a parser finds nothing wrong in. Several goroutines may use them.
type knownPieces struct {
	mu    sync.Mutex
	known map[string]bool // whether the newest text that was gone through has it
}

// Knows implements [syntax.Pieces].
func (p *knownPieces) Knows(piece []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[string(piece)]
}

// Keep implements [syntax.Pieces].
func (p *knownPieces) Keep(piece []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= piecesMax {
		clear(p.known)
	}
	p.known[string(piece)] = true
}

// piecesMax bounds how many pieces are kept.
const piecesMax = 50_000
