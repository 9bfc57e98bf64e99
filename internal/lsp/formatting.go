package lsp

import (
	"context"
	"path/filepath"
	"strings"

	"remit/config"
)

// formatting lays a document out.
type formatting struct{ sources *sources }

func (f formatting) edits(_ context.Context, p *documentParams) (any, error) {
	d := f.sources.native(p.TextDocument.URI)
	if d == nil {
		return []textEdit{}, nil
	}
	formatted, diags := config.Format([]byte(d.text), filepath.Base(d.path))
	if diags.HasErrors() || string(formatted) == d.text {
		return []textEdit{}, nil
	}
	return []textEdit{changedPart(d, string(formatted))}, nil
}

// changedPart replaces the lines between those that are the same at the beginning and at the end.
func changedPart(d *document, text string) textEdit {
	from := 0
	for from < len(d.text) && from < len(text) && d.text[from] == text[from] {
		from++
	}
	from = strings.LastIndexByte(d.text[:from], '\n') + 1
	before, after := len(d.text), len(text)
	for before > from && after > from && d.text[before-1] == text[after-1] {
		before--
		after--
	}
	for before < len(d.text) && d.text[before-1] != '\n' && before > from { // to the end of the line
		before++
		after++
	}
	return textEdit{d.span(from, before), text[from:after]}
}
