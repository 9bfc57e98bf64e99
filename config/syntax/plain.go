package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

const (
	// plainDepthMax bounds how deeply blocks, lists and objects that are plain may nest.
	plainDepthMax = 16
	// firstJoining is the first character that may join the one before it, or be another one in
	// Unicode's normal form: below it each character is one column.
	firstJoining = 0x300
)

// plainParser parses blocks as most are written: their arguments are text, references, text with
// references in it, and lists and objects of these; nothing is computed or escaped. It takes a
// tenth of the time and memory that HCL's own parser does. Its one invariant: where it makes a
// body, hclsyntax.ParseConfig makes an equal one, without a diagnostic.
type plainParser struct {
	name  string
	text  string
	from  int // offset of text in its file
	at    int // in text
	line  int
	begin int // where columns of the line are counted from
}

// parsePlain parses whole lines of a file; nil where they are not plain.
func parsePlain(content []byte, name string, start hcl.Pos) *hclsyntax.Body {
	p := &plainParser{name: name, text: string(content), from: start.Byte, line: start.Line, begin: 1 - start.Column}
	p.spaces()
	return p.body(p.pos(), 0)
}

func (p *plainParser) pos() hcl.Pos {
	return hcl.Pos{Line: p.line, Column: p.at - p.begin + 1, Byte: p.from + p.at}
}

// since is the range from a place on the way to where the parser is.
func (p *plainParser) since(start hcl.Pos) hcl.Range {
	return hcl.Range{Filename: p.name, Start: start, End: p.pos()}
}

// peek is the next byte; 0 at the end.
func (p *plainParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *plainParser) spaces() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// lineEnd goes to the next line, over a comment if there is one; false where there is
// something else.
func (p *plainParser) lineEnd() bool {
	rest := p.text[p.at:]
	length := 0
	switch {
	case strings.HasPrefix(rest, "\n"):
		length = 1
	case strings.HasPrefix(rest, "\r\n"):
		length = 2
	case strings.HasPrefix(rest, "#"), strings.HasPrefix(rest, "//"):
		length = strings.IndexByte(rest, '\n') + 1
	}
	if length == 0 || !utf8.ValidString(rest[:length]) { // HCL finds no end of line behind half a character
		return false
	}
	p.at += length
	p.begin = p.at
	p.line++
	return true
}

// blank goes over spaces, ends of lines and comments.
func (p *plainParser) blank() {
	for p.spaces(); p.lineEnd(); p.spaces() {
	}
}

// body parses to the end of the text, or at a depth to the bracket that closes it.
func (p *plainParser) body(start hcl.Pos, depth int) *hclsyntax.Body {
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, Blocks: hclsyntax.Blocks{}}
	for {
		p.blank()
		isEnd := p.at == len(p.text)
		if depth > 0 {
			isEnd = p.take('}')
		}
		if isEnd {
			body.SrcRange = p.since(start)
			body.EndRange = p.since(p.pos())
			return body
		}
		if !p.item(body, depth) {
			return nil
		}
		p.spaces()
		if p.at < len(p.text) && !p.lineEnd() {
			return nil
		}
	}
}

// take goes over a byte, if it is the next.
func (p *plainParser) take(c byte) bool {
	if p.peek() != c || p.at == len(p.text) {
		return false
	}
	p.at++
	return true
}

// item parses an argument or a block to body.
func (p *plainParser) item(body *hclsyntax.Body, depth int) bool {
	start := p.pos()
	name := p.identifier()
	if name == "" {
		return false
	}
	at := p.since(start)
	p.spaces()
	if p.peek() != '=' {
		b := &hclsyntax.Block{Type: name, TypeRange: at}
		body.Blocks = append(body.Blocks, b)
		return p.block(b, depth+1)
	}
	sign := p.pos()
	if _, isTwice := body.Attributes[name]; isTwice || !p.take('=') {
		return false
	}
	a := &hclsyntax.Attribute{Name: name, NameRange: at, EqualsRange: p.since(sign)}
	p.spaces()
	if a.Expr = p.expression(depth + 1); a.Expr == nil {
		return false
	}
	a.SrcRange = p.since(start)
	body.Attributes[name] = a
	return true
}

// block parses the labels and the body of a block.
func (p *plainParser) block(b *hclsyntax.Block, depth int) bool {
	for {
		p.spaces()
		start := p.pos()
		switch p.peek() {
		case '{':
			p.at++
			b.OpenBraceRange = p.since(start)
			p.spaces()
			if depth > plainDepthMax || p.peek() != '}' && !p.lineEnd() {
				return false
			}
			b.Body = p.body(start, depth)
			if b.Body == nil {
				return false
			}
			b.CloseBraceRange = hcl.Range{Filename: p.name, Start: before(b.Body.EndRange.Start), End: b.Body.EndRange.Start}
			return true
		case '"':
			label, ok := p.quoted()
			if !ok {
				return false
			}
			b.Labels = append(b.Labels, label)
		default:
			label := p.identifier()
			if label == "" {
				return false
			}
			b.Labels = append(b.Labels, label)
		}
		b.LabelRanges = append(b.LabelRanges, p.since(start))
	}
}

// before is the place of the character before a place, on its line, of one byte.
func before(pos hcl.Pos) hcl.Pos {
	pos.Column--
	pos.Byte--
	return pos
}

// identifier is "" where there is none.
func (p *plainParser) identifier() string {
	from := p.at
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case p.at > from && ('0' <= c && c <= '9' || c == '-'):
		default:
			return p.text[from:p.at]
		}
	}
	return p.text[from:]
}

// quoted goes over text in quotation marks that stands for itself, and returns that text.
func (p *plainParser) quoted() (string, bool) {
	p.at++
	text := p.letters()
	return text, p.take('"')
}

// letters goes over text that stands for itself, up to anything else.
func (p *plainParser) letters() string {
	from := p.at
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"', c == '\\', c == '$', c == '%', c < ' ' && c != '\t':
			return p.text[from:p.at]
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(p.text[p.at:])
			if r >= firstJoining {
				return p.text[from:p.at]
			}
			p.begin += size - 1 // it is one column
			p.at += size
		default:
			p.at++
		}
	}
	return p.text[from:]
}

// expression is nil for anything else. The text after it is not looked at.
func (p *plainParser) expression(depth int) hclsyntax.Expression {
	switch c := p.peek(); {
	case depth > plainDepthMax:
		return nil
	case c == '"':
		return p.literal()
	case c == '[':
		return p.list(depth)
	case c == '{':
		return p.object(depth)
	}
	return p.reference()
}

// plainText is a template of one literal, as most are, in one piece of memory.
type plainText struct {
	template hclsyntax.TemplateExpr
	literal  hclsyntax.LiteralValueExpr
	parts    [1]hclsyntax.Expression
}

// literal parses quoted text, with references in it or without.
func (p *plainParser) literal() hclsyntax.Expression {
	start := p.pos()
	p.at++
	e := &plainText{}
	parts, inner := e.parts[:0], p.pos()
	if text := p.letters(); text != "" || p.peek() == '"' {
		if text == "" { // HCL has it after the quotation mark
			inner.Column++
			inner.Byte++
		}
		e.literal = hclsyntax.LiteralValueExpr{Val: cty.StringVal(text), SrcRange: p.since(inner)}
		if text == "" {
			e.literal.SrcRange.End = inner
		}
		parts = append(parts, &e.literal)
	}
	for p.peek() == '$' {
		reference := p.interpolation()
		if reference == nil {
			return nil
		}
		parts, inner = append(parts, reference), p.pos()
		if text := p.letters(); text != "" {
			parts = append(parts, &hclsyntax.LiteralValueExpr{Val: cty.StringVal(text), SrcRange: p.since(inner)})
		}
	}
	if !p.take('"') {
		return nil
	}
	if len(parts) == 1 && parts[0] != hclsyntax.Expression(&e.literal) {
		return &hclsyntax.TemplateWrapExpr{Wrapped: parts[0], SrcRange: p.since(start)}
	}
	e.template = hclsyntax.TemplateExpr{Parts: parts, SrcRange: p.since(start)}
	return &e.template
}

// interpolation parses a reference between ${ and }.
func (p *plainParser) interpolation() hclsyntax.Expression {
	if !p.take('$') || !p.take('{') {
		return nil
	}
	p.spaces()
	reference := p.reference()
	p.spaces()
	if reference == nil || !p.take('}') {
		return nil
	}
	return reference
}

// reference parses names with dots between them.
func (p *plainParser) reference() hclsyntax.Expression {
	start := p.pos()
	name := p.identifier()
	at := p.since(start)
	switch name {
	case "":
		return nil
	case "true", "false":
		return &hclsyntax.LiteralValueExpr{Val: cty.BoolVal(name == "true"), SrcRange: at}
	case "null":
		return &hclsyntax.LiteralValueExpr{Val: cty.NullVal(cty.DynamicPseudoType), SrcRange: at}
	}
	path := make(hcl.Traversal, 1, 2)
	path[0] = hcl.TraverseRoot{Name: name, SrcRange: at}
	for p.peek() == '.' {
		dot := p.pos()
		p.at++
		name := p.identifier()
		if name == "" {
			return nil
		}
		path = append(path, hcl.TraverseAttr{Name: name, SrcRange: p.since(dot)})
	}
	return &hclsyntax.ScopeTraversalExpr{Traversal: path, SrcRange: p.since(start)}
}

func (p *plainParser) list(depth int) hclsyntax.Expression {
	start := p.pos()
	p.at++
	list := &hclsyntax.TupleConsExpr{OpenRange: p.since(start)}
	for {
		p.blank()
		if p.take(']') {
			break
		}
		item := p.expression(depth + 1)
		if item == nil || isKeyword(item, "for") {
			return nil
		}
		list.Exprs = append(list.Exprs, item)
		p.blank()
		if p.take(']') {
			break
		}
		if !p.take(',') {
			return nil
		}
	}
	list.SrcRange = p.since(start)
	return list
}

func (p *plainParser) object(depth int) hclsyntax.Expression {
	start := p.pos()
	p.at++
	object := &hclsyntax.ObjectConsExpr{OpenRange: p.since(start)}
	for {
		p.blank()
		if p.take('}') {
			break
		}
		item := hclsyntax.ObjectConsItem{}
		if !p.pair(&item, depth+1) {
			return nil
		}
		object.Items = append(object.Items, item)
		p.spaces()
		if p.take('}') {
			break
		}
		if !p.take(',') && !p.lineEnd() {
			return nil
		}
	}
	object.SrcRange = p.since(start)
	return object
}

// pair parses a key and its value.
func (p *plainParser) pair(item *hclsyntax.ObjectConsItem, depth int) bool {
	key := p.expression(depth)
	if key == nil || isKeyword(key, "for") {
		return false
	}
	item.KeyExpr = &hclsyntax.ObjectConsKeyExpr{Wrapped: key}
	p.spaces()
	if !p.take('=') {
		return false
	}
	p.spaces()
	item.ValueExpr = p.expression(depth)
	return item.ValueExpr != nil
}

// isKeyword reports whether an expression begins with a name.
func isKeyword(expr hclsyntax.Expression, name string) bool {
	path := Traversal(expr)
	return path != nil && path.RootName() == name
}
