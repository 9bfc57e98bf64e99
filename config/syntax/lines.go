package syntax

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// text is a file in lines.
type text struct {
	name    string
	lines   []string
	mayShow bool
}

// line is that of a number that counts from 1, without its line end.
func (t text) line(number int) string {
	if number < 1 || number > len(t.lines) {
		return ""
	}
	return strings.TrimRight(t.lines[number-1], "\r")
}

// at is the range of a line without the space around it.
func (t text) at(number int) hcl.Range {
	line := t.line(number)
	offset := 0
	for _, before := range t.lines[:max(number-1, 0)] {
		offset += len(before) + 1
	}
	first := len(line) - len(strings.TrimLeft(line, " \t"))
	trimmed := strings.TrimSpace(line)
	start := hcl.Pos{Line: number, Column: first + 1, Byte: offset + first}
	end := start
	end.Column += len([]rune(trimmed))
	end.Byte += len(trimmed)
	return hcl.Range{Filename: t.name, Start: start, End: end}
}
