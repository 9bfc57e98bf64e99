package config

import (
	"hash/maphash"
	"maps"
	"reflect"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
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

// environmentMemory is what is kept of one environment.
type environmentMemory struct {
	common   commonInputs
	check    uint64 // the number of the check under way
	recalled int    // how many blocks it took from here
	version  uint64 // the highest that a value has
	values   map[string]*knownValue
	rows     map[string]*keptRows  // by the address of their block
	blocks   map[string]*keptBlock // by their text
}

// commonInputs are what every transfer is made with.
type commonInputs struct {
	dir            string
	sandbox        bool
	fingerprintKey string
	assets         scales
}

func (i commonInputs) equal(other commonInputs) bool {
	return i.dir == other.dir && i.sandbox == other.sandbox && i.fingerprintKey == other.fingerprintKey && maps.Equal(i.assets, other.assets)
}

// remember begins a check with what earlier ones left.
func (c *Configuration) remember() {
	m := c.options.Memory
	if m == nil || c.options.Need != NeedAll {
		return
	}
	common := commonInputs{c.Dir, c.options.Sandbox, c.Service.FingerprintKey, maps.Clone(c.assets)}
	of := m.environments[c.options.Environment]
	if of == nil || !of.common.equal(common) {
		of = &environmentMemory{common: common, values: map[string]*knownValue{}, rows: map[string]*keptRows{}, blocks: map[string]*keptBlock{}}
		m.environments[c.options.Environment] = of
	}
	of.check++
	of.recalled = 0
	c.kept, c.versions = of, map[*eval.Node]uint64{}
}

// forget drops what a whole check did not use.
func (m *environmentMemory) forget() {
	maps.DeleteFunc(m.rows, func(_ string, k *keptRows) bool { return k.used != m.check })
	maps.DeleteFunc(m.blocks, func(_ string, k *keptBlock) bool { return k.used != m.check })
	maps.DeleteFunc(m.values, func(_ string, k *knownValue) bool { return k.used != m.check })
}

// namedValue is a value that an expression names, in one of its versions.
type namedValue struct {
	address string
	version uint64
}

// knownValue is the newest version of a value that has a name.
type knownValue struct {
	version uint64
	used    uint64 // the last check that asked for it
	state   valueState
}

// valueState is all of a node that a transfer which names it may hang on.
type valueState struct {
	value     cty.Value
	sensitive bool
	policy    bool
	book      string
	batch     batchState
}

// batchState is what a transfer has from its batch beside the value that names it. Its zero value is of no batch.
type batchState struct {
	notBefore, expires, within string
	window                     *Window
}

// versionOf is the version of a node's value; false where nothing may be kept that was made with it: it has no value, or one
// of which two can't be compared.
func (c *Configuration) versionOf(n *eval.Node) (uint64, bool) {
	if version, isKnown := c.versions[n]; isKnown {
		return version, version != 0
	}
	version := uint64(0)
	if state, ok := c.stateOf(n); ok {
		m := c.kept
		known := m.values[n.Address()]
		if known == nil || !known.state.equal(state) {
			m.version++
			known = &knownValue{version: m.version, state: state}
			m.values[n.Address()] = known
		}
		known.used, version = m.check, known.version
	}
	c.versions[n] = version
	return version, version != 0
}

func (c *Configuration) stateOf(n *eval.Node) (valueState, bool) {
	if n.Progress != eval.Known || n.Root == "data" || n.Root == "schedule" || n.Demand != nil || n.Value == cty.NilVal {
		return valueState{}, false
	}
	state := valueState{value: n.Value, sensitive: n.Sensitive, policy: n.Policy}
	if n.Book != nil {
		state.book = n.Book.Name
	}
	if n.Root != "batch" {
		return state, true
	}
	b := c.memberships.batches[n.Name]
	if b == nil || b.of != nil {
		return valueState{}, false
	}
	state.batch = batchState{notBefore: b.notBefore.String(), expires: b.expires.String(), window: b.window}
	if b.within != nil {
		state.batch.within = b.within.String()
	}
	return state, true
}

func (s valueState) equal(other valueState) bool {
	a, b := s.batch, other.batch
	windows := [2]*Window{a.window, b.window}
	a.window, b.window = nil, nil
	return s.sensitive == other.sensitive && s.policy == other.policy && s.book == other.book && a == b &&
		sameValue(s.value, other.value) && reflect.DeepEqual(windows[0], windows[1])
}

// sameValue reports whether two values are equal, marks and types included. Two windows, or two calendars, are equal where they
// are made of the same.
func sameValue(a, b cty.Value) bool {
	if a.RawEquals(b) {
		return true
	}
	ty := a.Type()
	if !ty.IsCapsuleType() || !ty.Equals(b.Type()) || a.IsMarked() || b.IsMarked() || a.IsNull() || b.IsNull() || !a.IsKnown() || !b.IsKnown() {
		return false
	}
	return reflect.DeepEqual(a.EncapsulatedValue(), b.EncapsulatedValue())
}

// valuesOf are the versions of nodes, in their order; false where one of them has none.
func (c *Configuration) valuesOf(all []namedValue, nodes []*eval.Node) ([]namedValue, bool) {
	for _, n := range nodes {
		version, ok := c.versionOf(n)
		if !ok {
			return nil, false
		}
		all = append(all, namedValue{n.Address(), version})
	}
	return all, true
}

// nodeAt is the node that an expression names so; nil for none.
func (c *Configuration) nodeAt(address string) *eval.Node {
	root, name, _ := strings.Cut(address, ".")
	return c.scope.Nodes[root][name]
}

// current reports whether the values are still those that were named.
func (c *Configuration) current(values []namedValue) bool {
	for _, v := range values {
		n := c.nodeAt(v.address)
		if n == nil {
			return false
		}
		if version, ok := c.versionOf(n); !ok || version != v.version {
			return false
		}
	}
	return true
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
