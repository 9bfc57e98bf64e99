package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// diagnosticsOf are the mistakes of a directory by the URIs of their files. One without a place stands at the beginning of the
// first source.
func (s *server) diagnosticsOf(directory string, checked []Checked) map[string][]diagnostic {
	found := map[string][]diagnostic{}
	for _, c := range checked {
		texts := textsOf{files: c.Files, known: map[string]*document{}}
		for _, d := range c.Diagnostics {
			name, at := s.placeless(directory, c), span{}
			if d.Subject != nil {
				name, at = d.Subject.Filename, texts.span(*d.Subject)
			}
			severity := severityError
			if d.Severity == hcl.DiagWarning {
				severity = severityWarning
			}
			uri := s.uriOf(inDirectory(directory, name))
			found[uri] = append(found[uri], diagnostic{Range: at, Severity: severity, Source: "remit", Message: messageOf(d)})
		}
	}
	return found
}

// messageOf is a diagnostic in one text: its summary, and below it the detail.
func messageOf(d *hcl.Diagnostic) string {
	return strings.TrimSpace(d.Summary + "\n" + d.Detail)
}

// inDirectory is the path of a file by the name that diagnostics use.
func inDirectory(directory, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(directory, name)
}

// placeless is the file at which a mistake without a place is shown.
func (s *server) placeless(directory string, c Checked) string {
	names := slices.Sorted(maps.Keys(c.Files))
	for _, name := range names {
		if strings.HasSuffix(name, ".hcl") && !strings.Contains(name, "/") {
			return name
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(s.documents)) {
		if filepath.Dir(path) == directory {
			return filepath.Base(path)
		}
	}
	return "main.hcl"
}

// uriOf is the URI of a file as the editor writes it.
func (s *server) uriOf(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[path]; d != nil {
		return d.uri
	}
	return uriOf(path)
}

// textsOf are the texts into which diagnostics point.
type textsOf struct {
	files map[string]*hcl.File
	known map[string]*document
}

// span is a range of HCL, which counts bytes from the beginning of a text, as an editor counts. Where the text cannot be read
// any more it is what lines and columns say.
func (t textsOf) span(r hcl.Range) span {
	d := t.known[r.Filename]
	if d == nil && t.files[r.Filename] != nil {
		d = newDocument("", 0, string(t.files[r.Filename].Bytes))
		t.known[r.Filename] = d
	}
	if d == nil || !t.holds(d, r) {
		from := position{max(r.Start.Line-1, 0), max(r.Start.Column-1, 0)}
		to := position{max(r.End.Line-1, 0), max(r.End.Column-1, 0)}
		return span{from, to}
	}
	return span{d.withoutMark(r.Start.Byte), d.withoutMark(r.End.Byte)}
}

// holds reports whether the bytes of a range stand on its lines: those of a row of a workbook do not.
func (t textsOf) holds(d *document, r hcl.Range) bool {
	return r.Start.Byte <= len(d.text) && d.position(r.Start.Byte).Line == r.Start.Line-1
}

// withoutMark is the place of a byte where an editor shows no mark of byte order.
func (d *document) withoutMark(offset int) position {
	p := d.position(offset)
	if p.Line == 0 && strings.HasPrefix(d.text, "\ufeff") && p.Character > 0 {
		p.Character--
	}
	return p
}

// publish tells the editor the diagnostics of each file, where they are new. It is called with mu held.
func (s *server) publish() {
	all := map[string][]diagnostic{}
	for _, directory := range slices.Sorted(maps.Keys(s.projects)) {
		for uri, found := range s.projects[directory].shown {
			for _, d := range found {
				if !slices.ContainsFunc(all[uri], func(other diagnostic) bool { return sameDiagnostic(other, d) }) {
					all[uri] = append(all[uri], d)
				}
			}
		}
	}
	for uri := range s.shown {
		if _, has := all[uri]; !has {
			all[uri] = []diagnostic{}
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(all)) {
		found := all[uri]
		encoded, err := json.Marshal(found)
		if err != nil {
			panic(err)
		}
		if s.shown[uri] == string(encoded) {
			continue
		}
		if s.shown[uri] = string(encoded); len(found) == 0 {
			delete(s.shown, uri)
		}
		s.notify("textDocument/publishDiagnostics", publishParams{URI: uri, Diagnostics: found})
	}
}

// diagnostic answers a client that asks, when the newest text was checked. It is not offered beside what is published, which an
// editor would show twice.
func (s *server) diagnostic(ctx context.Context, p *documentParams) (any, error) {
	path := pathOf(p.TextDocument.URI)
	if err := s.settled(ctx, path); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []diagnostic{}
	for _, directory := range slices.Sorted(maps.Keys(s.projects)) {
		for uri, found := range s.projects[directory].shown {
			if pathOf(uri) == path {
				items = append(items, found...)
			}
		}
	}
	return diagnosticReport{"full", items}, nil
}

func sameDiagnostic(a, b diagnostic) bool {
	return a.Range == b.Range && a.Severity == b.Severity && a.Message == b.Message
}
