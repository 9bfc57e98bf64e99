package config

import (
	"slices"

	"remit/config/eval"
)

// BlockKind is what the language has of one kind of block: what docs/language lists.
type BlockKind struct {
	Name     string
	Labels   []string // what each label says
	Required []string // arguments that the block can't be without
	Optional []string // the other arguments
	Free     bool     // arguments of any name, and no others
	Single   bool     // there is one at most
	Blocks   []BlockKind
}

// Language lists the blocks of this version, with their arguments and nested blocks, in
// the order of [blockKinds]. The lists are the caller's own.
func Language() []BlockKind { return described(blockKinds()) }

func described(kinds []eval.Kind) []BlockKind {
	list := make([]BlockKind, len(kinds))
	for i, k := range kinds {
		list[i] = BlockKind{
			Name: k.Name, Labels: slices.Clone(k.Labels), Required: slices.Clone(k.Required),
			Optional: slices.Clone(k.Optional), Free: k.Free, Single: k.Single, Blocks: described(k.Nested),
		}
	}
	return list
}
