package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"remit/config"
)

// navigation leads from a name to where it is declared, and to where it is used.
type navigation struct{ sources *sources }

func (f navigation) definition(ctx context.Context, p *placeParams) (any, error) {
	d := f.sources.native(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	found, at, ok := f.sources.target(d, d.offset(p.Position))
	if ok {
		from, to := found.place(found.label)
		return []location{f.sources.locationOf(found.source, from, to)}, nil
	}
	switch {
	case at.traversal != nil:
		if l, ok := f.columnPlace(d, at); ok {
			return []location{l}, nil
		}
	case at.text != "":
		if l, ok := f.placeOfText(ctx, d, at); ok {
			return []location{l}, nil
		}
	}
	return nil, nil
}

// columnPlace is the header of a data file for each.value.NAME and row.NAME.
func (f navigation) columnPlace(d *document, at pointed) (location, bool) {
	snapshot, directory := f.sources.checks.snapshotOf(d.path)
	column, ok := stepName(at.traversal[len(at.traversal)-1])
	if snapshot == nil || !ok || len(at.traversal) < 2 {
		return location{}, false
	}
	outer := at.blocks[0]
	address := addressOfBlock(outer)
	if a := outer.Body.Attributes["for_each"]; a != nil && at.traversal.RootName() == "each" {
		for _, t := range a.Expr.Variables() {
			if root, name, _ := addressOf(t); root == "data" {
				address = root + "." + name
			}
		}
	}
	return f.textPlace(inDirectory(directory, snapshot.data[address].File), column, 0)
}

// textPlace is where a text stands in a data file, from a line on: the line where the text is not found.
func (f navigation) textPlace(path, text string, line int) (location, bool) {
	folder := f.sources.folders.holding(path)
	if folder == "" || strings.EqualFold(filepath.Ext(path), ".xlsx") {
		return location{}, false
	}
	d := f.sources.documents.at(uriOf(path))
	if d == nil {
		content, err := readBelow(folder, path, savedBytesMax)
		if err != nil {
			return location{}, false
		}
		d = newDocument(uriOf(path), 0, string(content))
	}
	if line >= len(d.lines) {
		return location{}, false
	}
	row := d.line(line)
	from := d.lines[line]
	if i := strings.Index(row, text); i >= 0 && text != "" {
		return location{d.uri, d.span(from+i, from+i+len(text))}, true
	}
	return location{d.uri, d.span(from, from+len(row))}, true
}

// placeOfText is the file that a text names, or the transfer that has it as its ref_id: its row, or its block.
func (f navigation) placeOfText(ctx context.Context, d *document, at pointed) (location, bool) {
	snapshot, directory := f.sources.checks.snapshotOf(d.path)
	if snapshot == nil {
		return location{}, false
	}
	if at.attribute.Name == "file" && filepath.IsLocal(at.text) {
		path := inDirectory(directory, at.text)
		if f.sources.folders.holding(path) == "" {
			return location{}, false
		}
		return location{f.sources.documents.uriOf(path), span{}}, true
	}
	if !slices.Contains([]string{"reverses", "accept_duplicate_of", "ref_id"}, at.attribute.Name) {
		return location{}, false
	}
	var place config.Place
	snapshot.with(func(c *config.Configuration) {
		if !snapshot.hasErrors() {
			place, _ = config.DeclaredAt(ctx, c, at.text)
		}
	})
	if place.File == "" {
		return location{}, false
	}
	return f.textPlace(inDirectory(directory, place.File), "", place.Line-1)
}

type referenceParams struct {
	placeParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

func (f navigation) references(_ context.Context, p *referenceParams) (any, error) {
	d := f.sources.native(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	found, _, ok := f.sources.target(d, d.offset(p.Position))
	if !ok {
		return []location{}, nil
	}
	all := []location{}
	if p.Context.IncludeDeclaration {
		from, to := found.place(found.label)
		all = append(all, f.sources.locationOf(found.source, from, to))
	}
	for _, m := range mentionsIn(f.sources.referring(d.path), found.root, found.name) {
		all = append(all, f.sources.locationOf(m.source, m.start+m.at.Start.Byte, m.start+m.at.End.Byte))
	}
	return all, nil
}
