package lsp

import (
	"context"

	"remit/config/functions"
)

type signatureHelpResult struct {
	Signatures      []signature `json:"signatures"`
	ActiveSignature int         `json:"activeSignature"`
	ActiveParameter int         `json:"activeParameter"`
}

type signature struct {
	Label         string      `json:"label"`
	Documentation markup      `json:"documentation"`
	Parameters    []parameter `json:"parameters"`
}

type parameter struct {
	Label string `json:"label"`
}

// signatures name the parameters of the function that is being written.
type signatures struct{ sources *sources }

func (h signatures) help(_ context.Context, p *placeParams) (any, error) {
	d := h.sources.native(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	at := cursorAt(h.sources.outline(d), d.offset(p.Position))
	if len(at.calls) == 0 {
		return nil, nil
	}
	inner := at.calls[len(at.calls)-1]
	f, ok := functions.Table(nil)[inner.name]
	if !ok {
		return nil, nil
	}
	one := signature{Label: signatureOf(inner.name, f), Documentation: markup{"markdown", manualOnce().functions[inner.name].functionText()}, Parameters: []parameter{}}
	for _, name := range parametersOf(f) {
		one.Parameters = append(one.Parameters, parameter{name})
	}
	return signatureHelpResult{Signatures: []signature{one}, ActiveParameter: min(inner.argument, max(len(one.Parameters)-1, 0))}, nil
}
