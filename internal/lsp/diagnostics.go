package lsp

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// diagnosticsOf are the mistakes of a directory by the URIs of their files. One without a place stands at the beginning of the
// first source.
func diagnosticsOf(open *documents, directory string, checked []Checked) map[string][]diagnostic {
	found := map[string][]diagnostic{}
	for _, c := range checked {
		texts := textsOf{files: c.Files, known: map[string]*document{}}
		for _, d := range c.Diagnostics {
			name, at := placeless(open, directory, c), span{}
			if d.Subject != nil {
				name, at = d.Subject.Filename, texts.span(*d.Subject)
			}
			severity := severityError
			if d.Severity == hcl.DiagWarning {
				severity = severityWarning
			}
			uri := open.uriOf(inDirectory(directory, name))
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
func placeless(open *documents, directory string, c Checked) string {
	names := slices.Sorted(maps.Keys(c.Files))
	for _, name := range names {
		if strings.HasSuffix(name, ".hcl") && !strings.Contains(name, "/") {
			return name
		}
	}
	if path := open.firstIn(directory); path != "" {
		return filepath.Base(path)
	}
	return "main.hcl"
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
