package lsp

import (
	"context"
	"strings"

	"remit/internal/text/lazyregexp"
)

var (
	remedyForm = lazyregexp.New(`(?m)^  ([a-z_]+) += (.+)$`)
	meantForm  = lazyregexp.New(`Did you mean "?([A-Za-z0-9_.-]+)"?\?`)
)

// actions offer edits.
type actions struct{ sources *sources }

// codeAction offers what a mistake says is to be written: an argument, in the place of the one that is there, or into the block; or the
// word that was meant.
func (f actions) codeAction(_ context.Context, p *actionParams) (any, error) {
	actions := []codeActionItem{}
	d := f.sources.documents.at(p.TextDocument.URI)
	if d == nil || !f.sources.checks.isActive(d.path) {
		return actions, nil
	}
	if !isNative(d.path) {
		return f.actionsOfData(d, p.Context.Diagnostics), nil
	}
	for _, told := range p.Context.Diagnostics {
		if told.Source != "remit" && told.Source != "" {
			continue
		}
		from, to := d.offset(told.Range.Start), d.offset(told.Range.End)
		var edits []textEdit
		var title string
		if remedies := remedyForm.FindAllStringSubmatch(told.Message, -1); len(remedies) > 0 {
			for _, remedy := range remedies {
				edits, title = remedied(f.sources, d, from, remedy[1], remedy[2])
				actions = appendAction(actions, d, told, title, edits)
			}
			continue
		}
		if meant := meantForm.FindStringSubmatch(told.Message); meant != nil && from < to && !strings.Contains(d.text[from:to], "\n") {
			text := meant[1]
			if strings.HasPrefix(d.text[from:to], `"`) {
				text = quoted(text)
			} else if i := strings.LastIndexByte(d.text[from:to], '.'); i >= 0 && !strings.Contains(text, ".") {
				from += i + 1 // behind the names that are right
			}
			actions = appendAction(actions, d, told, "Write "+text, []textEdit{{d.span(from, to), text}})
		}
	}
	return append(actions, rewrites(f).offered(d, p)...), nil
}

// dataBlockForm is how a mistake in a data file names the block that can leave its row out.
var dataBlockForm = lazyregexp.New(`leave it out of data\.([a-z0-9_]+\.[A-Za-z0-9_-]+)`)

// actionsOfData offers what a mistake in a data file says is to be written into the block that reads it.
func (f actions) actionsOfData(d *document, mistakes []diagnostic) []codeActionItem {
	actions := []codeActionItem{}
	for _, told := range mistakes {
		of := dataBlockForm.FindStringSubmatch(told.Message)
		if of == nil || told.Source != "remit" && told.Source != "" {
			continue
		}
		for _, remedy := range remedyForm.FindAllStringSubmatch(told.Message, -1) {
			for _, found := range namesIn(f.sources.of(d.path)) {
				if found.root != "data" || found.name != of[1] {
					continue
				}
				text := newDocument(f.sources.documents.uriOf(found.source.path), 0, found.source.outline.text)
				edits, title := remedied(f.sources, text, found.start+found.block.OpenBraceRange.End.Byte+1, remedy[1], remedy[2])
				actions = appendActionTo(actions, text.uri, told, title+" in data."+of[1], edits)
			}
		}
	}
	return actions
}
