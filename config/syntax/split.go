package syntax

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Bounds of parts.
const (
	SplitAbove = 32 << 10 // bytes of a file that is read in parts
	partBytes  = 4 << 10  // about so long are the parts of transfers
)

// Part is some whole blocks of a file in HCL's native syntax. A file that is parsed in parts
// needs memory for few of them at once, and all cores.
//
// Parts that each parse without a mistake mean together what the file means: each ends with
// a line, outside of every bracket, text and comment, or it would be a mistake that it ends
// there; so the tokens of the file are those of its parts. Where a part has a mistake, the
// whole file is parsed to say which.
type Part struct {
	name          string
	content       []byte
	start         hcl.Pos
	TransfersOnly bool // it has transfer blocks and nothing else, and is parsed late
	Body          *hclsyntax.Body
}

// Split cuts a file where a line ends at the top, so that transfer blocks have parts of their own.
func Split(content []byte, name string) []*Part {
	outline := outline{src: content}
	var parts []*Part
	for from, line := 0, 1; from < len(content); {
		end, ok := outline.next()
		if !ok {
			end = len(content)
		}
		segment := content[from:end]
		isTransfer := ok && startsTransfer(segment)
		if n := len(parts) - 1; n < 0 || !parts[n].takes(isTransfer, ok && isBlank(segment)) {
			start := hcl.Pos{Line: line, Column: 1, Byte: from}
			parts = append(parts, &Part{name: name, start: start, TransfersOnly: isTransfer})
		}
		last := parts[len(parts)-1]
		last.content = content[last.start.Byte:end]
		line += bytes.Count(segment, []byte{'\n'})
		from = end
	}
	return parts
}

// takes reports whether lines can be added to the part: those of a transfer, nothing but a
// comment, or neither.
func (p *Part) takes(isTransfer, isBlank bool) bool {
	if p.TransfersOnly {
		return isBlank || isTransfer && len(p.content) < partBytes
	}
	return !isTransfer
}

func startsTransfer(lines []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(lines, " \t"), []byte("transfer"))
	return ok && bytes.IndexAny(rest, " \t\"") == 0
}

func isBlank(lines []byte) bool {
	text := bytes.TrimLeft(lines, " \t\r\n")
	return len(text) == 0 || text[0] == '#' || bytes.HasPrefix(text, []byte("//"))
}

// Parse returns the body; nil where it has a mistake or is not what it was taken for.
func (p *Part) Parse() *hclsyntax.Body {
	body := parsePlain(p.content, p.name, p.start)
	if body == nil {
		body = p.parseAny()
	}
	isOther := func(b *hclsyntax.Block) bool { return b.Type != "transfer" }
	if body == nil || len(body.Attributes) > 0 || p.TransfersOnly && slices.ContainsFunc(body.Blocks, isOther) {
		return nil
	}
	return body
}

// parseAny parses with HCL's own parser; nil where there is a mistake.
func (p *Part) parseAny() *hclsyntax.Body {
	if CheckNesting(p.content, p.name, p.start, hclsyntax.LexConfig).HasErrors() {
		return nil
	}
	file, diags := hclsyntax.ParseConfig(p.content, p.name, p.start)
	if len(diags) > 0 {
		return nil
	}
	return file.Body.(*hclsyntax.Body)
}

// Nav finds the block at an offset for snippets, as the Nav of a whole file does.
type Nav []*Part

// ContextString names the block that an offset is in.
func (n Nav) ContextString(offset int) string {
	i, found := slices.BinarySearchFunc(n, offset, func(p *Part, offset int) int { return p.start.Byte - offset })
	if !found {
		i--
	}
	if i < 0 {
		return ""
	}
	file, _ := Parse(n[i].content, n[i].name)
	if file == nil {
		return ""
	}
	whole, ok := file.Nav.(interface{ ContextString(offset int) string })
	if !ok {
		return ""
	}
	return whole.ContextString(offset - n[i].start.Byte)
}

// outline follows the brackets, texts and comments of a file, and nothing else.
type outline struct {
	src  []byte
	at   int
	open []byte // brackets and quotation marks that are open; '$' is an interpolation
}

// next returns the end of the next line that ends outside of everything that is open; false
// where the rest can't be followed, as from a heredoc on.
func (o *outline) next() (end int, ok bool) {
	for o.at < len(o.src) {
		if n := len(o.open); n > 0 && o.open[n-1] == '"' {
			if !o.text() {
				return 0, false
			}
			continue
		}
		switch c := o.src[o.at]; c {
		case '\n':
			if len(o.open) == 0 {
				o.at++
				return o.at, true
			}
		case '#', '/', '<':
			if !o.comment() {
				return 0, false
			}
			continue
		case '"', '{', '(', '[':
			o.open = append(o.open, c)
		case '}', ')', ']':
			if !o.pop(c) {
				return 0, false
			}
		}
		o.at++
	}
	return o.at, len(o.open) == 0
}

// text follows one step in quoted text.
func (o *outline) text() bool {
	c, next := o.src[o.at], o.peek(1)
	switch {
	case c == '\n':
		return false
	case c == '\\':
		o.at++ // the next character stands for itself
	case c == '"':
		o.open = o.open[:len(o.open)-1]
	case (c == '$' || c == '%') && next == c && o.peek(2) == c:
		return false
	case (c == '$' || c == '%') && next == c && o.peek(2) == '{': // is text
		o.at += 2
	case (c == '$' || c == '%') && next == '{':
		o.open = append(o.open, '$')
		o.at++
	}
	o.at++
	return o.at <= len(o.src)
}

// comment follows a text that begins with '#', '/' or '<'. A line comment ends before its line end.
func (o *outline) comment() bool {
	next := o.peek(1)
	switch c := o.src[o.at]; {
	case c == '<' && next == '<': // a heredoc
		return false
	case c == '#', c == '/' && next == '/':
		length := bytes.IndexByte(o.src[o.at:], '\n')
		if length < 0 {
			length = len(o.src) - o.at
		}
		o.at += length
	case c == '/' && next == '*':
		length := bytes.Index(o.src[o.at+2:], []byte("*/"))
		if length < 0 {
			return false
		}
		o.at += length + 4
	default:
		o.at++
	}
	return true
}

func (o *outline) pop(closing byte) bool {
	last := len(o.open) - 1
	if last < 0 {
		return false
	}
	opening := o.open[last]
	o.open = o.open[:last]
	switch closing {
	case '}':
		return opening == '{' || opening == '$'
	case ')':
		return opening == '('
	}
	return opening == '['
}

// peek is the byte so many places on; 0 after the end.
func (o *outline) peek(n int) byte {
	if o.at+n < len(o.src) {
		return o.src[o.at+n]
	}
	return 0
}

// IsOneTemplate reports whether the text of an expression is one quoted template and nothing else.
func IsOneTemplate(text string) bool {
	if len(text) < 2 || text[0] != '"' {
		return false
	}
	o := outline{src: []byte(text), open: []byte{'"'}, at: 1}
	for len(o.open) > 0 && o.at < len(o.src) {
		if o.open[len(o.open)-1] == '"' {
			if !o.text() {
				return false
			}
			continue
		}
		switch c := o.src[o.at]; c {
		case '"', '{', '(', '[':
			o.open = append(o.open, c)
		case '}', ')', ']':
			if !o.pop(c) {
				return false
			}
		}
		o.at++
	}
	return len(o.open) == 0 && o.at == len(o.src)
}
