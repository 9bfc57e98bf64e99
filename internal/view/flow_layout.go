package view

import (
	"cmp"
	"slices"
)

// Measures of a picture, in pixels of a font of 12.
const (
	pictureMargin = 16
	lineHeight    = 16
	portHeight    = 20 // between two arrows that end at one box
	boxGap        = 18
	arrowRoom     = 70 // for the bend of an arrow, beside its label
)

// textWidth is how wide visible text is in the picture's font, which has one width.
func textWidth(text string) int { return (displayWidth(text)*73 + 9) / 10 }

// picture is a diagram with a place for everything: boxes in columns from left to right, an
// arrow leaving at the right of one and ending at the left of another.
type picture struct {
	diagram
	places        []place
	routes        []route
	width, height int
}

// place is where a box stands.
type place struct{ x, y, width, height, column int }

// route is where an arrow begins and ends, and from where on it is straight. One that leads
// back goes below everything, at the depth.
type route struct {
	fromX, fromY, straightX, toX, toY int
	back                              bool
	depth                             int
}

// draw places a diagram with its upper left corner at the margin and the given height.
func (d diagram) draw(top int) picture {
	p := picture{diagram: d, places: make([]place, len(d.boxes)), routes: make([]route, len(d.arrows))}
	if len(d.boxes) == 0 {
		p.height = top
		return p
	}
	in, out := make([][]int, len(d.boxes)), make([][]int, len(d.boxes))
	for i, a := range d.arrows {
		out[a.from], in[a.to] = append(out[a.from], i), append(in[a.to], i)
	}
	columns := d.columns(out)
	for number, column := range columns {
		for _, box := range column {
			at := &p.places[box]
			at.column = number
			at.height = max(len(d.boxes[box].lines)*lineHeight+12, (max(len(in[box]), len(out[box]))+1)*portHeight)
			for _, line := range d.boxes[box].lines {
				at.width = max(at.width, textWidth(line)+20)
			}
		}
	}
	p.placeColumns(columns, in, top)
	p.routeArrows(in, out)
	return p
}

// columns puts each box to the right of those that lead to it. An arrow that closes a circle
// leads back and moves nothing.
func (d diagram) columns(out [][]int) [][]int {
	depth := make([]int, len(d.boxes))
	finished := make([]int, 0, len(d.boxes)) // each after all to which it leads
	const (
		isNew = iota
		isOpen
		isDone
	)
	mark := make([]int, len(d.boxes))
	isBack := make([]bool, len(d.arrows))
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

// placeColumns stacks the boxes of each column in the order of those that lead to them, and
// leaves room for labels between the columns.
func (p *picture) placeColumns(columns, in [][]int, top int) {
	x := pictureMargin
	for number, column := range columns {
		width, label := 0, 0
		heights := make(map[int]int) // of what leads to a box, on average
		for _, box := range column {
			width = max(width, p.places[box].width)
			count := 0
			for _, a := range in[box] {
				label = max(label, textWidth(p.arrows[a].label)+arrowRoom)
				if from := p.places[p.arrows[a].from]; from.column < number {
					heights[box] += from.y + from.height/2
					count++
				}
			}
			heights[box] /= max(1, count)
		}
		slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(heights[a], heights[b]) })
		x += label
		y := top
		for _, box := range column {
			p.places[box].x, p.places[box].y = x, y
			y += p.places[box].height + boxGap
		}
		x += width
		p.height = max(p.height, y-boxGap)
	}
	p.width = x + pictureMargin
	p.centre(columns, top)
}

// centre moves short columns to the middle of the picture.
func (p *picture) centre(columns [][]int, top int) {
	for _, column := range columns {
		last := p.places[column[len(column)-1]]
		down := (p.height - top - (last.y + last.height - top)) / 2
		for _, box := range column {
			p.places[box].y += down
		}
	}
}

// routeArrows spreads the arrows over the sides of the boxes, so that they cross little.
func (p *picture) routeArrows(in, out [][]int) {
	for box, at := range p.places {
		order := func(end func(arrow) int) func(a, b int) int {
			return func(a, b int) int {
				return cmp.Compare(p.places[end(p.arrows[a])].y, p.places[end(p.arrows[b])].y)
			}
		}
		slices.SortStableFunc(out[box], order(func(a arrow) int { return a.to }))
		slices.SortStableFunc(in[box], order(func(a arrow) int { return a.from }))
		for i, a := range out[box] {
			p.routes[a].fromX = at.x + at.width
			p.routes[a].fromY = at.y + (i+1)*at.height/(len(out[box])+1)
		}
		for i, a := range in[box] {
			p.routes[a].toX = at.x
			p.routes[a].toY = at.y + (i+1)*at.height/(len(in[box])+1)
			p.routes[a].straightX = at.x - textWidth(p.arrows[a].label) - 20
		}
	}
	for i, a := range p.arrows {
		if p.places[a.to].column <= p.places[a.from].column {
			p.height += portHeight
			p.routes[i].back, p.routes[i].depth = true, p.height
			p.width = max(p.width, p.routes[i].fromX+arrowRoom)
		}
	}
}
