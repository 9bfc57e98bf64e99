package config

import (
	"context"
	"iter"
	"unsafe"

	"github.com/hashicorp/hcl/v2"
)

// Interpreted streams c's transfers by general evaluation alone: the oracle of compiled
// blocks.
func Interpreted(ctx context.Context, c *Configuration) iter.Seq2[Transfer, hcl.Diagnostics] {
	s := newStream(c)
	for _, block := range c.transfers {
		s.compiled[block] = nil
	}
	return s.all(ctx)
}

// Compiled streams c's transfers and then says how many blocks were compiled.
func Compiled(ctx context.Context, c *Configuration, blocks *int) iter.Seq2[Transfer, hcl.Diagnostics] {
	s := newStream(c)
	return func(yield func(Transfer, hcl.Diagnostics) bool) {
		for t, diags := range s.all(ctx) {
			if !yield(t, diags) {
				return
			}
		}
		for _, compiled := range s.compiled {
			if compiled != nil {
				*blocks++
			}
		}
	}
}

// Seen is the set that finds an ID that is declared twice.
type Seen struct{ *seen }

// NewSeen makes an empty one.
func NewSeen() Seen { return Seen{newSeen()} }

// Add is its add.
func (s Seen) Add(text string, number uint32) (uint32, bool) { return s.add(text, number) }

// Size is how many bytes its tables have.
func (s Seen) Size() int {
	slots := 0
	for i := range s.shards {
		slots += len(s.shards[i].slots)
	}
	return slots * int(unsafe.Sizeof(seenSlot{}))
}

// Places are the numbers of places.
type Places struct{ places }

// Number is its number.
func (l *Places) Number(p Place) uint32 { return l.number(p) }

// Place is its place.
func (l *Places) Place(number uint32) Place { return l.place(number) }

// LoadWhole is Load that parses no file in parts.
func LoadWhole(dir string, opts Options) (*Configuration, hcl.Diagnostics) {
	opts.Getenv = func(string) string { return "" }
	c, diags, _ := load(dir, opts, true)
	return c, diags
}

// NestedBlocks are the blocks that stand in another one and nowhere else, with that one.
func NestedBlocks() map[string]string {
	homes, top := map[string]string{}, map[string]bool{}
	for _, kind := range blockKinds() {
		top[kind.Name] = true
		for _, nested := range kind.Nested {
			homes[nested.Name] = kind.Name
		}
	}
	for name := range top {
		delete(homes, name)
	}
	return homes
}
