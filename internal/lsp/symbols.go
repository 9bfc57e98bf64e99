package lsp

import (
	"context"
	"strings"
)

type symbol struct {
	Name           string `json:"name"`
	Detail         string `json:"detail,omitempty"`
	Kind           int    `json:"kind"`
	Range          span   `json:"range"`
	SelectionRange span   `json:"selectionRange"`
}

// symbolKinds are the numbers of the protocol that come nearest to what a block is.
var symbolKinds = map[string]int{"variable": 13, "locals": 13, "data": 18, "transfer": 24, "profile": 5, "batch": 4}

const symbolOther = 3

// symbols list the blocks of a document.
type symbols struct{ sources *sources }

func (f symbols) all(_ context.Context, p *documentParams) (any, error) {
	all := []symbol{}
	d := f.sources.native(p.TextDocument.URI)
	if d == nil {
		return all, nil
	}
	snapshot, _ := f.sources.checks.snapshotOf(d.path)
	for _, c := range f.sources.outline(d).chunks {
		for _, b := range c.tree.body.Blocks {
			kind, ok := symbolKinds[b.Type]
			if !ok {
				kind = symbolOther
			}
			end := max(b.CloseBraceRange.End.Byte, b.DefRange().End.Byte)
			header := b.DefRange()
			name := strings.Join(append([]string{b.Type}, b.Labels...), " ")
			one := symbol{name, "", kind, d.span(c.start+header.Start.Byte, c.start+end), d.span(c.start+header.Start.Byte, c.start+header.End.Byte)}
			if f := snapshot.factsOf(b); f != nil {
				one.Detail = summaryOf(f)
			}
			all = append(all, one)
		}
	}
	return all, nil
}
