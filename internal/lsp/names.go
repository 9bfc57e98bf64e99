package lsp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// declaration is a name that a value has, or a transfer, and where it is given.
type declaration struct {
	root, name string // such as var and period, data and csv.payroll, transfer and internal.rent
	source     *source
	start      int                  // of the piece that it stands in
	block      *hclsyntax.Block     // its places are in the piece
	attribute  *hclsyntax.Attribute // of a local; nil elsewhere
	label      hcl.Range            // of the last part of the name, in the piece
}

func (d declaration) about() string { return filepath.Base(d.source.path) }

// place is the range of a piece's tree in its text.
func (d declaration) place(r hcl.Range) (from, to int) {
	return d.start + r.Start.Byte, d.start + r.End.Byte
}

func isNative(path string) bool { return strings.HasSuffix(path, ".hcl") }

// namesIn are what sources declare, in declaration order.
func namesIn(sources []source) []declaration {
	var all []declaration
	for i := range sources {
		for _, c := range sources[i].outline.chunks {
			for _, b := range c.tree.body.Blocks {
				all = append(all, declared(&sources[i], c.start, b)...)
			}
		}
	}
	return all
}

// labelsIn are what sources declare, and their limits and policies, which no expression names.
func labelsIn(sources []source) []declaration {
	all := namesIn(sources)
	for i := range sources {
		for _, c := range sources[i].outline.chunks {
			for _, b := range c.tree.body.Blocks {
				if (b.Type == "limit" || b.Type == "policy") && len(b.Labels) == 1 && len(b.LabelRanges) == 1 {
					all = append(all, declaration{root: b.Type, name: b.Labels[0], source: &sources[i], start: c.start, block: b, label: b.LabelRanges[0]})
				}
			}
		}
	}
	return all
}

// declared are the names of one block.
func declared(from *source, start int, b *hclsyntax.Block) []declaration {
	one := declaration{source: from, start: start, block: b}
	switch b.Type {
	case "locals":
		var all []declaration
		for name, a := range b.Body.Attributes {
			one := one
			one.root, one.name, one.attribute, one.label = "local", name, a, a.NameRange
			all = append(all, one)
		}
		slices.SortFunc(all, func(x, y declaration) int { return x.label.Start.Byte - y.label.Start.Byte })
		return all
	case "variable":
		one.root = "var"
	case "profile", "batch", "calendar", "schedule", "window", "data", "transfer":
		one.root = b.Type
	default:
		return nil
	}
	parts := 1
	if b.Type == "data" || b.Type == "transfer" {
		parts = 2
	}
	if len(b.Labels) < parts || len(b.LabelRanges) < parts {
		return nil
	}
	one.name, one.label = strings.Join(b.Labels[:parts], "."), b.LabelRanges[parts-1]
	return []declaration{one}
}

// addressOf is the root and the name that a reference names, and the step that is the last part of the name; "" where it names none.
func addressOf(t hcl.Traversal) (root, name string, last hcl.Traverser) {
	root = t.RootName()
	parts := 1
	switch root {
	case "data", "transfer":
		parts = 2
	case "var", "local", "profile", "batch", "calendar", "schedule", "window":
	default:
		return root, "", nil
	}
	if len(t) <= parts {
		return root, "", nil
	}
	var names []string
	for _, step := range t[1 : parts+1] {
		text, ok := stepName(step)
		if !ok {
			return root, "", nil
		}
		names = append(names, text)
	}
	return root, strings.Join(names, "."), t[parts]
}

func stepName(step hcl.Traverser) (string, bool) {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.Name, true
	case hcl.TraverseIndex:
		if step.Key.Type().FriendlyName() == "string" && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString(), true
		}
	}
	return "", false
}

// enclosing are the blocks that have a byte of a piece, the outermost first.
func enclosing(body *hclsyntax.Body, offset int) []*hclsyntax.Block {
	for _, b := range body.Blocks {
		if b.Body == nil {
			continue
		}
		if from, to := b.Range().Start.Byte, b.CloseBraceRange.End.Byte; offset >= from && (offset <= to || to == 0) {
			return append([]*hclsyntax.Block{b}, enclosing(b.Body, offset)...)
		}
	}
	return nil
}
