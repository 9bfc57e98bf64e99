package syntax

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Bounds of the lines that are read again and again.
const (
	piecesAhead    = 8        // blocks further that a mistake is followed before its own lines are taken for wrong
	piecesWrongMax = 100      // of so many wrong blocks the whole file is read: it may be one that nests too deeply
	aheadBytes     = 64 << 10 // in which the end of a block, a comment or a text is looked for
)

// Pieces are texts of whole blocks that a parser finds nothing wrong in, wherever they stand.
type Pieces interface {
	// Knows reports whether Keep was told of the same bytes.
	Knows(piece []byte) bool
	// Keep takes in whole blocks that have no mistake. It copies the bytes.
	Keep(piece []byte)
}

// ExplainLong is [Explain] for a long file that has a mistake. It reads the lines of a mistake by themselves, from the end of the block
// before them to the beginning of the next one: the parser, which goes on to the end of the file, takes a second for ten thousand
// blocks. It finds nothing where no block is wrong by itself, very many are, or the file is short. The parts are those that have a mistake. Pieces that
// are known to be right are not read again; it may be nil.
func ExplainLong(content []byte, name string, known Pieces) (Nav, hcl.Diagnostics) {
	if len(content) < SplitAbove || bytes.HasPrefix(content, []byte("\ufeff")) {
		return nil, nil
	}
	if hidden := checkSeen(content, name); hidden != nil {
		return Nav{}, Explain(content, name, hidden, true)
	}
	var wrong Nav
	var all []hcl.Diagnostics
	for from, line := 0, 1; from < len(content); {
		p := &Part{name: name, start: hcl.Pos{Line: line, Column: 1, Byte: from}}
		diags := p.pieceAt(content, known)
		if diags.HasErrors() {
			wrong, all = append(wrong, p), append(all, diags)
			if len(wrong) == piecesWrongMax {
				return nil, nil
			}
		}
		line += bytes.Count(p.content, []byte{'\n'})
		from += len(p.content)
	}
	if wrong == nil {
		return nil, nil
	}
	if d := foreign(content, name); d != nil {
		return wrong, hcl.Diagnostics{d}
	}
	in := text{name: name, lines: strings.Split(string(content), "\n"), mayShow: true}
	var explained hcl.Diagnostics
	for _, diags := range all {
		if !isOurs(diags[0]) {
			diags = in.explain(diags)
		}
		explained = append(explained, diags...)
	}
	return wrong, explained
}

// pieceAt finds the whole lines of the part, and what the parser says of them.
func (p *Part) pieceAt(file []byte, known Pieces) hcl.Diagnostics {
	from := p.start.Byte
	o := outline{src: file[:min(from+aheadBytes, len(file))], at: from}
	end, isFollowed := o.next()
	if isFollowed && (end == len(file) || file[end-1] == '\n') {
		if p.content = file[from:end]; isBlank(p.content) || known != nil && known.Knows(p.content) {
			return nil
		}
		if diags := p.mistakes(); !diags.HasErrors() {
			if known != nil {
				known.Keep(p.content)
			}
			return nil
		}
	}
	end = nextHeader(file, from)
	p.content = file[from:end]
	first := p.mistakes()
	for range piecesAhead { // the next block may begin in a text of several lines, or in a comment
		if !first.HasErrors() || end == len(file) {
			break
		}
		end = nextHeader(file, end)
		longer := &Part{name: p.name, start: p.start, content: file[from:end]}
		if !longer.mistakes().HasErrors() {
			p.content = longer.content
			return nil
		}
	}
	return first
}

// mistakes are what the parser says of a part.
func (p *Part) mistakes() hcl.Diagnostics {
	if parsePlain(p.content, p.name, p.start) != nil {
		return nil
	}
	if diags := CheckNesting(p.content, p.name, p.start, hclsyntax.LexConfig); diags.HasErrors() {
		return diags
	}
	_, diags := hclsyntax.ParseConfig(p.content, p.name, p.start)
	return diags
}

// nextHeader is where the next line below from begins that looks like the first one of a block at the top of a file; the end of
// the file where none does. It passes over comments that begin a line, and over texts of several lines.
func nextHeader(file []byte, from int) int {
	for at := from; ; {
		length := bytes.IndexByte(file[at:], '\n')
		if length < 0 {
			return len(file)
		}
		at += insideOf(file[at:], length) + length + 1
		if at >= len(file) {
			return len(file)
		}
		if isTopHeader(file[at:]) {
			return at
		}
	}
}

// insideOf is how many bytes behind the first line, which has so many, belong to a comment or a text that this line begins.
func insideOf(rest []byte, length int) int {
	rest = rest[:min(length+1+aheadBytes, len(rest))]
	line := rest[:length]
	var end []byte
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("/*")):
		end = []byte("*/")
	case bytes.Contains(line, []byte("<<")):
		begin := heredocBegins.FindSubmatch(bytes.TrimRight(line, "\r"))
		if begin == nil {
			return 0
		}
		return max(endOfHeredoc(rest[length+1:], begin[1]), 0)
	default:
		return 0
	}
	at := bytes.Index(rest, end)
	if at < length {
		return 0
	}
	last := bytes.IndexByte(rest[at:], '\n')
	if last < 0 {
		return len(rest) - length - 1
	}
	return at + last - length
}

// endOfHeredoc is how many bytes there are up to the end of the line that is a word alone; -1 where there is none.
func endOfHeredoc(rest, word []byte) int {
	for at := 0; at < len(rest); {
		length := bytes.IndexByte(rest[at:], '\n')
		if length < 0 {
			length = len(rest) - at
		}
		if bytes.Equal(bytes.TrimSpace(rest[at:at+length]), word) {
			return at + length + 1
		}
		at += length + 1
	}
	return -1
}

// isTopHeader reports whether a text begins with a line such as locals {.
func isTopHeader(rest []byte) bool {
	if len(rest) == 0 || rest[0] < 'a' || rest[0] > 'z' {
		return false
	}
	line := rest
	if length := bytes.IndexByte(rest, '\n'); length >= 0 {
		line = rest[:length]
	}
	line = bytes.TrimRight(line, " \t\r")
	return bytes.HasSuffix(line, []byte{'{'}) && !bytes.ContainsAny(line, "=(")
}
