package view

import (
	"fmt"
	"io"

	"remit/internal/text/english"
)

// Progress tells a person how far something is that has no end in sight: on a terminal in
// one line that is written anew, elsewhere in a line each time.
type Progress struct {
	page  *page
	shown bool // the terminal shows a line
}

// NewProgress returns a Progress on w, which is what s says.
func NewProgress(w io.Writer, s Screen) *Progress { return &Progress{page: newPage(w, s)} }

// Tell shows the step under way and how many transfers it got through; 0 shows none. Nobody
// minds a line that can't be written.
func (p *Progress) Tell(doing string, transfers int64) {
	text := doing
	if transfers > 0 {
		text += ": " + english.Plural(int(transfers), "transfer")
	}
	if !p.page.Terminal {
		p.page.line(plain(text))
	} else {
		p.erase()
		p.page.span(dim(cutEnd(text, p.page.width()-1)))
		p.shown = true
	}
	_ = p.page.Flush()
}

// Clear takes the line from the terminal.
func (p *Progress) Clear() {
	p.erase()
	_ = p.page.Flush()
}

func (p *Progress) erase() {
	if p.shown {
		_, _ = fmt.Fprint(p.page, "\r\x1b[K")
		p.shown = false
	}
}
