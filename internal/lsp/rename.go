package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/creachadair/jrpc2"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
)

type renameParams struct {
	placeParams
	NewName string `json:"newName"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type prepareResult struct {
	Range       span   `json:"range"`
	Placeholder string `json:"placeholder"`
}

// refused is an answer that an editor shows to the person who asked.
func refused(format string, args ...any) error {
	return jrpc2.Errorf(jrpc2.InvalidParams, format, args...)
}

// renaming changes a name and every reference to it.
type renaming struct {
	sources *sources
	client  *client
}

// renamed is what a place names and may be renamed, or why not.
func (f renaming) renamed(p *placeParams) (*document, declaration, pointed, error) {
	d := f.sources.native(p.TextDocument.URI)
	if d == nil {
		return nil, declaration{}, pointed{}, refused("This file is no configuration of remit.")
	}
	found, at, ok := f.sources.target(d, d.offset(p.Position))
	switch {
	case ok:
	case at.isHeader && at.blocks[0].Type == "environment":
		return nil, found, at, refused("An environment is not renamed: its state is bound to the name for good, and under another one a new state would begin, in which nothing is paid yet.")
	case at.isHeader:
		return nil, found, at, refused("No reference names this %s block, and its label is not changed here. Point at the label of a block that references name, at a local, or at a reference to one.", at.blocks[0].Type)
	default:
		return nil, found, at, refused("Nothing here has a name that can be changed. Point at the label of a block, at a local, or at a reference to one.")
	}
	return d, found, at, nil
}

func (f renaming) prepare(_ context.Context, p *placeParams) (any, error) {
	d, found, at, err := f.renamed(p)
	if err != nil {
		return nil, err
	}
	from, to := found.place(found.label)
	text := found.source.outline.text
	if at.traversal != nil {
		from, to = at.start+at.at.Start.Byte, at.start+at.at.End.Byte
		text = d.text
	}
	name := strings.Trim(text[from:to], `"[]`)
	if i := strings.Index(text[from:to], name); i > 0 {
		from, to = from+i, from+i+len(name)
	}
	return prepareResult{d.span(from, to), name}, nil
}

// rename changes a name and every reference to it. A transfer keeps its ref_id.
func (f renaming) rename(_ context.Context, p *renameParams) (any, error) {
	d, found, _, err := f.renamed(&p.placeParams)
	if err != nil {
		return nil, err
	}
	sources := f.sources.referring(d.path)
	if err := f.mayRename(d, found, sources, p.NewName); err != nil {
		return nil, err
	}
	e := workspaceEdit{map[string][]textEdit{}}
	add := func(from *source, start, end int, text string) {
		uri := f.sources.documents.uriOf(from.path)
		e.Changes[uri] = append(e.Changes[uri], textEdit{newDocument("", 0, from.outline.text).span(start, end), text})
	}
	from, to := found.place(found.label)
	label := p.NewName
	if strings.HasPrefix(found.source.outline.text[from:to], `"`) {
		label = quoted(p.NewName)
	}
	add(found.source, from, to, label)
	for _, m := range mentionsIn(sources, found.root, found.name) {
		text := p.NewName
		if m.isKey {
			text = "[" + quoted(p.NewName) + "]"
		}
		add(m.source, m.start+m.at.Start.Byte, m.start+m.at.End.Byte, text)
	}
	if at, old, ok := identity(found); ok {
		add(found.source, at, at, "\n  ref_id = "+quoted(old))
		f.client.notify("window/showMessage", messageParams{messageInfo, fmt.Sprintf(
			"ref_id = %s was written into the block: the label was the ref_id, under which the transfer is recorded. With another one it would be paid again.", quoted(old))})
	}
	return e, nil
}

func quoted(text string) string { return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes()) }

// identity is where a ref_id is written into a transfer block that has none, and the label that was its ref_id.
func identity(d declaration) (at int, old string, ok bool) {
	if d.root != "transfer" || d.block.Body.Attributes["ref_id"] != nil || d.block.Body.Attributes["for_each"] != nil {
		return 0, "", false
	}
	_, at = d.place(d.block.OpenBraceRange)
	return at, d.block.Labels[1], true
}

// mayRename says why a name must stay as it is: where it is taken, where a text that is not read here has it, or where the edit would
// change what the files mean.
func (f renaming) mayRename(d *document, found declaration, sources []source, name string) error {
	needsIdentifier := found.root != "transfer" || len(mentionsIn(sources, found.root, found.name)) > 0
	switch {
	case needsIdentifier && !hclsyntax.ValidIdentifier(name):
		return refused("%q is no name that references can have: letters, digits, _ and -, and a letter first.", name)
	case name == "" || strings.TrimSpace(name) != name || strings.ContainsAny(name, "\n\r\"$%\\"):
		return refused("%q is no label of a block.", name)
	}
	full := name
	if prefix, _, isDotted := strings.Cut(found.name, "."); isDotted {
		full = prefix + "." + name
	}
	for _, other := range labelsIn(sources) {
		if other.root == found.root && other.name == full {
			return refused("There is a %s %s already, in %s.", found.root, name, filepath.Base(other.source.path))
		}
	}
	for _, from := range sources {
		for _, c := range from.outline.chunks {
			if !c.tree.whole {
				return refused("%s has a mistake, so that a reference there could be missed. Mend it first.", filepath.Base(from.path))
			}
		}
	}
	if names := f.sources.folders.namesIn(filepath.Dir(found.source.path)); slices.ContainsFunc(names, func(name string) bool { return config.IsSource(name) && !isNative(name) }) {
		return refused("The directory has sources in JSON, in which references are not found. Rename by hand.")
	}
	if _, directory := f.sources.checks.snapshotOf(d.path); directory != "" && filepath.Dir(found.source.path) != directory {
		return refused("%s is declared in an included directory, which other configurations may include.", found.name)
	}
	if from, line, isText := textIn(sources, found.name); isText && found.root == "batch" {
		return refused("%s has the text %q in line %d, which may be the name of the batch: a policy or a test would look for a batch that is not there. Change that by hand first.", filepath.Base(from.path), found.name, line)
	}
	if found.root == "var" {
		return f.mayRenameVariable(found, sources)
	}
	return mayRenameValue(found, sources)
}

// mayRenameVariable refuses a variable whose value another file gives by its name.
func (f renaming) mayRenameVariable(found declaration, sources []source) error {
	for _, from := range sources {
		for _, c := range from.outline.chunks {
			for _, b := range c.tree.body.Blocks {
				if b.Type == "environment" && strings.Contains(c.tree.text, found.name) {
					return refused("An environment block gives %s its value. Rename it there by hand.", found.name)
				}
			}
		}
	}
	for _, name := range f.valueFiles(filepath.Dir(found.source.path)) {
		return refused("%s may give %s its value by its name. Rename both by hand, and REMIT_VAR_%s with them.", name, found.name, found.name)
	}
	return nil
}

// valueFiles are the files of values of variables in a directory.
func (f renaming) valueFiles(directory string) []string {
	names := f.sources.folders.namesIn(directory)
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasSuffix(name, ".hclvars") && !strings.HasSuffix(name, ".hclvars.json")
	})
}

// mayRenameValue refuses a name that is looked up by a text, or that is a part of a value.
func mayRenameValue(found declaration, sources []source) error {
	var err error
	for _, from := range sources {
		for _, c := range from.outline.chunks {
			eachTraversal(c.tree.body, func(t hcl.Traversal) {
				root, name, _ := addressOf(t)
				switch {
				case root != found.root || err != nil:
				case name == "" && len(t) == 1:
					err = refused("%s looks up a %s by a text that is computed, such as a column of a file. With another name it may not be found.", filepath.Base(from.path), root)
				case name == found.name && len(t) == 3 && root != "data" && root != "transfer":
					if last, ok := stepName(t[2]); ok && last == "name" {
						err = refused("%s uses %s.%s.name, which is the label: with another name that value changes, and perhaps a ref_id.", filepath.Base(from.path), root, found.name)
					}
				}
			})
		}
	}
	return err
}
