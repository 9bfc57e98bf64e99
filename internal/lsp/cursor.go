package lsp

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// cursor is where a place is in the language. The text before it, which need not be whole, decides about the completions.
type cursor struct {
	blocks    []header // that the place is in, the outermost first
	header    []string // the words of the block that is being written, without the one that is begun; nil elsewhere
	isLabel   bool     // the place is where a label is written
	attribute string   // the argument whose value is being written; "" where an item of a block begins
	inText    bool     // the place is in quotation marks, and in no interpolation
	inComment bool     // the place is in a comment to the end of the line
	path      []string // the names before the last dot, such as each and value, or before the bracket of a text
	begun     string   // the name, or the text, that is begun
	from      int      // where that begins
	calls     []call   // functions whose arguments are being written, the innermost last
	rest      string   // the text of the line behind the place
}

// header is the type of a block and its labels.
type header struct {
	kind   string
	labels []string
}

// call is a function, and the number of the argument that is being written.
type call struct {
	name     string
	argument int
}

// kinds are the types of the blocks that the place is in.
func (c *cursor) kinds() []string {
	var kinds []string
	for _, b := range c.blocks {
		kinds = append(kinds, b.kind)
	}
	return kinds
}

// cursorAt reads the piece of a text that has a place, up to it.
func cursorAt(o *outline, offset int) cursor {
	c := o.at(offset)
	text := o.text[c.start:offset]
	tokens, _ := hclsyntax.LexConfig([]byte(text), "", hcl.InitialPos) // mistakes are the rule while somebody types
	r := cursorReader{text: text}
	for _, token := range tokens {
		if token.Type == hclsyntax.TokenEOF {
			break
		}
		r.take(token)
	}
	at := r.finish()
	at.from += c.start
	at.inComment = endsInComment(tokens)
	rest, _, _ := strings.Cut(o.text[offset:], "\n")
	at.rest = rest
	return at
}

// endsInComment reports whether a text ends in a comment that goes to the end of its line.
func endsInComment(tokens hclsyntax.Tokens) bool {
	n := len(tokens) - 2 // the last one is the end of the text
	if n < 0 || tokens[n].Type != hclsyntax.TokenComment {
		return false
	}
	text := string(tokens[n].Bytes)
	return !strings.HasPrefix(text, "/*") && !strings.HasSuffix(text, "\n")
}

// cursorReader follows blocks, values and brackets.
type cursorReader struct {
	text   string
	cursor cursor
	open   []bracket
	ended  []hclsyntax.Token // the tokens of the value, or of the item, so far
}

// bracket is one that is open in a value.
type bracket struct {
	kind     hclsyntax.TokenType
	function string // before a parenthesis
	commas   int
	from     int // behind it
}

func (r *cursorReader) take(token hclsyntax.Token) {
	inValue := r.cursor.attribute != "" || len(r.open) > 0
	isLine := token.Type == hclsyntax.TokenNewline || token.Type == hclsyntax.TokenComment && strings.HasSuffix(string(token.Bytes), "\n")
	switch {
	case isLine && (len(r.open) == 0 || r.open[len(r.open)-1].kind == hclsyntax.TokenOQuote):
		r.open, r.ended = nil, nil
		r.cursor.attribute, r.cursor.header = "", nil
		return
	case isLine:
		r.ended = nil
		return
	case inValue && len(r.open) == 0 && token.Type == hclsyntax.TokenCBrace: // of a block on one line
		r.cursor.attribute = ""
		r.close()
	case inValue || token.Type == hclsyntax.TokenOQuote || token.Type == hclsyntax.TokenCQuote:
		r.takeValue(token)
	default:
		r.takeItem(token)
	}
	r.ended = append(r.ended, token)
}

// takeItem follows arguments and blocks.
func (r *cursorReader) takeItem(token hclsyntax.Token) {
	switch token.Type { //nolint:exhaustive // of fifty types few begin or end an item
	case hclsyntax.TokenIdent:
		r.cursor.header = append(r.cursor.header, string(token.Bytes))
	case hclsyntax.TokenEqual:
		if len(r.cursor.header) == 1 {
			r.cursor.attribute, r.cursor.header = r.cursor.header[0], nil
		}
	case hclsyntax.TokenOBrace:
		if h := r.cursor.header; len(h) > 0 {
			r.cursor.blocks = append(r.cursor.blocks, header{h[0], h[1:]})
		} else {
			r.cursor.blocks = append(r.cursor.blocks, header{})
		}
		r.cursor.header = nil
	case hclsyntax.TokenCBrace:
		r.close()
	}
}

func (r *cursorReader) close() {
	r.cursor.header = nil
	if n := len(r.cursor.blocks); n > 0 {
		r.cursor.blocks = r.cursor.blocks[:n-1]
	}
}

// takeValue follows the brackets of a value, and the quotation marks of labels.
func (r *cursorReader) takeValue(token hclsyntax.Token) {
	end := token.Range.End.Byte
	switch token.Type { //nolint:exhaustive // of fifty types few are brackets
	case hclsyntax.TokenOParen:
		name := ""
		if n := len(r.ended); n > 0 && r.ended[n-1].Type == hclsyntax.TokenIdent {
			name = string(r.ended[n-1].Bytes)
		}
		r.open = append(r.open, bracket{kind: token.Type, function: name, from: end})
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote:
		r.open = append(r.open, bracket{kind: token.Type, from: end})
	case hclsyntax.TokenCQuote, hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		n := len(r.open)
		if n == 0 {
			return
		}
		if r.open[n-1].kind == hclsyntax.TokenOQuote && r.cursor.attribute == "" && n == 1 {
			r.cursor.header = append(r.cursor.header, r.text[r.open[0].from:token.Range.Start.Byte])
		}
		r.open = r.open[:n-1]
	case hclsyntax.TokenComma:
		if n := len(r.open); n > 0 {
			r.open[n-1].commas++
		}
	}
}

// finish says which block, argument or text the end of the text leaves open.
func (r *cursorReader) finish() cursor {
	c := &r.cursor
	for _, b := range r.open {
		if b.function != "" {
			c.calls = append(c.calls, call{b.function, b.commas})
		}
	}
	c.from = len(r.text)
	if n := len(r.open); n > 0 && r.open[n-1].kind == hclsyntax.TokenOQuote {
		c.inText, c.from = true, r.open[n-1].from
		c.begun = r.text[c.from:]
		c.isLabel = c.attribute == "" && n == 1
		if n > 1 && r.open[n-2].kind == hclsyntax.TokenOBrack {
			c.path = r.indexed(c.from)
		}
		return *c
	}
	last := len(r.ended) - 1
	if last >= 0 && r.ended[last].Type == hclsyntax.TokenIdent && r.ended[last].Range.End.Byte == len(r.text) {
		c.begun, c.from = string(r.ended[last].Bytes), r.ended[last].Range.Start.Byte
		last--
		if n := len(c.header); c.attribute == "" && n > 0 {
			c.header = c.header[:n-1]
		}
	}
	c.path = r.dotted(last)
	if len(c.header) == 0 {
		c.header = nil
	}
	c.isLabel = c.header != nil
	return *c
}

// dotted are the names that each end in a dot, the last of which is the token of that number.
func (r *cursorReader) dotted(last int) []string {
	var path []string
	for last > 0 && r.ended[last].Type == hclsyntax.TokenDot && r.ended[last-1].Type == hclsyntax.TokenIdent {
		path = append([]string{string(r.ended[last-1].Bytes)}, path...)
		last -= 2
	}
	return path
}

// indexed are the names before the bracket of a text that begins at a place, such as each and value of each.value["net; nil for
// a list, or what is no name.
func (r *cursorReader) indexed(from int) []string {
	for last := len(r.ended) - 1; last > 1; last-- {
		if r.ended[last].Type != hclsyntax.TokenOQuote || r.ended[last].Range.End.Byte != from {
			continue
		}
		name := r.ended[last-2]
		if r.ended[last-1].Type != hclsyntax.TokenOBrack || name.Type != hclsyntax.TokenIdent {
			return nil
		}
		return append(r.dotted(last-3), string(name.Bytes))
	}
	return nil
}
