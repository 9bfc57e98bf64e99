package lsp

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// mention is a place that names a declaration.
type mention struct {
	source *source
	at     hcl.Range // of the last part of the name, in the piece
	start  int
	isKey  bool // it is written in brackets and quotation marks
}

// mentionsIn are the places of sources that name a value or a transfer.
func mentionsIn(sources []source, root, name string) []mention {
	var all []mention
	for i := range sources {
		for _, c := range sources[i].outline.chunks {
			if !strings.Contains(c.tree.text, root) {
				continue
			}
			eachTraversal(c.tree.body, func(t hcl.Traversal) {
				r, n, last := addressOf(t)
				if r != root || n != name {
					return
				}
				_, isKey := last.(hcl.TraverseIndex)
				all = append(all, mention{&sources[i], stepRange(last), c.start, isKey})
			})
		}
	}
	return all
}

// eachTraversal calls use for each reference in the values of a body.
func eachTraversal(body *hclsyntax.Body, use func(hcl.Traversal)) {
	for _, a := range body.Attributes {
		for _, t := range a.Expr.Variables() {
			use(t)
		}
	}
	for _, b := range body.Blocks {
		if b.Body != nil {
			eachTraversal(b.Body, use)
		}
	}
}
