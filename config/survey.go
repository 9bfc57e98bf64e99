package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
)

// ownKinds are the blocks that make a directory a configuration of its own. One that has none of them
// declares only what others use, such as an address book.
func ownKinds() []string { return []string{"environment", "remit", "service", "state", "transfer"} }

// IsOwn reports whether the directory is a configuration of its own: whether one of its files declares a transfer, a
// state, a service or what remit itself is to do, or can't be read, so that nobody knows. It evaluates nothing.
func IsOwn(dir string) bool {
	s, diags := openSources(dir, false, nil, nil)
	if s.root == nil {
		return true
	}
	defer func() { _ = s.root.Close() }() // only read
	return diags.HasErrors() || slices.ContainsFunc(s.parsed, sourceFile.isOwn)
}

// Includes are the directories that a configuration includes, as they are written, and whether all of them could be read.
// It evaluates nothing.
func Includes(dir string) (names []string, isKnown bool) {
	s, diags := openSources(dir, false, nil, nil)
	if s.root == nil {
		return nil, false
	}
	defer func() { _ = s.root.Close() }() // only read
	includes, more := readIncludes(s)
	for _, in := range includes {
		names = append(names, in.name)
	}
	return names, !diags.HasErrors() && !more.HasErrors()
}

// isOwn reports whether a file has one of [ownKinds].
func (s sourceFile) isOwn() bool {
	for _, p := range s.parts {
		if p.TransfersOnly || hasOwn(p.Body) {
			return true
		}
	}
	if body, isNative := s.file.Body.(*hclsyntax.Body); isNative {
		return hasOwn(body)
	}
	schema := &hcl.BodySchema{}
	for _, kind := range ownKinds() {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: kind})
	}
	content, _, diags := s.file.Body.PartialContent(schema) // of JSON, in each of its forms
	return diags.HasErrors() || len(content.Blocks) > 0
}

func hasOwn(body *hclsyntax.Body) bool {
	return slices.ContainsFunc(body.Blocks, func(b *hclsyntax.Block) bool {
		return slices.Contains(ownKinds(), b.Type) && !IsServiceOfAnother(b)
	})
}

// IsServiceOfAnother reports whether a block is a service of another program, as Consul has in its files of HCL: it has a name, and nothing that
// a service block of remit has, but for words that both know.
func IsServiceOfAnother(b *hclsyntax.Block) bool {
	ours := serviceKind()
	if b.Type != ours.Name || b.Body.Attributes["name"] == nil {
		return false
	}
	for name := range b.Body.Attributes {
		if name != "timeout" && slices.Contains(slices.Concat(ours.Required, ours.Optional), name) {
			return false
		}
	}
	return !slices.ContainsFunc(b.Body.Blocks, func(nested *hclsyntax.Block) bool {
		return slices.ContainsFunc(ours.Nested, func(kind eval.Kind) bool { return kind.Name == nested.Type })
	})
}

// PlainVariables are the variables that the files of a directory declare without the argument sensitive, so that their
// values may be shown; none where a file can't be read. It evaluates nothing.
func PlainVariables(dir string) map[string]bool {
	s, diags := openSources(dir, false, nil, nil)
	if s.root == nil {
		return nil
	}
	defer func() { _ = s.root.Close() }() // only read
	if diags.HasErrors() {
		return nil
	}
	plain := map[string]bool{}
	for body := range s.bodies() {
		content, _, diags := body.PartialContent(variableBlocks)
		if diags.HasErrors() {
			return nil
		}
		for _, b := range content.Blocks {
			own, _, diags := b.Body.PartialContent(sensitiveArgument)
			_, isTwice := plain[b.Labels[0]]
			plain[b.Labels[0]] = !diags.HasErrors() && own.Attributes["sensitive"] == nil && !isTwice
		}
	}
	return plain
}

// The parts of a file that [PlainVariables] looks for, in files of HCL and of JSON alike.
var (
	variableBlocks    = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "variable", LabelNames: []string{"name"}}}}
	sensitiveArgument = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "sensitive"}}}
)
