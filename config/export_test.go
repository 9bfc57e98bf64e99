package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"strings"
	"time"
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

// Find is its find.
func (s Seen) Find(text string) uint32 { return s.find(text) }

// IsSorted reports whether all texts came in order, and no one was looked for among them.
func (s Seen) IsSorted() bool { return !s.sorted.ended }

// Size is how many bytes its tables have.
func (s Seen) Size() int {
	slots := 0
	for i := range s.shards {
		slots += len(s.shards[i].slots)
	}
	for _, chunk := range s.sorted.chunks {
		slots += cap(chunk)
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

// Kept is how many blocks a memory has, and Recalled how many of them the last check took from it.
func Kept(m *Memory) (kept int) {
	for _, e := range m.environments {
		kept += len(e.rows) + len(e.blocks)
	}
	return kept
}

// Recalled is how many blocks the last check took from a memory.
func Recalled(m *Memory) (recalled int) {
	for _, e := range m.environments {
		recalled += e.recalled
	}
	return recalled
}

// NoteDue counts when a transfer is due, and Dues are all such times.
func NoteDue(f *BlockFacts, due time.Time) {
	if n := len(f.due); !due.IsZero() && (n == 0 || !f.due[n-1].Equal(due)) {
		f.due = append(f.due, due)
	}
}

// Dues are the times at which transfers of a block are due.
func Dues(f *BlockFacts) []time.Time { return f.due }

// Spoils are the ways to make a memory keep too little.
func Spoils() []string {
	return []string{
		"the file", "the text of rows", "the text of data", "values of rows", "ref_ids of rows", "assets of rows", "places of blocks", "values of blocks", "batch of blocks",
		"what is common", "pieces",
	}
}

// Spoil has a memory take the inputs of what it keeps for those of the next check, of which it gets the texts of files, or forget a part of it.
func Spoil(m *Memory, how string, texts map[string]string) {
	if how == "pieces" {
		for text := range strings.SplitAfterSeq(texts["blocks.hcl"], "\n}\n") {
			if strings.Contains(text, "a =\n") {
				m.pieces.Keep([]byte(strings.TrimLeft(text, "\n")))
			}
		}
	}
	for _, e := range m.environments {
		for address, made := range e.rows {
			k := made.(*keptRows)
			switch how {
			case "the file":
				k.inputs.file = sha256.Sum256([]byte(texts["staff.csv"]))
			case "the text of rows":
				k.inputs.block = blockIn(texts["main.hcl"], fmt.Sprintf("transfer %q %q {", "internal", strings.TrimPrefix(address, "transfer.internal.")))
			case "the text of data":
				k.inputs.data = blockIn(texts["main.hcl"], `data "csv" "staff" {`)
			case "ref_ids of rows":
				k.refIDs = nil
			case "assets of rows":
				k.assets = nil
			case "values of rows":
				for i, v := range k.inputs.values {
					if v.address == "local.prefix" {
						k.inputs.values[i].version = e.version + 1
					}
				}
			}
		}
		for _, made := range e.blocks {
			k := made.(*keptBlock)
			switch how {
			case "places of blocks":
				k.at.Start.Line++
			case "values of blocks":
				k.values = nil
			case "batch of blocks":
				k.batch = ""
			}
		}
		if how == "what is common" && strings.Contains(texts["main.hcl"], "fingerprint_key") {
			e.common.fingerprintKey = "note"
		}
	}
}

// blockIn is the text of a block that begins so.
func blockIn(text, header string) string {
	from := strings.Index(text, header)
	if from < 0 {
		return ""
	}
	length := strings.Index(text[from:], "\n}")
	return text[from : from+length+len("\n}")]
}

// CurrenciesIn are the currencies of which a text may say one.
func CurrenciesIn(text string) []string { return currenciesIn(text) }

// UnclearBeside is the first word beside numbers that may say another thing than a currency.
func UnclearBeside(text string) string { return unclearBeside(text) }

// BlockNames are those that a file of JSON is searched for, and those of the language.
func BlockNames() (searched, known []string) {
	for _, kind := range blockKinds() {
		known = append(known, kind.Name)
	}
	return blockNames, known
}
