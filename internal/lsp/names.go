package lsp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config"
	"remit/internal/files/confined"
	"remit/internal/transfer"
)

// source is a text of HCL's native syntax that a directory reads.
type source struct {
	path    string
	outline *outline
}

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

// isActive reports whether a file is one of remit: of a directory that was found to be one, or that is one.
func (s *server) isActive(path string) bool {
	if path == "" {
		return false
	}
	if s.projectOf(path) != nil {
		return true
	}
	s.mu.Lock()
	concerned := s.concerned(path)
	s.mu.Unlock()
	return slices.ContainsFunc(concerned, s.isOurs)
}

// outline is that of a document; that of its last version gives the pieces that are still the same.
func (s *server) outline(d *document) *outline { return s.outlineOf(d.path, d.text) }

func (s *server) outlineOf(path, text string) *outline {
	s.outlining.Lock() // of several who ask at once, one makes it
	defer s.outlining.Unlock()
	s.mu.Lock()
	before := s.outlines[path]
	s.mu.Unlock()
	if before != nil && before.text == text {
		return before
	}
	o := outlineOf(text, before)
	s.mu.Lock()
	s.outlines[path] = o
	s.mu.Unlock()
	return o
}

// sources are the texts of the directory of a file, in the order of their names, and of the directories that it includes. Files of JSON are not among them.
func (s *server) sources(path string) []source {
	_, directory := s.snapshotOf(path)
	if directory == "" {
		directory = filepath.Dir(path)
	}
	all := s.sourcesIn(directory)
	for _, included := range s.included(directory) {
		all = append(all, s.sourcesIn(included)...)
	}
	return all
}

// included are the directories that a directory includes, as far as the search has found them.
func (s *server) included(directory string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for included, by := range s.includers {
		if slices.Contains(by, directory) {
			all = append(all, included)
		}
	}
	slices.Sort(all)
	return all
}

func (s *server) sourcesIn(directory string) []source {
	folder := s.folderOf(directory)
	if folder == "" || !staysBelow(folder, directory) {
		return nil
	}
	at, err := confined.OpenDirectory(directory, s.unsaved())
	if err != nil {
		return nil
	}
	defer func() { _ = at.Close() }() // only read
	names, err := at.Names(".")
	if err != nil {
		return nil
	}
	var all []source
	for _, name := range names {
		if !config.IsSource(name) || !isNative(name) {
			continue
		}
		path := filepath.Join(directory, name)
		text := ""
		if d := s.document(uriOf(path)); d != nil {
			text = d.text
		} else if content, err := at.Read(name, sourceBytesMax); err == nil {
			text = string(content)
		}
		all = append(all, source{path, s.outlineOf(path, text)})
	}
	return all
}

// names are what the sources of a document's directory declare, in declaration order.
func (s *server) names(d *document) []declaration { return namesIn(s.sources(d.path)) }

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

// assets are those that the sources of a document name, and the currencies that its directory pays.
func (s *server) assets(d *document) []string {
	found := map[string]bool{}
	for _, from := range s.sources(d.path) {
		for _, c := range from.outline.chunks {
			for _, b := range c.tree.body.Blocks {
				if b.Type == "asset" && len(b.Labels) > 0 {
					found[b.Labels[0]] = true
				}
				if a := b.Body.Attributes["asset"]; a != nil {
					if v, diags := a.Expr.Value(nil); !diags.HasErrors() && v.Type().FriendlyName() == "string" && !v.IsNull() {
						found[v.AsString()] = true
					}
				}
			}
		}
	}
	for _, code := range transfer.Currencies() {
		found[code] = true
	}
	var all []string
	for code := range found {
		all = append(all, code)
	}
	slices.Sort(all)
	return all
}

// files are names of the directory that an argument may have: data files for a data block.
func (s *server) files(d *document, kind string) []string {
	return slices.DeleteFunc(s.namesOf(filepath.Dir(d.path)), func(name string) bool {
		isHidden := strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || config.IsSource(name)
		return isHidden || kind == "data" && !slices.Contains([]string{".csv", ".json", ".xlsx", ".xml", ".txt"}, strings.ToLower(filepath.Ext(name)))
	})
}

// namesOf are the names in a directory of a folder; nil where it cannot be read.
func (s *server) namesOf(directory string) []string {
	folder := s.folderOf(directory)
	if folder == "" || !staysBelow(folder, directory) {
		return nil
	}
	at, err := confined.OpenDirectory(directory, nil)
	if err != nil {
		return nil
	}
	defer func() { _ = at.Close() }() // only read
	names, _ := at.Names(".")
	return names
}

// refIDs are the first ref_ids of the blocks of a directory.
func (s *server) refIDs(d *document) []string {
	snapshot, _ := s.snapshotOf(d.path)
	if snapshot == nil {
		return nil
	}
	var all []string
	for _, of := range snapshot.checked {
		for _, f := range of.Facts {
			all = append(all, f.First)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
