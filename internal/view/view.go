// Package view shows plans, runs, diagnostics and states to people and to programs. It
// decides nothing: each function folds data that others made into one face of it.
//
// Its one invariant: no text of a file or of the service reaches a reader unseen. Every
// span of text for people passes through [Visible], every line for programs through
// [JSON], and neither lets a character through that does not show.
//
// A subject has one file a face: plan.go is the terminal's plan, json_plan.go the program's,
// markdown_plan.go, html_plan.go and csv_plan.go are those of other readers. Each of these has
// one way of text into it as well, which keeps the text from being read as anything else:
// codeSpan and codeBlock, put, cellText.
package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"remit/internal/transfer"
)

const (
	widthDefault = 80
	widthMin     = 40
)

// Screen says how to write for a person. The zero Screen is plain text of 80 columns.
type Screen struct {
	Width    int  // columns; 0 for 80
	Color    bool // colours may be used
	Terminal bool // the writer is a terminal: a progress bar instead of lines

	// Protected says that the output is of a protected environment.
	Protected bool

	// Scales are the decimals with which amounts are shown. A plan is shown with its own.
	Scales transfer.Scales

	// Here makes a command line of remit work where the reader is: on the same directory,
	// service and variables. Commands of plans, runs and diagnostics are passed through it;
	// nil leaves them as they are.
	Here func(command string) string
}

// here is a line that may be a command of remit, made to work where the reader is.
func (s Screen) here(line string) string {
	if s.Here == nil || !strings.HasPrefix(line, "remit ") {
		return line
	}
	return s.Here(line)
}

func (s Screen) width() int {
	if s.Width <= 0 {
		return widthDefault
	}
	return max(s.Width, widthMin)
}

// tone is what a span of text means; colours follow from it and are never the only sign.
type tone int

const (
	toneNone   tone = iota
	toneGood        // will be sent, or was recorded
	toneDoubt       // a person should look
	toneBad         // stops something
	toneDim         // there if needed
	toneStrong      // read first
)

// paint has a terminal show text in the tone's colour (ECMA-48, select graphic rendition).
func (t tone) paint(text string) string {
	var code string
	switch t {
	case toneGood:
		code = "32" // green
	case toneDoubt:
		code = "33" // yellow
	case toneBad:
		code = "31" // red
	case toneDim:
		code = "2"
	case toneStrong:
		code = "1"
	case toneNone:
		return text
	}
	if text == "" {
		return ""
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}

// span is a piece of a line. Its text may come from anywhere.
type span struct {
	text string
	tone tone
}

func plain(text string) span  { return span{text, toneNone} }
func dim(text string) span    { return span{text, toneDim} }
func strong(text string) span { return span{text, toneStrong} }

// page writes lines for a person. Write errors stick in the buffer and come out of Flush.
type page struct {
	*bufio.Writer
	Screen
	gutter span // begins each line of a box
	lines  int  // written so far
}

func newPage(w io.Writer, s Screen) *page {
	return &page{Writer: bufio.NewWriter(w), Screen: s}
}

// line writes one line. Space at its end is not written.
func (p *page) line(spans ...span) {
	spans = append([]span{p.gutter}, spans...)
	for len(spans) > 0 {
		end := &spans[len(spans)-1]
		end.text = strings.TrimRight(end.text, " ")
		if end.text != "" {
			break
		}
		spans = spans[:len(spans)-1]
	}
	for _, s := range spans {
		p.span(s)
	}
	p.lines++
	_ = p.WriteByte('\n')
}

// span is the only way of text onto a page.
func (p *page) span(s span) {
	text := cutEnd(Visible(s.text), spanWidthMax)
	if p.Color {
		text = s.tone.paint(text)
	}
	_, _ = p.WriteString(text)
}

// paragraph writes text in lines that fit, each after the same indent. Lines that begin
// with a space are commands or layout and stay whole. Without an indent, all lines but the
// first are set in: only remit's own words begin a line at its left edge.
func (p *page) paragraph(indent string, text string, t tone) {
	lines := strings.Split(strings.TrimRight(cutRunes(text, paragraphRunesMax), "\n"), "\n")
	if more := len(lines) - paragraphLinesMax; more > 0 {
		lines = append(lines[:paragraphLinesMax], fmt.Sprintf("%s (and %d more lines)", cutMark, more))
	}
	for _, line := range lines {
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			inner := strings.TrimPrefix(line, "  ")
			deeper := inner[:len(inner)-len(strings.TrimLeft(inner, " "))]
			p.line(plain(indent), span{"    " + deeper + p.here(strings.TrimLeft(line, " \t")), t})
			continue
		}
		room := p.width() - displayWidth(indent) - displayWidth(p.gutter.text)
		first, rest := Visible(line), ""
		if parts := Wrap(first, room); len(parts) > 1 {
			first, rest = parts[0], strings.Join(parts[1:], " ")
		}
		p.line(plain(indent), span{first, t})
		if rest == "" {
			continue
		}
		inner := indent
		if indent == "" && p.gutter.text == "" {
			inner, room = "  ", room-2
		}
		for _, part := range Wrap(rest, room) {
			p.line(plain(inner), span{part, t})
		}
	}
}

// command writes a line that can be pasted, alone and indented. It is written as it is: what
// plans and runs say goes through here first.
func (p *page) command(indent, command string) {
	p.line(plain(indent+"    "), strong(Command(command)))
}

// table writes rows of cells in aligned columns, each after the same indent. The columns
// that right names are aligned at their right end.
func (p *page) table(indent string, rows [][]span, right ...int) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displayWidth(cell.text))
		}
	}
	isRight := make([]bool, len(widths))
	for _, column := range right {
		if column < len(isRight) {
			isRight[column] = true
		}
	}
	for _, row := range rows {
		spans := []span{plain(indent)}
		for i, cell := range row {
			fill := plain(gap(cell.text, widths[i]))
			if isRight[i] {
				spans = append(spans, fill, cell)
			} else {
				spans = append(spans, cell, fill)
			}
			spans = append(spans, plain("  "))
		}
		p.line(spans...)
	}
}
