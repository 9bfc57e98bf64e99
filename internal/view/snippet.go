package view

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/internal/text/english"
)

const (
	snippetLinesMax  = 6
	snippetValuesMax = 10
)

// snippet writes the lines that a range touches and marks the range on them.
func (p *page) snippet(source []byte, r hcl.Range) {
	start := min(max(r.Start.Byte, 0), len(source))
	end := min(max(r.End.Byte, start), len(source))
	number := r.Start.Line
	from := bytes.LastIndexByte(source[:start], '\n') + 1
	for shown := 0; ; shown++ {
		to := len(source)
		if n := bytes.IndexByte(source[from:], '\n'); n >= 0 {
			to = from + n
		}
		if shown == snippetLinesMax {
			p.line(dim("      " + cutMark))
			return
		}
		p.sourceLine(number, source[from:to], start-from, end-from)
		if to >= end || to == len(source) {
			return
		}
		from, number = to+1, number+1
	}
}

// hidePasswords puts an asterisk for each byte of a password in a URL, as somebody may have
// written one into a state block.
func hidePasswords(line string) string {
	password := regexp.MustCompile(`[a-z]://[^\s/"@:]*:([^\s"@]+)@`)
	hidden := []byte(line)
	for _, at := range password.FindAllStringSubmatchIndex(line, -1) {
		copy(hidden[at[2]:at[3]], strings.Repeat("*", at[3]-at[2]))
	}
	return string(hidden)
}

// sourceLine writes one line of source and, below it, carets under the bytes from start to
// end. Where it is too long, the part around the marked text is shown.
func (p *page) sourceLine(number int, line []byte, start, end int) {
	text := hidePasswords(strings.TrimSuffix(string(line), "\r"))
	start, end = min(max(start, 0), len(text)), min(max(end, 0), len(text))
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) { // whole characters
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	before, marked, after := leading(text[:start]), Visible(text[start:end]), Visible(text[end:])
	label := fmt.Sprintf("%6d: ", number)
	room := p.width() - len(label) - displayWidth(p.gutter.text)
	marked = cutMiddle(marked, max(8, room*2/3))
	rest := room - displayWidth(marked)
	if displayWidth(before)+displayWidth(after) > rest {
		after = cutEnd(after, max(1, rest-min(displayWidth(before), rest/2)))
		before = cutStart(before, max(1, rest-displayWidth(after)))
	}
	p.line(dim(label), plain(before), strong(marked), plain(after))
	if strings.Trim(marked, " ") == "" && end < len(text) {
		return
	}
	carets := strings.Repeat("^", max(1, displayWidth(marked)))
	p.line(plain(strings.Repeat(" ", len(label)+displayWidth(before))), span{carets, toneBad})
}

// leading is Visible, except that tabs of an indentation are spaces and a byte-order mark
// at the start of a file is left out.
func leading(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	rest := strings.TrimLeft(text, "\t ")
	return strings.ReplaceAll(text[:len(text)-len(rest)], "\t", "  ") + Visible(rest)
}

// values writes the values of the names of a diagnostic's expression, where the expression is
// evaluated more than once. A sensitive value is left out.
func (p *page) values(d *hcl.Diagnostic) {
	if d.Expression == nil || d.EvalContext == nil {
		return
	}
	var lines []string
	for _, traversal := range d.Expression.Variables() {
		v, diags := traversal.TraverseAbs(d.EvalContext)
		if diags.HasErrors() || v == cty.NilVal || v.ContainsMarked() {
			continue
		}
		lines = append(lines, traversalText(traversal)+" is "+valueText(v))
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	for _, line := range lines[:min(len(lines), snippetValuesMax)] {
		p.line(dim("        " + cutEnd(Visible(line), p.width()-10)))
	}
}

// traversalText writes a traversal as its author would.
func traversalText(t hcl.Traversal) string {
	var b strings.Builder
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(step.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + step.Name)
		case hcl.TraverseIndex:
			b.WriteString("[" + valueText(step.Key) + "]")
		}
	}
	return b.String()
}

// valueText says briefly what a value is.
func valueText(v cty.Value) string {
	switch {
	case v.IsMarked():
		return "a sensitive value"
	case !v.IsKnown():
		return "unknown"
	case v.IsNull():
		return "null"
	case v.Type() == cty.String:
		return `"` + Visible(v.AsString()) + `"`
	case v.Type() == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case v.Type() == cty.Bool:
		return fmt.Sprint(v.True())
	case v.CanIterateElements():
		return fmt.Sprintf("%s with %s", v.Type().FriendlyName(), english.Plural(v.LengthInt(), "element"))
	}
	return v.Type().FriendlyName()
}
