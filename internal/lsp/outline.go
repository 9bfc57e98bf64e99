package lsp

import (
	"sort"
	"strings"

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

// wholeBytesMax bounds a text that is parsed as one piece where its pieces have mistakes.
const wholeBytesMax = 256 << 10

// outlineOf cuts a text, and takes the trees of pieces that before has; it may be nil.
func outlineOf(text string, before *outline) *outline {
	known := map[string]*tree{}
	if before != nil {
		for _, c := range before.chunks {
			known[c.tree.text] = c.tree
		}
	}
	o := &outline{text: text}
	isWhole := true
	for _, start := range starts(text) {
		end := len(text)
		if start.next > 0 {
			end = start.next
		}
		piece := text[start.at:end]
		t := known[piece]
		if t == nil {
			t = treeOf(strings.Clone(piece)) // a tree outlives the text that it was cut from
			known[t.text] = t
		}
		isWhole = isWhole && t.whole
		o.chunks = append(o.chunks, chunk{start.at, start.line, t})
	}
	if !isWhole && len(text) <= wholeBytesMax {
		if t := treeOf(text); t.whole { // a block begins a line in another one
			o.chunks = []chunk{{0, 0, t}}
		}
	}
	return o
}

func treeOf(piece string) *tree {
	content := piece
	if !strings.HasSuffix(content, "\n") {
		content += "\n" // the end of a text ends its last line
	}
	body, isWhole := syntax.ParseBlocks([]byte(content), "")
	return &tree{piece, body, isWhole}
}

// chunkStart is where a piece begins.
type chunkStart struct{ at, line, next int }

// starts are where the pieces of a text begin: at its first byte, and at each line that begins with a block of the language.
func starts(text string) []chunkStart {
	kinds := map[string]bool{}
	for _, kind := range config.Language() {
		kinds[kind.Name] = true
	}
	all := []chunkStart{{}}
	heredoc := ""
	for at, line := 0, 0; at < len(text); line++ {
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
			all[len(all)-1].next = at
			all = append(all, chunkStart{at: at, line: line})
		default:
			heredoc = heredocOf(row)
		}
		at += length
	}
	return all
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
