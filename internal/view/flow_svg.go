package view

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

const svgArrowsMax = 40

// SVG writes the flow as a picture, in at most 40 arrows and those of the order. It may stand
// in a page: it has neither style nor script, and its colours are the page's own (Canvas and
// currentColor) unless the page's style says otherwise of its classes flow-ground, flow-box,
// flow-arrow, flow-order and flow-label. It returns only errors of w.
func (f *Flow) SVG(w io.Writer) error {
	b := bufio.NewWriter(w)
	money := f.money(svgArrowsMax).draw(pictureMargin + (len(f.title)+1)*lineHeight)
	drawn := f.order.diagram()
	order := drawn.draw(money.height + 4*lineHeight)
	width, height := money.width, money.height
	if len(drawn.arrows) > 0 {
		width, height = max(width, order.width), order.height
	}
	for _, line := range f.title {
		width = max(width, textWidth(line)+2*pictureMargin)
	}
	notes := append(money.notes, drawn.notes...)
	width, height = max(width, 480), height+len(notes)*lineHeight+2*pictureMargin

	f.svgHead(b, width, height)
	svgLines(b, pictureMargin, pictureMargin+12, f.title)
	money.svg(b, "flow-arrow", "")
	if len(drawn.arrows) > 0 {
		svgLines(b, pictureMargin, money.height+2*lineHeight+12, []string{"Order"})
		order.svg(b, "flow-arrow flow-order", ` stroke-dasharray="5 4"`)
	}
	svgLines(b, pictureMargin, height-len(notes)*lineHeight, notes)
	_, _ = b.WriteString("</svg>\n")
	return b.Flush()
}

func (f *Flow) svgHead(b *bufio.Writer, width, height int) {
	_, _ = fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" class="flow" role="img" aria-labelledby="flow-title flow-desc" width="%d" height="%d" viewBox="0 0 %d %d" `,
		width, height, width, height)
	_, _ = b.WriteString(`font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="12" color="CanvasText" fill="currentColor">` + "\n")
	_, _ = fmt.Fprintf(b, "<title id=\"flow-title\">Flow of funds</title>\n<desc id=\"flow-desc\">%s Who pays whom: %s.</desc>\n",
		html.EscapeString(strings.Join(f.title, " ")), plural(len(f.edges), "pair")+" of sender and destination")
	_, _ = fmt.Fprintf(b, `<rect class="flow-ground" width="%d" height="%d" fill="Canvas"/>`+"\n", width, height)
}

// svg writes the arrows, then the boxes over them, then the labels over both.
func (p picture) svg(b *bufio.Writer, class, dashes string) {
	for i, r := range p.routes {
		_, _ = fmt.Fprintf(b, `<path class="%s" fill="none" stroke="currentColor"%s d="%s"/>`+"\n", class, dashes, r.path())
		_, _ = fmt.Fprintf(b, `<path class="flow-head" d="M%d %dl-8 -4v8z"><title>%s</title></path>`+"\n", r.toX, r.toY, html.EscapeString(p.arrows[i].label))
	}
	for i, at := range p.places {
		_, _ = fmt.Fprintf(b, `<rect class="flow-box" x="%d" y="%d" width="%d" height="%d" rx="4" fill="Canvas" stroke="currentColor"/>`+"\n",
			at.x, at.y, at.width, at.height)
		lines := p.boxes[i].lines
		svgLines(b, at.x+10, at.y+(at.height-len(lines)*lineHeight)/2+12, lines)
	}
	for i, r := range p.routes {
		_, _ = fmt.Fprintf(b, `<text class="flow-label" x="%d" y="%d" text-anchor="end" stroke="Canvas" stroke-width="3" paint-order="stroke">%s</text>`+"\n",
			r.toX-12, r.toY-4, html.EscapeString(p.arrows[i].label))
	}
}

// path is an arrow's line: a bend, and a straight end below its label.
func (r route) path() string {
	middle := (r.fromX + r.straightX) / 2
	if !r.back {
		return fmt.Sprintf("M%d %dC%d %d %d %d %d %dH%d", r.fromX, r.fromY, middle, r.fromY, middle, r.toY, r.straightX, r.toY, r.toX)
	}
	right, left := r.fromX+arrowRoom-20, r.straightX-arrowRoom+30
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %dC%d %d %d %d %d %dH%d",
		r.fromX, r.fromY, right, r.fromY, right, r.depth, middle, r.depth,
		left, r.depth, left, r.toY, r.straightX, r.toY, r.toX)
}

func svgLines(b *bufio.Writer, x, y int, lines []string) {
	for i, line := range lines {
		_, _ = fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", x, y+i*lineHeight, html.EscapeString(line))
	}
}
