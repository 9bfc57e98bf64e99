package lsp

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config"
	"remit/config/syntax"
)

// outline is a text cut into pieces of whole blocks, each parsed by itself: after an edit only the piece that was edited is
// parsed again, and a mistake in one piece leaves the others readable. Places in the tree of a piece begin at its first line.
type outline struct {
	text   string
	chunks []chunk
}

// chunk is one piece.
type chunk struct {
	start int // its first byte
	line  int // its first line, from 0
	tree  *tree
}

// tree is what a piece means, wherever it stands.
type tree struct {
	text  string
	body  *hclsyntax.Body // never nil
	whole bool            // it has no mistake
}

// source is a text of HCL's native syntax that a directory reads.
type source struct {
	path    string
	outline *outline
}

// wholeBytesMax bounds a text that is parsed as one piece where its pieces have mistakes.
const wholeBytesMax = 256 << 10

// outlineOf cuts a text, and takes the trees of pieces that before has; it may be nil.
func outlineOf(text string, before *outline) *outline {
	if o := before.edited(text); o != nil {
		return o
	}
	known := map[string]*tree{}
	if before != nil {
		for _, c := range before.chunks {
			known[c.tree.text] = c.tree
		}
	}
	o := &outline{text: text}
	isWhole := true
	for p := range piecesOf(text, piece{}, config.Language()) {
		words := text[p.at:p.end]
		t := known[words]
		if t == nil {
			t = treeOf(strings.Clone(words)) // a tree outlives the text that it was cut from
			known[t.text] = t
		}
		isWhole = isWhole && t.whole
		o.chunks = append(o.chunks, chunk{p.at, p.line, t})
	}
	if !isWhole && len(text) <= wholeBytesMax {
		if t := treeOf(text); t.whole { // a block begins a line in another one
			o.chunks = []chunk{{0, 0, t}}
		}
	}
	return o
}

// edited is the outline of a long text of which o has an earlier version; nil where the text is short. The pieces before the
// edit and behind it are those of o: where a piece begins, nothing before it counts.
func (o *outline) edited(text string) *outline {
	if o == nil || len(text) <= wholeBytesMax || len(o.text) <= wholeBytesMax {
		return nil
	}
	same, sameEnd := sharedStart(o.text, text), 0
	if limit := min(len(o.text), len(text)) - same; limit > 0 {
		sameEnd = sharedEnd(o.text, text, limit)
	}
	// The last piece that surely stays is followed by one whose first line is before the edit.
	first := max(sort.Search(len(o.chunks), func(i int) bool { return o.chunks[i].start > same })-2, 0)
	next := &outline{text: text, chunks: slices.Clone(o.chunks[:first])}
	more := len(text) - len(o.text)
	from := o.chunks[first]
	for p := range piecesOf(text, piece{at: from.start, line: from.line}, config.Language()) {
		if len(text)-p.at <= sameEnd {
			i := sort.Search(len(o.chunks), func(i int) bool { return o.chunks[i].start >= p.at-more })
			if 0 < i && i < len(o.chunks) && o.chunks[i].start == p.at-more {
				lines := p.line - o.chunks[i].line
				for _, c := range o.chunks[i:] {
					next.chunks = append(next.chunks, chunk{c.start + more, c.line + lines, c.tree})
				}
				return next
			}
		}
		words, t := text[p.at:p.end], (*tree)(nil)
		if i := sort.Search(len(o.chunks), func(i int) bool { return o.chunks[i].start >= p.at }); i < len(o.chunks) && o.chunks[i].tree.text == words {
			t = o.chunks[i].tree
		} else {
			t = treeOf(strings.Clone(words))
		}
		next.chunks = append(next.chunks, chunk{p.at, p.line, t})
	}
	return next
}

// sharedStart is how many bytes two texts have in common at their beginning, and sharedEnd at their end, of so many at most.
func sharedStart(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func sharedEnd(a, b string, most int) int {
	for i := range most {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return most
}

func treeOf(piece string) *tree {
	content := piece
	if !strings.HasSuffix(content, "\n") {
		content += "\n" // the end of a text ends its last line
	}
	body, isWhole := syntax.ParseBlocks([]byte(content), "")
	return &tree{piece, body, isWhole}
}

// piece is where a piece of a text begins and ends.
type piece struct{ at, line, end int }

// piecesOf yields the pieces of a text from one of them on. A piece begins at the first byte of the text, and at each line that begins
// with a block of the language.
func piecesOf(text string, from piece, language []config.BlockKind) iter.Seq[piece] {
	kinds := map[string]bool{}
	for _, kind := range language {
		kinds[kind.Name] = true
	}
	return func(yield func(piece) bool) {
		heredoc := ""
		p := from
		for at, line := from.at, from.line; at < len(text); line++ {
			length := strings.IndexByte(text[at:], '\n') + 1
			if length == 0 {
				length = len(text) - at
			}
			row := text[at : at+length]
			switch {
			case heredoc != "":
				if strings.TrimSpace(row) == heredoc {
					heredoc = ""
				}
			case at > 0 && isHeader(row, kinds):
				if p.end = at; at > from.at && !yield(p) {
					return
				}
				p = piece{at: at, line: line}
			default:
				heredoc = heredocOf(row)
			}
			at += length
		}
		p.end = len(text)
		yield(p)
	}
}

// isHeader reports whether a line begins with the name of a block and is not an argument.
func isHeader(row string, kinds map[string]bool) bool {
	if row == "" || row[0] < 'a' || row[0] > 'z' {
		return false
	}
	end := strings.IndexFunc(row, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
	if end < 0 || !kinds[row[:end]] {
		return false
	}
	rest := strings.TrimLeft(row[end:], " \t")
	return rest != "" && rest[0] != '=' && rest[0] != '.'
}

// heredocOf is the word that ends the heredoc that a line begins; "" for none.
func heredocOf(row string) string {
	_, word, found := strings.Cut(row, "<<")
	word = strings.TrimSpace(strings.TrimPrefix(word, "-"))
	if !found || word == "" || strings.ContainsAny(word, " \t\"(){}#/") {
		return ""
	}
	return word
}

// at is the piece that has a byte.
func (o *outline) at(offset int) chunk {
	i := sort.Search(len(o.chunks), func(i int) bool { return o.chunks[i].start > offset })
	return o.chunks[max(i-1, 0)]
}

// outlines are those of the newest texts that were looked at.
type outlines struct {
	mu     sync.Mutex // of several who ask at once, one makes it
	byPath map[string]*outline
}

func newOutlines() *outlines { return &outlines{byPath: map[string]*outline{}} }

// of is the outline of a text; that of its last version gives the pieces that are still the same.
func (o *outlines) of(path, text string) *outline {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.byPath[path]
	if before != nil && before.text == text {
		return before
	}
	made := outlineOf(text, before)
	o.byPath[path] = made
	return made
}

func (o *outlines) forget(path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byPath, path)
}
