// Package jsontext writes and reads texts of JSON (RFC 8259, section 7), a million of them at once.
//
// Its one invariant: Append writes the bytes that encoding/json writes without its escapes for HTML, and
// Cut reads every text that Append writes as encoding/json does, or refuses it.
package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Append appends a text as encoding/json writes it without its escapes for HTML.
func Append[T string | []byte](b []byte, text T) []byte {
	start := len(b)
	b = append(b, '"')
	written, ascii := 0, true
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(append(b, text[written:i]...), '\\', c)
			written = i + 1
		case c < ' ':
			return appendAny(b[:start], string(text))
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii && !isPlain(string(text)) {
		return appendAny(b[:start], string(text))
	}
	return append(append(b, text[written:]...), '"')
}

// isPlain reports whether encoding/json leaves a text without control characters as it is, but for
// quotation marks and backslashes: it mends invalid UTF-8, and escapes two separators of lines.
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsAny(text, "\u2028\u2029")
}

func appendAny(b []byte, text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // a text always has a JSON form
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// AppendFewest appends a text with the fewest escapes that RFC 8259 allows: of the quotation mark, the
// backslash and control characters. No version of a JSON package changes these bytes, so that they may be
// hashed.
func AppendFewest(b []byte, text string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	written := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, text[written:i]...)
		written = i + 1
		if c < ' ' {
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		} else {
			b = append(b, '\\', c)
		}
	}
	return append(append(b, text[written:]...), '"')
}

// Cut reads the text with which some JSON begins, and returns the rest of the JSON. It reports false for a
// text with other escapes than those of quotation marks and backslashes, and for JSON that begins otherwise. Control characters and
// invalid UTF-8, which are no JSON, it leaves as they are.
func Cut(in string) (text, rest string, ok bool) {
	rest, ok = strings.CutPrefix(in, `"`)
	if !ok {
		return "", "", false
	}
	if end := strings.IndexByte(rest, '"'); end >= 0 && strings.IndexByte(rest[:end], '\\') < 0 { // as nearly all
		return rest[:end], rest[end+1:], true
	}
	end, escapes := 0, 0
	for ; end < len(rest) && rest[end] != '"'; end++ {
		if rest[end] != '\\' {
			continue
		}
		if end++; end == len(rest) || rest[end] != '"' && rest[end] != '\\' {
			return "", "", false
		}
		escapes++
	}
	if end >= len(rest) {
		return "", "", false
	}
	var b strings.Builder
	b.Grow(end - escapes)
	for written, i := 0, 0; ; i++ {
		switch {
		case i == end:
			b.WriteString(rest[written:end])
			return b.String(), rest[end+1:], true
		case rest[i] == '\\':
			b.WriteString(rest[written:i])
			i++
			written = i
		}
	}
}

// NestedAt is the byte at which a JSON text is nested more than so many levels deep, -1 where it is nowhere. It is
// no validation.
func NestedAt[T string | []byte](text T, levels int) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > levels {
				return i
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return -1
}
