package view

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"strings"
)

// htmlPage writes HTML as it goes, and holds none of it.
//
// Markup is remit's own and constant; text goes through put alone, which shows hidden characters
// and escapes what HTML reads.
type htmlPage struct{ *bufio.Writer }

func newHTMLPage(w io.Writer) htmlPage { return htmlPage{bufio.NewWriterSize(w, 64<<10)} }

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

// begin opens a page of a plan or a run.
func (h htmlPage) begin(title, style, script string) { h.beginAs("", title, style, script) }

// beginAs opens a page of a kind, "" for none, that may load nothing at all: its style and its script, both remit's own
// and constant, are known by their hashes.
func (h htmlPage) beginAs(kind, title, style, script string) {
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + sourceHash(style) + "; script-src " + sourceHash(script)
	if kind != "" {
		kind = ` data-remit="` + kind + `"`
	}
	_, _ = h.WriteString(`<!doctype html>
<html lang="en"` + kind + `>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + policy + `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
`)
	h.put("<title>%</title>\n", title)
	_, _ = h.WriteString("<style>" + style + "</style>\n</head>\n<body>\n")
}

// end closes what begin opened, and returns the first error of writing.
func (h htmlPage) end(script string) error {
	_, _ = h.WriteString("<script>" + script + "</script>\n</body>\n</html>\n")
	return h.Flush()
}

// number writes a number of a column whose most precise one has so many decimals: what lacks is
// filled up without being seen, so that the points are below each other.
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

// party writes whole IDs, and the name beside them where its transfer or the address book has one.
func (h htmlPage) party(p party, names map[string]string) {
	if name := p.called(names); name != "" {
		h.put("<b>%</b> ", name)
	}
	h.put("<code>%</code>", p.profile)
	if p.identity != "" {
		h.put(" identity <code>%</code>", p.identity)
	}
	if p.account != "" {
		h.put(" account <code>%</code>", p.account)
	}
}

// sourceHash is a source expression of Content Security Policy, level 3.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
