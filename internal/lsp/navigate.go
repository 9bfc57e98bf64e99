package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config"
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

// target is the declaration that a place names, or in which it stands.
func (s *server) target(d *document, offset int) (declaration, pointed, bool) {
	at := pointedAt(s.outline(d), offset)
	names := s.names(d)
	if at.traversal != nil {
		root, name, _ := addressOf(at.traversal)
		for _, n := range names {
			if n.root == root && n.name == name {
				return n, at, true
			}
		}
		return declaration{}, at, false
	}
	for _, n := range names {
		if n.source.path != d.path {
			continue
		}
		from, to := n.place(n.label)
		if offset >= from && offset <= to {
			return n, at, true
		}
	}
	return declaration{}, at, false
}

func (s *server) locationOf(from *source, start, end int) location {
	return location{s.uriOf(from.path), newDocument("", 0, from.outline.text).span(start, end)}
}

func (s *server) definition(ctx context.Context, p *placeParams) (any, error) {
	d := s.document(p.TextDocument.URI)
	if d == nil || !isNative(d.path) || !s.isActive(d.path) {
		return nil, nil
	}
	found, at, ok := s.target(d, d.offset(p.Position))
	if ok {
		from, to := found.place(found.label)
		return []location{s.locationOf(found.source, from, to)}, nil
	}
	switch {
	case at.traversal != nil:
		if l, ok := s.columnPlace(d, at); ok {
			return []location{l}, nil
		}
	case at.text != "":
		if l, ok := s.placeOfText(ctx, d, at); ok {
			return []location{l}, nil
		}
	}
	return nil, nil
}

// columnPlace is the header of a data file for each.value.NAME and row.NAME.
func (s *server) columnPlace(d *document, at pointed) (location, bool) {
	snapshot, directory := s.snapshotOf(d.path)
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
	return s.textPlace(inDirectory(directory, snapshot.data[address].File), column, 0)
}

// textPlace is where a text stands in a data file, from a line on: the line where the text is not found.
func (s *server) textPlace(path, text string, line int) (location, bool) {
	folder := s.folderOf(path)
	if folder == "" || strings.EqualFold(filepath.Ext(path), ".xlsx") {
		return location{}, false
	}
	d := s.document(uriOf(path))
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
func (s *server) placeOfText(ctx context.Context, d *document, at pointed) (location, bool) {
	snapshot, directory := s.snapshotOf(d.path)
	if snapshot == nil {
		return location{}, false
	}
	if at.attribute.Name == "file" && filepath.IsLocal(at.text) {
		path := inDirectory(directory, at.text)
		if s.folderOf(path) == "" {
			return location{}, false
		}
		return location{s.uriOf(path), span{}}, true
	}
	if !slices.Contains([]string{"reverses", "accept_duplicate_of", "ref_id"}, at.attribute.Name) {
		return location{}, false
	}
	var place config.Place
	snapshot.with(func(c *config.Configuration) {
		if !s.hasErrors(snapshot) {
			place, _ = config.DeclaredAt(ctx, c, at.text)
		}
	})
	if place.File == "" {
		return location{}, false
	}
	return s.textPlace(inDirectory(directory, place.File), "", place.Line-1)
}

func (s *server) hasErrors(of *snapshot) bool { return of.checked[0].Diagnostics.HasErrors() }

type referenceParams struct {
	placeParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

func (s *server) references(_ context.Context, p *referenceParams) (any, error) {
	d := s.document(p.TextDocument.URI)
	if d == nil || !isNative(d.path) || !s.isActive(d.path) {
		return nil, nil
	}
	found, _, ok := s.target(d, d.offset(p.Position))
	if !ok {
		return []location{}, nil
	}
	all := []location{}
	if p.Context.IncludeDeclaration {
		from, to := found.place(found.label)
		all = append(all, s.locationOf(found.source, from, to))
	}
	for _, m := range mentionsIn(s.sources(d.path), found.root, found.name) {
		all = append(all, s.locationOf(m.source, m.start+m.at.Start.Byte, m.start+m.at.End.Byte))
	}
	return all, nil
}

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

func (s *server) documentSymbol(_ context.Context, p *documentParams) (any, error) {
	all := []symbol{}
	d := s.document(p.TextDocument.URI)
	if d == nil || !isNative(d.path) || !s.isActive(d.path) {
		return all, nil
	}
	snapshot, _ := s.snapshotOf(d.path)
	for _, c := range s.outline(d).chunks {
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

func (s *server) formatting(_ context.Context, p *documentParams) (any, error) {
	d := s.document(p.TextDocument.URI)
	if d == nil || d.path == "" || !isNative(d.path) || !s.isActive(d.path) {
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
