package arena

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
)

// Map is a map of texts to bytes, without a pointer to any of them. Its memory never shrinks.
type Map struct {
	hash    func(key string) uint64
	first   map[uint64]Place // by the hash of a key, the first entry of those that have it
	entries Arena
	count   int
}

// NewMap returns an empty one.
func NewMap() *Map {
	seed := maphash.MakeSeed()
	return &Map{hash: func(key string) uint64 { return maphash.String(seed, key) }, first: make(map[uint64]Place)}
}

// entry is the place of the next entry of the same hash, 0 for none; how long its key and its value are;
// both; and room for a longer value.
type entry []byte

// Where the parts of an entry begin. The value follows the key.
const (
	entryNext      = 0
	entryKeySize   = 8
	entryValueSize = 12
	entryKey       = 16
)

func (e entry) next() Place     { return Place(binary.LittleEndian.Uint64(e[entryNext:])) }
func (e entry) link(next Place) { binary.LittleEndian.PutUint64(e[entryNext:], uint64(next)) }

func (e entry) key() []byte { return e[entryKey:][:binary.LittleEndian.Uint32(e[entryKeySize:])] }

// room is where the value is, and all that may hold a longer one.
func (e entry) room() []byte { return e[entryKey+len(e.key()):] }

func (e entry) value() []byte {
	size := binary.LittleEndian.Uint32(e[entryValueSize:])
	return e.room()[:size:size]
}

// set reports whether there is room for value.
func (e entry) set(value []byte) bool {
	if len(value) > len(e.room()) {
		return false
	}
	copy(e.room(), value)
	binary.LittleEndian.PutUint32(e[entryValueSize:], uint32(len(value)))
	return true
}

// find returns the entry of a key, nil where there is none, and that before it of the same hash, nil for
// the first.
func (m *Map) find(key string) (found, before entry, hash uint64) {
	hash = m.hash(key)
	for at := m.first[hash]; at != 0; at = found.next() {
		if found = m.entries.At(at); string(found.key()) == key {
			return found, before, hash
		}
		before = found
	}
	return nil, nil, hash
}

// Len is how many keys there are.
func (m *Map) Len() int { return m.count }

// Get returns the value of a key, which stays so until the next Put. It is not to be changed.
func (m *Map) Get(key string) (value []byte, ok bool) {
	e, _, _ := m.find(key)
	if e == nil {
		return nil, false
	}
	return e.value(), true
}

// Put gives a key a value. A value that does not fit where the one before it was moves with its key to new
// memory, as that of a new key, with growth bytes to spare; the old memory stays unused.
func (m *Map) Put(key string, value []byte, growth int) {
	e, before, hash := m.find(key)
	if e != nil {
		if e.set(value) {
			return
		}
		m.unlink(e, before, hash)
	}
	at, bytes := m.entries.Make(entryKey + len(key) + len(value) + growth)
	e = bytes
	binary.LittleEndian.PutUint32(e[entryKeySize:], uint32(len(key)))
	copy(e[entryKey:], key)
	if !e.set(value) {
		panic("an entry without room for its value")
	}
	e.link(m.first[hash])
	m.first[hash] = at
	m.count++
}

// Delete forgets a key. Its memory stays unused.
func (m *Map) Delete(key string) {
	if e, before, hash := m.find(key); e != nil {
		m.unlink(e, before, hash)
	}
}

func (m *Map) unlink(e, before entry, hash uint64) {
	m.count--
	switch next := e.next(); {
	case before != nil:
		before.link(next)
	case next != 0:
		m.first[hash] = next
	default:
		delete(m.first, hash)
	}
}

// Keys yields every key, in no order. Meanwhile nothing may be put, and no other key than the one that was
// yielded last be deleted.
func (m *Map) Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, at := range m.first {
			for at != 0 {
				e := entry(m.entries.At(at))
				if !yield(string(e.key())) {
					return
				}
				at = e.next()
			}
		}
	}
}
