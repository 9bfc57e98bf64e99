package lsp

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"remit/internal/files/confined"
)

// documents are the open texts.
type documents struct {
	mu    sync.Mutex
	byKey map[string]*document // by path, or by URI where they are no files
}

func newDocuments() *documents { return &documents{byKey: map[string]*document{}} }

// keyOf is the key of a document: two URIs of one file are one document.
func keyOf(uri string) string {
	if path := pathOf(uri); path != "" {
		return path
	}
	return uri
}

// at is an open text; nil where it is not open.
func (o *documents) at(uri string) *document {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byKey[keyOf(uri)]
}

func (o *documents) open(d *document) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byKey[keyOf(d.uri)] = d
}

// edit makes the changes of one notification, and returns what they make of the document; nil where it is not open.
func (o *documents) edit(uri string, version int, changes []change) *document {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.byKey[keyOf(uri)]
	if d == nil {
		return nil
	}
	d = d.edited(version, changes)
	o.byKey[keyOf(d.uri)] = d
	return d
}

// save notes that the file of a document has its text.
func (o *documents) save(uri string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.byKey[keyOf(uri)]; d != nil {
		saved := *d
		saved.saved = true
		o.byKey[keyOf(d.uri)] = &saved
	}
}

func (o *documents) close(uri string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byKey, keyOf(uri))
}

// paths are the files of the documents; "" for a document that is no file.
func (o *documents) paths() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []string
	for _, d := range o.byKey {
		all = append(all, d.path)
	}
	return all
}

// firstIn is the first of the files of a directory that are open; "" where none is.
func (o *documents) firstIn(directory string) string {
	for _, path := range slices.Sorted(slices.Values(o.paths())) {
		if path != "" && filepath.Dir(path) == directory {
			return path
		}
	}
	return ""
}

// uriOf is the URI of a file as the editor writes it.
func (o *documents) uriOf(path string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.byKey[path]; d != nil {
		return d.uri
	}
	return uriOf(path)
}

// unsaved are the open texts that their files do not have.
func (o *documents) unsaved() *confined.Unsaved {
	o.mu.Lock()
	defer o.mu.Unlock()
	texts := map[string][]byte{}
	for d := range maps.Values(o.byKey) {
		if !d.saved && d.path != "" {
			texts[d.path] = []byte(d.text)
		}
	}
	return confined.NewUnsaved(texts)
}
