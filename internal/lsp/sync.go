package lsp

import (
	"context"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/creachadair/jrpc2"
)

// synchronization keeps up with the texts and folders that the editor has open, and has directories checked whose texts change.
type synchronization struct {
	documents *documents
	folders   *folders
	outlines  *outlines
	checks    *checks
	search    *search
}

func (s synchronization) didOpen(_ context.Context, p *didOpenParams) (any, error) {
	text := strings.ToValidUTF8(p.TextDocument.Text, string(utf8.RuneError))
	d := newDocument(p.TextDocument.URI, p.TextDocument.Version, text)
	d.saved = s.folders.have(d)
	if d.path != "" { // one file was opened, and no folder
		s.folders.addFirst(filepath.Dir(d.path))
	}
	s.documents.open(d)
	s.checks.changed(d.path)
	return nil, nil
}

func (s synchronization) didChange(_ context.Context, p *didChangeParams) (any, error) {
	d := s.documents.edit(p.TextDocument.URI, p.TextDocument.Version, p.ContentChanges)
	if d == nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "the document is not open")
	}
	s.checks.changed(d.path)
	return nil, nil
}

func (s synchronization) didSave(_ context.Context, p *documentParams) (any, error) {
	s.documents.save(p.TextDocument.URI)
	s.checks.changed(pathOf(p.TextDocument.URI))
	return nil, nil
}

func (s synchronization) didClose(_ context.Context, p *documentParams) (any, error) {
	s.documents.close(p.TextDocument.URI)
	s.outlines.forget(keyOf(p.TextDocument.URI))
	s.checks.changed(pathOf(p.TextDocument.URI))
	return nil, nil
}

func (s synchronization) didChangeFiles(_ context.Context, p *filesParams) (any, error) {
	for _, c := range p.Changes {
		s.checks.changed(pathOf(c.URI))
	}
	return nil, nil
}

func (s synchronization) didChangeFolders(_ context.Context, p *foldersParams) (any, error) {
	for _, f := range p.Event.Removed {
		s.folders.remove(f.URI)
	}
	for _, f := range p.Event.Added {
		s.folders.add(f.URI)
	}
	open := s.documents.paths()
	s.checks.forgetOthers()
	s.search.begin()
	for _, path := range open {
		s.checks.changed(path)
	}
	return nil, nil
}
