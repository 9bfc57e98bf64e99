package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
)

// Diagnostics writes the author's mistakes and warnings for a person: summary, place,
// source snippet with the marked text, the values of the expression's names, and the detail. files
// are the sources by the names that the diagnostics' ranges use; a snippet is left out where its
// file is missing. It returns only errors of w.
func Diagnostics(w io.Writer, diags hcl.Diagnostics, files map[string]*hcl.File, s Screen) error {
	p := newPage(w, s)
	for _, d := range diags {
		p.diagnostic(d, files)
	}
	return p.Flush()
}

// Notes writes how data files were read, one line each. It returns only
// errors of w.
func Notes(w io.Writer, notes []config.Note, s Screen) error {
	p := newPage(w, s)
	for _, n := range notes {
		text := Visible(n.Address) + ": " + Visible(n.Text) + "."
		lines := p.valueLines(text, p.width()-len("    "))
		for i, line := range lines {
			p.line(plain(strings.Repeat("  ", min(i, 1)+1) + line))
		}
	}
	return p.Flush()
}

func (p *page) diagnostic(d *hcl.Diagnostic, files map[string]*hcl.File) {
	word, t := severity(d.Severity)
	p.open(t)
	p.line(span{word + ": ", t}, strong(d.Summary))
	if d.Subject != nil {
		p.line()
		p.place(d, files)
	}
	if d.Detail != "" {
		p.line()
		p.paragraph(p.inset(), d.Detail, toneNone)
	}
	p.close(t)
}

func severity(s hcl.DiagnosticSeverity) (string, tone) {
	switch s {
	case hcl.DiagWarning:
		return "Warning", toneDoubt
	case hcl.DiagError, hcl.DiagInvalid:
	}
	return "Error", toneBad
}

// open begins a box, at whose left a line runs where the reader sits at a terminal. Text in a box
// can't be taken for a line of remit's own.
func (p *page) open(t tone) {
	if !p.Terminal && !p.Color {
		p.line()
		return
	}
	p.line(span{"╷", t})
	p.gutter = span{"│ ", t}
}

func (p *page) close(t tone) {
	if p.gutter.text != "" {
		p.gutter = span{}
		p.line(span{"╵", t})
	}
}

// inset indents text from elsewhere where no line at the left sets it apart.
func (p *page) inset() string {
	if p.gutter.text != "" {
		return ""
	}
	return "  "
}

// place names the place of a diagnostic and shows the source.
func (p *page) place(d *hcl.Diagnostic, files map[string]*hcl.File) {
	file := files[d.Subject.Filename]
	where := fmt.Sprintf("  on %s line %d", Visible(d.Subject.Filename), d.Subject.Start.Line)
	if block := blockAt(file, d.Subject.Start.Byte); block != "" {
		where += ", in " + Visible(block)
	}
	if file == nil {
		p.line(plain(where))
	} else {
		p.line(plain(where + ":"))
		p.snippet(file.Bytes, *d.Subject)
	}
	if c := d.Context; c != nil && c.Filename != d.Subject.Filename {
		where := fmt.Sprintf("  for %s line %d", Visible(c.Filename), c.Start.Line)
		if block := blockAt(files[c.Filename], c.Start.Byte); block != "" {
			where += ", " + Visible(block)
		}
		p.line(plain(where))
	}
	p.values(d)
}

// blockAt names the block around an offset, where the file's parser can tell.
func blockAt(file *hcl.File, offset int) string {
	if file == nil {
		return ""
	}
	if nav, ok := file.Nav.(interface{ ContextString(offset int) string }); ok {
		return nav.ContextString(offset)
	}
	return ""
}
