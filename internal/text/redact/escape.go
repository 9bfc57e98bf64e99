package redact

import (
	"bytes"
	"html"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is one way to write a byte as several.
type kind struct {
	first byte // of each escape
	// read returns what the escape at the beginning of b stands for, and its length; 0 where there is none.
	read func(b []byte) (means []byte, length int)
}

var kinds = []kind{{'\\', readBackslash}, {'%', readPercent}, {'&', readEntity}}

// unescape is l without the escapes of one kind, each taken off once. It reports whether there was one.
func (l layer) unescape(of kind) (layer, bool) {
	var out layer
	isOther := false
	for i := 0; i < len(l.bytes); {
		if !isOther {
			next := bytes.IndexByte(l.bytes[i:], of.first)
			if next < 0 {
				return l, false
			}
			i += next
		}
		var means []byte
		length := 0
		if l.bytes[i] == of.first {
			means, length = of.read(l.bytes[i:])
		}
		if length > 0 && !isOther {
			isOther = true
			out = l.upTo(i)
		}
		switch {
		case length > 0:
			for _, b := range means {
				out.bytes = append(out.bytes, b)
				if out.tracked {
					out.at = append(out.at, l.source(i, i+length))
				}
			}
			i += length
		case isOther:
			out.take(l, i, l.bytes[i])
			i++
		default:
			i++
		}
	}
	return out, isOther
}

// upTo is a copy of l up to i, to which more is appended.
func (l layer) upTo(i int) layer {
	out := layer{bytes: make([]byte, 0, len(l.bytes)), tracked: l.tracked}
	if !l.tracked {
		out.bytes = append(out.bytes, l.bytes[:i]...)
		return out
	}
	for j := range i {
		out.take(l, j, l.bytes[j])
	}
	return out
}

// simple are the escapes of one character, of JSON and of the languages that services are written in.
var simple = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', '\'': '\'', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'a': '\a', 'v': '\v',
}

func readBackslash(b []byte) ([]byte, int) {
	if len(b) < 2 {
		return nil, 0
	}
	if means, ok := simple[b[1]]; ok {
		return []byte{means}, 2
	}
	switch b[1] {
	case 'x':
		if n, ok := number(b, 2, 2, 16); ok {
			return []byte{byte(n)}, 4
		}
	case 'U':
		if n, ok := number(b, 2, 8, 16); ok {
			return utf8.AppendRune(nil, n), 10
		}
	case 'u':
		return readUnicode(b)
	}
	if n, ok := number(b, 1, 3, 8); ok {
		return []byte{byte(n)}, 4
	}
	return nil, 0
}

// readUnicode reads an escape of UTF-16, or two that are one character.
func readUnicode(b []byte) ([]byte, int) {
	n, ok := number(b, 2, 4, 16)
	if !ok {
		return nil, 0
	}
	if utf16.IsSurrogate(n) && bytes.HasPrefix(b[6:], []byte(`\u`)) {
		if low, ok := number(b, 8, 4, 16); ok {
			return utf8.AppendRune(nil, utf16.DecodeRune(n, low)), 12
		}
	}
	return utf8.AppendRune(nil, n), 6
}

func readPercent(b []byte) ([]byte, int) {
	if n, ok := number(b, 1, 2, 16); ok {
		return []byte{byte(n)}, 3
	}
	return nil, 0
}

// entityMax is the length of the longest entity of HTML that stands for a character of ASCII, with room for zeros.
const entityMax = 16

func readEntity(b []byte) ([]byte, int) {
	end := bytes.IndexByte(b[:min(len(b), entityMax)], ';')
	if end < 0 {
		return nil, 0
	}
	text := string(b[:end+1])
	if means := html.UnescapeString(text); means != text {
		return []byte(means), len(text)
	}
	return nil, 0
}

// number reads so many digits at a place of b.
func number(b []byte, from, count int, base rune) (rune, bool) {
	if len(b) < from+count {
		return 0, false
	}
	var n rune
	for _, c := range b[from : from+count] {
		digit := rune(hexDigits[c])
		if digit >= base {
			return 0, false
		}
		n = n*base + digit
	}
	return n, true
}

// ends are what a text becomes when its escapes are taken off until there are none, in each order of the kinds.
func ends(text []byte) [][]byte {
	var out [][]byte
	seen := map[string]bool{}
	var follow func(l layer, left int)
	follow = func(l layer, left int) {
		if seen[string(l.bytes)] {
			return
		}
		seen[string(l.bytes)] = true
		isEnd := true
		for _, of := range kinds {
			if next, isOther := l.unescape(of); isOther && left > 0 {
				isEnd = false
				follow(next, left-1)
			}
		}
		if isEnd {
			out = append(out, l.bytes)
		}
	}
	follow(layer{bytes: text}, escapesMax)
	return out
}
