package lsp

import (
	"path/filepath"
	"slices"
	"strings"

	"remit/config"
	"remit/internal/transfer"
)

// sources are the texts that a configuration is made of, as the editor and the directories have them, and what the checks found in them.
type sources struct {
	documents *documents
	folders   *folders
	outlines  *outlines
	checks    *checks
}

// native is an open document of HCL's native syntax in a directory of remit; nil where it is none.
func (s *sources) native(uri string) *document {
	d := s.documents.at(uri)
	if d == nil || !isNative(d.path) || !s.checks.isActive(d.path) {
		return nil
	}
	return d
}

func (s *sources) outline(d *document) *outline { return s.outlines.of(d.path, d.text) }

// of are the texts of the directory of a file, in the order of their names, and of the directories that it includes. Files of JSON are not among them.
func (s *sources) of(path string) []source {
	directory := s.directoryOf(path)
	all := s.in(directory, config.IsSource)
	for _, included := range s.folders.included(directory) {
		all = append(all, s.in(included, config.IsSource)...)
	}
	return all
}

// directoryOf is the directory of the configuration that a file is part of.
func (s *sources) directoryOf(path string) string {
	if _, directory := s.checks.snapshotOf(path); directory != "" {
		return directory
	}
	return filepath.Dir(path)
}

// testDirectory is where remit test finds tests as well.
const testDirectory = "tests"

// referring are the texts that may name what those of [sources.of] declare: these, and the tests of the configuration.
func (s *sources) referring(path string) []source {
	directory := s.directoryOf(path)
	tests := append(s.in(directory, config.IsTest), s.in(filepath.Join(directory, testDirectory), config.IsTest)...)
	return append(s.of(path), tests...)
}

// in are the texts of a directory with names that are wanted.
func (s *sources) in(directory string, isWanted func(name string) bool) []source {
	at, ok := s.folders.directory(directory, s.documents.unsaved())
	if !ok {
		return nil
	}
	defer func() { _ = at.Close() }() // only read
	names, err := at.Names(".")
	if err != nil {
		return nil
	}
	var all []source
	for _, name := range names {
		if !isWanted(name) || !isNative(name) {
			continue
		}
		path := filepath.Join(directory, name)
		text := ""
		if d := s.documents.at(uriOf(path)); d != nil {
			text = d.text
		} else if content, err := at.Read(name, sourceBytesMax); err == nil {
			text = string(content)
		}
		all = append(all, source{path, s.outlines.of(path, text)})
	}
	return all
}

// names are what the sources of a document's directory declare, in declaration order.
func (s *sources) names(d *document) []declaration { return namesIn(s.of(d.path)) }

// assets are those that the sources of a document name, and the currencies that its directory pays.
func (s *sources) assets(d *document) []string {
	found := map[string]bool{}
	for _, from := range s.of(d.path) {
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
func (s *sources) files(d *document, kind string) []string {
	return slices.DeleteFunc(s.folders.namesIn(filepath.Dir(d.path)), func(name string) bool {
		isHidden := strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || config.IsSource(name)
		return isHidden || kind == "data" && !slices.Contains([]string{".csv", ".json", ".xlsx", ".xml", ".txt"}, strings.ToLower(filepath.Ext(name)))
	})
}

// refIDs are the first ref_ids of the blocks of a directory.
func (s *sources) refIDs(d *document) []string {
	snapshot, _ := s.checks.snapshotOf(d.path)
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

// readersOf are the addresses of the blocks that read a data file: data sources, and the transfers that are made of them.
func (s *sources) readersOf(d *document) []string {
	snapshot, directory := s.checks.snapshotOf(d.path)
	if snapshot == nil {
		return nil
	}
	var all []string
	for address, of := range snapshot.data {
		if inDirectory(directory, of.File) == d.path {
			all = append(all, address)
		}
	}
	slices.Sort(all)
	direct := len(all)
	for _, from := range s.of(filepath.Join(directory, "main.hcl")) {
		for _, c := range from.outline.chunks {
			for _, b := range c.tree.body.Blocks {
				a := b.Body.Attributes["for_each"]
				if b.Type != "transfer" || a == nil || len(b.Labels) < 2 {
					continue
				}
				for _, t := range a.Expr.Variables() {
					if root, name, _ := addressOf(t); root == "data" && slices.Contains(all[:direct], root+"."+name) {
						all = append(all, addressOfBlock(b))
					}
				}
			}
		}
	}
	return slices.Compact(all)
}

// target is the declaration that a place names, or in which it stands.
func (s *sources) target(d *document, offset int) (declaration, pointed, bool) {
	at := pointedAt(s.outline(d), offset)
	names := labelsIn(s.of(d.path))
	if at.traversal != nil {
		root, name, _ := mentioned(at.traversal)
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

func (s *sources) locationOf(from *source, start, end int) location {
	return location{s.documents.uriOf(from.path), newDocument("", 0, from.outline.text).span(start, end)}
}
