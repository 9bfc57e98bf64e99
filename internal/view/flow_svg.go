package view

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"

	"remit/internal/text/english"
)

const svgArrowsMax = 40

// assetColours is how many colours arrows have, by asset. A label names the asset, too.
const assetColours = 6

// colour is that of arrows of an asset, legible on a light ground and on a dark one.
func colour(asset int) string {
	return [assetColours]string{"#3f7db5", "#b5731f", "#5d9130", "#b05293", "#2b9496", "#8670c8"}[asset%assetColours]
}

// SVG writes the flow as a picture, in at most 40 arrows and those of the order. It may be part of a page: it
// has neither style nor script, and its colours are the page's own (Canvas and currentColor) unless the page's
// style says otherwise of its classes flow-ground, flow-box, flow-arrow, flow-order, flow-id, flow-label, and
// flow-0 to flow-5 of arrows by asset. An arrow is as wide as its sum is large beside the largest of its
// asset. It returns only errors of w.
func (f *Flow) SVG(w io.Writer) error { return f.picture(w, svgArrowsMax) }

// picture is [Flow.SVG] in at most so many arrows.
func (f *Flow) picture(w io.Writer, arrowsMax int) error {
	b := bufio.NewWriter(w)
	money := f.money(arrowsMax).draw(pictureMargin + (len(f.title)+1)*lineHeight)
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
	money.svg(b, false)
	if len(drawn.arrows) > 0 {
		svgLines(b, pictureMargin, money.height+2*lineHeight+12, []string{"Order"})
		order.svg(b, true)
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
		html.EscapeString(strings.Join(f.title, " ")), english.Plural(len(f.edges), "pair")+" of sender and destination")
	_, _ = fmt.Fprintf(b, `<rect class="flow-ground" width="%d" height="%d" fill="Canvas"/>`+"\n", width, height)
}

// svg writes the arrows, then the boxes over them, then the labels over both.
func (p picture) svg(b *bufio.Writer, isOrder bool) {
	for i := range p.routes {
		p.arrow(b, i, isOrder)
	}
	for i := range p.boxes {
		at := p.places[i]
		_, _ = fmt.Fprintf(b, `<rect class="flow-box" x="%d" y="%d" width="%d" height="%d" rx="4" fill="Canvas" stroke="currentColor"/>`+"\n",
			at.x, at.y, at.width, at.height)
		p.boxes[i].svg(b, at)
	}
	for i, r := range p.routes {
		end := r.bends[len(r.bends)-1]
		_, _ = fmt.Fprintf(b, `<text class="flow-label" x="%d" y="%d" text-anchor="end" stroke="Canvas" stroke-width="3" paint-order="stroke">%s</text>`+"\n",
			end.toX-12, end.toY-p.arrows[i].thickness()/2-4, html.EscapeString(p.arrows[i].label))
	}
}

// svg writes the text of a box: the name, if it has one, before the IDs.
func (x box) svg(b *bufio.Writer, at place) {
	y := at.y + (at.height-len(x.lines)*lineHeight)/2 + 12
	for i, line := range x.lines {
		attributes := ""
		switch {
		case x.isNamed && i == 0:
			attributes = ` class="flow-name" font-weight="bold"`
		case x.isNamed:
			attributes = ` class="flow-id" font-size="11"`
		}
		_, _ = fmt.Fprintf(b, `<text%s x="%d" y="%d">%s</text>`+"\n", attributes, at.x+10, y+i*lineHeight, html.EscapeString(line))
	}
}

// arrow writes the line and the head of an arrow.
func (p picture) arrow(b *bufio.Writer, number int, isOrder bool) {
	a, r := &p.arrows[number], p.routes[number]
	class, dashes := fmt.Sprintf(`flow-%d" color="%s`, a.asset%assetColours, colour(a.asset)), ""
	if isOrder {
		class, dashes = "flow-order", ` stroke-dasharray="5 4"`
	}
	end, thickness := r.bends[len(r.bends)-1], a.thickness()
	length, half := 6+thickness/2, 3+thickness/2
	_, _ = fmt.Fprintf(b, `<path class="flow-arrow %s" fill="none" stroke="currentColor" stroke-width="%d" stroke-opacity="0.75"%s d="%s"/>`+"\n",
		class, thickness, dashes, r.path(length))
	_, _ = fmt.Fprintf(b, `<path class="flow-head %s" fill="currentColor" d="M%d %dl-%d -%dv%dz"><title>%s</title></path>`+"\n",
		class, end.toX, end.toY, length, half, 2*half, html.EscapeString(a.label))
}

// path is an arrow's line: bends, with straight parts behind them, up to its head.
func (r route) path(head int) string {
	if r.back {
		return r.pathBack(head)
	}
	var path strings.Builder
	_, _ = fmt.Fprintf(&path, "M%d %d", r.bends[0].startX, r.bends[0].fromY)
	for _, b := range r.bends {
		_, _ = fmt.Fprintf(&path, "H%d", b.fromX)
		middle := (b.fromX + b.straightX) / 2
		_, _ = fmt.Fprintf(&path, "C%d %d %d %d %d %d", middle, b.fromY, middle, b.toY, b.straightX, b.toY)
	}
	_, _ = fmt.Fprintf(&path, "H%d", r.bends[len(r.bends)-1].toX-head)
	return path.String()
}

// pathBack goes down beside where the arrow begins, back below everything, and up before the labels of where
// it ends.
func (r route) pathBack(head int) string {
	b := r.bends[0]
	right, left := b.fromX+arrowRoom-arrowStraight, b.straightX-arrowStraight
	return fmt.Sprintf("M%d %dH%dC%d %d %d %d %d %dH%dC%d %d %d %d %d %dH%d",
		b.startX, b.fromY, b.fromX, right, b.fromY, right, r.depth, b.fromX, r.depth, b.straightX,
		left-arrowStraight, r.depth, left-arrowStraight, b.toY, b.straightX, b.toY, b.toX-head)
}

func svgLines(b *bufio.Writer, x, y int, lines []string) {
	for i, line := range lines {
		_, _ = fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", x, y+i*lineHeight, html.EscapeString(line))
	}
}
