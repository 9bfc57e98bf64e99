package view

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the style and the script of every page
	"encoding/base64"
	"html"
	"io"
	"strings"
)

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// htmlPage writes HTML as it goes, and holds none of it.
//
// Markup is remit's own and constant; text goes through put alone, which shows hidden characters
// and escapes what HTML reads.
type htmlPage struct {
	*bufio.Writer
	screen Screen
}

func newHTMLPage(w io.Writer, s Screen) htmlPage { return htmlPage{bufio.NewWriterSize(w, 64<<10), s} }

// put writes constant markup, in which each % stands for one of the texts: in an element, or
// in an attribute between quotation marks.
func (h htmlPage) put(markup string, texts ...string) {
	for _, text := range texts {
		before, after, _ := strings.Cut(markup, "%")
		_, _ = h.WriteString(before)
		_, _ = h.WriteString(html.EscapeString(cutEnd(Visible(text), spanWidthMax)))
		markup = after
	}
	_, _ = h.WriteString(markup)
}

// begin opens a page of a kind, that may load nothing at all: its style and its script, both remit's own and
// the same in every page, are known by their hashes.
func (h htmlPage) begin(kind, title string) {
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + sourceHash(pageStyle) + "; script-src " + sourceHash(pageScript)
	_, _ = h.WriteString(`<!doctype html>
<html lang="en" data-remit="` + kind + `">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + policy + `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
`)
	h.put("<title>%</title>\n", title)
	_, _ = h.WriteString("<style>" + pageStyle + "</style>\n</head>\n<body>\n")
}

// end closes the elements that begin opened, and returns the first error of writing.
func (h htmlPage) end(footer string) error {
	h.put("</main>\n<footer><p>%</p></footer>\n", footer)
	_, _ = h.WriteString("<script>" + pageScript + "</script>\n</body>\n</html>\n")
	return h.Flush()
}

// number writes a number of a column whose most precise one has so many decimals: missing decimals
// are filled up invisibly, so that the points are below each other.
func (h htmlPage) number(number string, most int) {
	h.put("%", number)
	have := places(number)
	if have >= most {
		return
	}
	fill := strings.Repeat("0", most-have)
	if have == 0 {
		fill = "." + fill
	}
	h.put("<span class=\"z\" aria-hidden=\"true\">%</span>", fill)
}

// named writes a list of names, under dl.
func (h htmlPage) named(title string, names []string) {
	if len(names) == 0 {
		return
	}
	h.put("<dt>%</dt><dd><ul class=\"names\">", title)
	for _, name := range names {
		h.put("<li><code>%</code></li>", name)
	}
	h.put("</ul></dd>\n")
}

// party writes whole IDs, below the name where the transfer or the address book has one.
func (h htmlPage) party(p party, names map[string]string) {
	if name := p.called(names); name != "" {
		h.put("<b>%</b> ", name)
	}
	h.put("<span class=\"id\"><code>%</code>", p.profile)
	if p.identity != "" {
		h.put(" identity <code>%</code>", p.identity)
	}
	if p.account != "" {
		h.put(" account <code>%</code>", p.account)
	}
	h.put("</span>")
}

// sourceHash is a source expression of Content Security Policy, level 3.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// class is the tone's in the page's style.
func (t tone) class() string {
	switch t {
	case toneGood:
		return "good"
	case toneDoubt:
		return "doubt"
	case toneBad:
		return "bad"
	case toneDim:
		return "dim"
	case toneStrong:
		return "strong"
	case toneNone:
	}
	return "none"
}
