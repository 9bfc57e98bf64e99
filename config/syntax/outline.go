package syntax

import "bytes"

// outline follows the brackets, texts and comments of a file, and nothing else.
type outline struct {
	src  []byte
	at   int
	open []byte // brackets and quotation marks that are open; '$' is an interpolation

	wrong bool // it can't be followed because it has a mistake
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
				o.wrong = true
				return 0, false
			}
		}
		o.at++
	}
	o.wrong = len(o.open) > 0
	return o.at, !o.wrong
}

// text follows one step in quoted text.
func (o *outline) text() bool {
	c, next := o.src[o.at], o.peek(1)
	switch {
	case c == '\n':
		o.wrong = true
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
