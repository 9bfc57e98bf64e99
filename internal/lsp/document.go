package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// document is a text as an editor holds it. It is not changed: each edit makes another one.
type document struct {
	uri     string // as the client writes it
	path    string // absolute; "" where it is no file
	version int
	text    string
	lines   []int // where each begins
	saved   bool  // the file has the same text
}

func newDocument(uri string, version int, text string) *document {
	return &document{uri: uri, path: pathOf(uri), version: version, text: text, lines: linesOf(text)}
}

// linesOf is where the lines of a text begin.
func linesOf(text string) []int {
	lines := make([]int, 1, 1+strings.Count(text, "\n"))
	for from := 0; ; {
		length := strings.IndexByte(text[from:], '\n')
		if length < 0 {
			return lines
		}
		from += length + 1
		lines = append(lines, from)
	}
}

// offset is the byte of a place. A place behind the end of a line is the line's end, as the protocol wants it, and one
// behind the text is the text's.
func (d *document) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(d.lines) {
		return len(d.text)
	}
	return d.lines[p.Line] + bytesOf(d.line(p.Line), p.Character)
}

// line is the text of a line without its end.
func (d *document) line(n int) string {
	end := len(d.text)
	if n+1 < len(d.lines) {
		end = d.lines[n+1]
	}
	return strings.TrimRight(d.text[d.lines[n]:end], "\r\n")
}

// position is the place of a byte.
func (d *document) position(offset int) position {
	offset = min(max(offset, 0), len(d.text))
	n, isStart := slices.BinarySearch(d.lines, offset)
	if !isStart {
		n--
	}
	return position{n, unitsOf(d.text[d.lines[n]:offset])}
}

func (d *document) span(from, to int) span { return span{d.position(from), d.position(to)} }

// bytesOf is how many bytes of a line so many units of UTF-16 are.
func bytesOf(line string, units int) int {
	for i, r := range line {
		if units <= 0 {
			return i
		}
		units -= unitsOfRune(r)
	}
	return len(line)
}

// unitsOf counts the units of UTF-16.
func unitsOf(text string) int {
	units := 0
	for _, r := range text {
		units += unitsOfRune(r)
	}
	return units
}

func unitsOfRune(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// edited is the document after the changes of one notification, each of which is made to the text of the one before.
func (d *document) edited(version int, changes []change) *document {
	text := d
	for _, c := range changes {
		content := strings.ToValidUTF8(c.Text, string(utf8.RuneError))
		if c.Range != nil {
			from, to := text.offset(c.Range.Start), text.offset(c.Range.End)
			if to < from {
				from, to = to, from
			}
			content = text.text[:from] + content + text.text[to:]
		}
		text = &document{uri: d.uri, path: d.path, version: version, text: content, lines: linesOf(content)}
	}
	return text
}

// pathOf is the file that a URI names; "" where it names none of this machine.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	name := u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/") // of /C:/payments
	}
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		return ""
	}
	return filepath.Clean(name)
}

// uriOf is the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
