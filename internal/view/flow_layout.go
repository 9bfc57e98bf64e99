package view

import (
	"cmp"
	"slices"
)

// Measures of a picture, in pixels of a font of 12.
const (
	pictureMargin = 16
	lineHeight    = 16
	boxGap        = 18
	arrowRoom     = 70 // for the bend of an arrow, beside its label
	arrowStraight = 20 // before a label
	arrowThin     = 2
	arrowThick    = 12
)

// textWidth is how wide visible text is in the picture's font, which has one width.
func textWidth(text string) int { return (displayWidth(text)*73 + 9) / 10 }

// thickness is how wide an arrow is drawn.
func (a *arrow) thickness() int { return arrowThin + a.share*(arrowThick-arrowThin)/1000 }

// picture is a diagram with a place for everything: boxes in columns from left to right, an
// arrow leaving at the right of one and ending at the left of another. An arrow that passes a column has a
// lane there, so that it crosses neither a box nor a label.
type picture struct {
	diagram
	places        []place // of the boxes, and then of the lanes
	hops          []hop
	routes        []route // of the arrows
	width, height int
}

// place is where a box or a lane is.
type place struct{ x, y, width, height, column int }

// hop is a part of an arrow, from one place to another one.
type hop struct{ arrow, from, to int }

// route is what an arrow passes, from its box on: where it bends, and from where on it is straight. One that
// leads back goes below everything, at the depth.
type route struct {
	bends []bend
	back  bool
	depth int
}

// bend is a way to the next column: straight up to the end of its own column, a curve, and straight again.
type bend struct{ startX, fromX, fromY, straightX, toX, toY int }

// draw places a diagram with its upper left corner at the margin and the given height.
func (d diagram) draw(top int) picture {
	p := picture{diagram: d, places: make([]place, len(d.boxes)), routes: make([]route, len(d.arrows))}
	if len(d.boxes) == 0 {
		p.height = top
		return p
	}
	out := make([][]int, len(d.boxes))
	for i, a := range d.arrows {
		out[a.from] = append(out[a.from], i)
	}
	columns := d.columns(out)
	for number, column := range columns {
		for _, box := range column {
			p.places[box].column = number
		}
	}
	columns = p.addLanes(columns)
	in, outHops := p.hopsOf()
	p.measure(in, outHops)
	p.placeColumns(columns, in, top)
	p.routeArrows(columns, in, outHops)
	return p
}

// columns puts each box to the right of those that lead to it. An arrow that closes a circle
// leads back and moves nothing.
func (d diagram) columns(out [][]int) [][]int {
	depth := make([]int, len(d.boxes))
	finished, isBack := d.visitAll(out)
	most := 0
	for _, box := range slices.Backward(finished) {
		for _, a := range out[box] {
			if to := d.arrows[a].to; !isBack[a] {
				depth[to] = max(depth[to], depth[box]+1)
				most = max(most, depth[to])
			}
		}
	}
	columns := make([][]int, most+1)
	for box := range d.boxes {
		columns[depth[box]] = append(columns[depth[box]], box)
	}
	return columns
}

// visitAll goes along the arrows in depth first. It returns the boxes, each after all to which it leads, and of each arrow
// whether it closes a circle.
func (d diagram) visitAll(out [][]int) (finished []int, isBack []bool) {
	finished, isBack = make([]int, 0, len(d.boxes)), make([]bool, len(d.arrows))
	const (
		isNew = iota
		isOpen
		isDone
	)
	mark := make([]int, len(d.boxes))
	var visit func(box int)
	visit = func(box int) {
		mark[box] = isOpen
		for _, a := range out[box] {
			switch mark[d.arrows[a].to] {
			case isNew:
				visit(d.arrows[a].to)
			case isOpen:
				isBack[a] = true
			}
		}
		mark[box] = isDone
		finished = append(finished, box)
	}
	for box := range d.boxes {
		if mark[box] == isNew {
			visit(box)
		}
	}
	return finished, isBack
}

// addLanes cuts arrows into hops from column to column, and adds a lane for each column that one passes.
func (p *picture) addLanes(columns [][]int) [][]int {
	for i := range p.arrows {
		a := &p.arrows[i]
		from, last := a.from, p.places[a.to].column
		p.routes[i].back = last <= p.places[a.from].column
		for column := p.places[a.from].column + 1; column < last; column++ {
			lane := len(p.places)
			p.places = append(p.places, place{column: column, height: a.thickness() + lineHeight})
			columns[column] = append(columns[column], lane)
			p.hops = append(p.hops, hop{i, from, lane})
			from = lane
		}
		p.hops = append(p.hops, hop{i, from, a.to})
	}
	return columns
}

// hopsOf are the hops that end and that begin at each place.
func (p *picture) hopsOf() (in, out [][]int) {
	in, out = make([][]int, len(p.places)), make([][]int, len(p.places))
	for i, h := range p.hops {
		out[h.from], in[h.to] = append(out[h.from], i), append(in[h.to], i)
	}
	return in, out
}

func (p *picture) isLane(place int) bool { return place >= len(p.boxes) }

// roomOf is the height that a hop takes where it begins, and where it ends below its label.
func (p *picture) roomOf(hop int) (begin, end int) {
	thickness := p.arrows[p.hops[hop].arrow].thickness()
	return thickness + 4, lineHeight + thickness + 4
}

// measure makes each box large enough for its text and for the arrows at both of its sides.
func (p *picture) measure(in, out [][]int) {
	for i := range p.boxes {
		at := &p.places[i]
		begin, end := 0, 0
		for _, h := range out[i] {
			room, _ := p.roomOf(h)
			begin += room
		}
		for _, h := range in[i] {
			_, room := p.roomOf(h)
			end += room
		}
		at.height = max(len(p.boxes[i].lines)*lineHeight+12, begin+12, end+8)
		for _, line := range p.boxes[i].lines {
			at.width = max(at.width, textWidth(line)+20)
		}
	}
}

// placeColumns stacks the boxes and lanes of each column in the order of those that lead to them, and
// leaves room for labels between the columns.
func (p *picture) placeColumns(columns, in [][]int, top int) {
	x := pictureMargin
	for number, column := range columns {
		width := 0
		heights := make(map[int]int) // of the arrows to a place, on average
		for _, at := range column {
			width = max(width, p.places[at].width)
			count := 0
			for _, h := range in[at] {
				if from := p.places[p.hops[h].from]; from.column < number {
					heights[at] += from.y + from.height/2
					count++
				}
			}
			heights[at] /= max(1, count)
		}
		slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(heights[a], heights[b]) })
		if label := p.labelWidth(column, in); label > 0 {
			x += label + arrowRoom
		} else if number > 0 {
			x += arrowRoom
		}
		y := top
		for _, at := range column {
			p.places[at].x, p.places[at].y = x, y
			if p.isLane(at) {
				p.places[at].width = width
			}
			y += p.places[at].height + boxGap
		}
		x += width
		p.height = max(p.height, y-boxGap)
	}
	p.width = x + pictureMargin
	p.centre(columns, top)
}

// labelWidth is that of the longest label before a column.
func (p *picture) labelWidth(column []int, in [][]int) int {
	label := 0
	for _, at := range column {
		for _, h := range in[at] {
			if !p.isLane(at) {
				label = max(label, textWidth(p.arrows[p.hops[h].arrow].label))
			}
		}
	}
	return label
}

// centre moves short columns to the middle of the picture.
func (p *picture) centre(columns [][]int, top int) {
	for _, column := range columns {
		last := p.places[column[len(column)-1]]
		down := (p.height - top - (last.y + last.height - top)) / 2
		for _, at := range column {
			p.places[at].y += down
		}
	}
}

// spreadBegins lets the arrows that leave a box begin one below another, around the middle of its side.
func (p *picture) spreadBegins(box place, leaving, begins []int) {
	room := 0
	for _, h := range leaving {
		begin, _ := p.roomOf(h)
		room += begin
	}
	y := box.y + (box.height-room)/2
	for _, h := range leaving {
		begin, _ := p.roomOf(h)
		begins[h] = y + begin/2
		y += begin
	}
}

// spreadEnds does so with the arrows that enter it. The label of each is above its end.
func (p *picture) spreadEnds(box place, entering, ends []int) {
	room := 0
	for _, h := range entering {
		_, end := p.roomOf(h)
		room += end
	}
	y := box.y + (box.height-room)/2
	for _, h := range entering {
		begin, end := p.roomOf(h)
		ends[h] = y + end - begin/2
		y += end
	}
}

// routeArrows spreads the arrows over the sides of the boxes, so that they cross little. All that end at a
// column are straight before its longest label begins: none crosses a label.
func (p *picture) routeArrows(columns, in, out [][]int) {
	begins, ends := make([]int, len(p.hops)), make([]int, len(p.hops))
	for i, at := range p.places {
		order := func(end func(hop) int) func(a, b int) int {
			return func(a, b int) int { return cmp.Compare(p.places[end(p.hops[a])].y, p.places[end(p.hops[b])].y) }
		}
		slices.SortStableFunc(out[i], order(func(h hop) int { return h.to }))
		slices.SortStableFunc(in[i], order(func(h hop) int { return h.from }))
		if p.isLane(i) {
			begins[out[i][0]], ends[in[i][0]] = at.y+at.height/2, at.y+at.height/2
			continue
		}
		p.spreadBegins(at, out[i], begins)
		p.spreadEnds(at, in[i], ends)
	}
	for i, h := range p.hops {
		from, to := p.places[h.from], p.places[h.to]
		p.routes[h.arrow].bends = append(p.routes[h.arrow].bends, bend{
			from.x + from.width, p.rightOf(columns[from.column]), begins[i], to.x - p.labelWidth(columns[to.column], in) - arrowStraight, to.x, ends[i],
		})
	}
	p.routeBack()
}

// rightOf is where the widest place of a column ends.
func (p *picture) rightOf(column []int) int {
	right := 0
	for _, at := range column {
		right = max(right, p.places[at].x+p.places[at].width)
	}
	return right
}

// routeBack leads arrows to where they came from below everything.
func (p *picture) routeBack() {
	for i := range p.routes {
		if r := &p.routes[i]; r.back {
			p.height += lineHeight + arrowThick
			r.depth = p.height
			p.width = max(p.width, r.bends[0].fromX+arrowRoom)
		}
	}
}
