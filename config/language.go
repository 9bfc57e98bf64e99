package config

import "slices"

// BlockKind is what the language has of one kind of block: what docs/language lists.
type BlockKind struct {
	Name     string
	Labels   []string // what each label says
	Required []string // arguments that the block can't be without
	Optional []string // the other arguments
	Free     bool     // arguments of any name, and no others
	Blocks   []BlockKind
}

// Language lists the blocks of this version, with their arguments and nested blocks, in the
// order of design section 4. The lists are the caller's own.
func Language() []BlockKind { return described(blockKinds()) }

func described(kinds []blockKind) []BlockKind {
	list := make([]BlockKind, len(kinds))
	for i, k := range kinds {
		list[i] = BlockKind{
			Name: k.name, Labels: slices.Clone(k.labels), Required: slices.Clone(k.required),
			Optional: slices.Clone(k.optional), Free: k.free, Blocks: described(k.nested),
		}
	}
	return list
}
