package figures

import (
	"fmt"
	"math"
	"strings"
)

// The chart's measures, in its own units.
const (
	chartWidth, chartHeight = 760, 460
	plotLeft, plotRight     = 70, 520
	plotTop, plotBottom     = 50, 400
)

// The ends of the axes, as powers of ten: transfers, and seconds of CPU.
const (
	transfersLeast, transfersMost = 3, 6
	secondsLeast, secondsMost     = -3, 3
)

// line is one scenario in the chart.
type line struct {
	name, label string
	class       string // its colour and dashes
}

func chartLines() []line {
	return []line{
		{"terraform-first", "Terraform, from CSV", "terraform"},
		{"terraform-blocks", "Terraform, a block each", "terraform dashed"},
		{"script-nothing", "script, nothing to do", "script"},
		{"plan-blocks", "remit, a block each", "remit dashed"},
		{"plan-first", "remit, first plan", "remit"},
		{"plan-nothing", "remit, nothing to do", "remit dotted"},
		{"floor-scan", "floor: scan of the state", "floor dashed"},
		{"floor-csv", "floor: csv into structs", "floor"},
	}
}

// chartStyle has colours that can be told apart, by shades too, on white and on black.
const chartStyle = `
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px }
  .axis { stroke: #57606a; fill: none } .grid { stroke: #d0d7de; fill: none }
  path.line, path.key { fill: none; stroke-width: 2 } circle.dot { stroke: none }
  .remit { stroke: #0969da; fill: #0969da } .terraform { stroke: #8250df; fill: #8250df }
  .script { stroke: #bc4c00; fill: #bc4c00 } .floor { stroke: #6e7781; fill: #6e7781 }
  .dashed { stroke-dasharray: 7 4 } .dotted { stroke-dasharray: 2 4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .axis { stroke: #8b949e } .grid { stroke: #30363d }
    .remit { stroke: #58a6ff; fill: #58a6ff } .terraform { stroke: #bc8cff; fill: #bc8cff }
    .script { stroke: #f0883e; fill: #f0883e } .floor { stroke: #8b949e; fill: #8b949e }
  }
`

// Chart draws CPU time over the number of transfers, both axes logarithmic, as an SVG that
// can be read on light and on dark.
func Chart(results Results) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="CPU time of a plan over the number of transfers">`+"\n", chartWidth, chartHeight)
	b.WriteString("<style>" + chartStyle + "</style>\n")
	fmt.Fprintf(&b, `<text class="title" x="%d" y="24">CPU time of a plan over the number of transfers</text>`+"\n", plotLeft)
	grid(&b)
	y := float64(plotTop + 10)
	for _, l := range chartLines() {
		if l.draw(&b, results, y) {
			y += 26
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func grid(b *strings.Builder) {
	for power := transfersLeast; power <= transfersMost; power++ {
		at := across(math.Pow10(power))
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			at, plotTop, plotBottom, at, plotBottom+20, count(int(math.Pow10(power))))
	}
	for power := secondsLeast; power <= secondsMost; power++ {
		at := down(math.Pow10(power))
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, at, plotRight, plotLeft-8, at+4, axisSeconds(power))
	}
	fmt.Fprintf(b, `<path class="axis" d="M%d %dV%dH%d"/>`+"\n", plotLeft, plotTop, plotBottom, plotRight)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">transfers</text>`+"\n", (plotLeft+plotRight)/2, plotBottom+42)
}

// draw draws a line and its key, and reports whether there was anything to draw.
func (l line) draw(b *strings.Builder, results Results, y float64) bool {
	var path, dots strings.Builder
	for _, size := range sizes(results) {
		row, ok := results.Row(l.name, size)
		if !ok || row.CPU.Median <= 0 || size < int(math.Pow10(transfersLeast)) || size > int(math.Pow10(transfersMost)) {
			continue
		}
		x, y := across(float64(size)), down(row.CPU.Median)
		verb := "L"
		if path.Len() == 0 {
			verb = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", verb, x, y)
		fmt.Fprintf(&dots, `<circle class="dot %s" cx="%.1f" cy="%.1f" r="3"><title>%s, %s transfers: %s</title></circle>`+"\n",
			l.class, x, y, l.label, count(size), seconds(row.CPU.Median))
	}
	if path.Len() == 0 {
		return false
	}
	fmt.Fprintf(b, `<path class="line %s" d="%s"/>`+"\n%s", l.class, path.String(), dots.String())
	key := plotRight + 20
	fmt.Fprintf(b, `<path class="key %s" d="M%d %.1fh30"/><text x="%d" y="%.1f">%s</text>`+"\n", l.class, key, y, key+38, y+4, l.label)
	return true
}

// axisSeconds writes a power of ten of seconds.
func axisSeconds(power int) string {
	if power < 0 {
		return count(int(math.Pow10(power+3))) + " ms"
	}
	return count(int(math.Pow10(power))) + " s"
}

func across(transfers float64) float64 {
	share := (math.Log10(transfers) - transfersLeast) / (transfersMost - transfersLeast)
	return plotLeft + share*(plotRight-plotLeft)
}

// down keeps a value outside of the axis at its end.
func down(seconds float64) float64 {
	share := (math.Log10(seconds) - secondsLeast) / (secondsMost - secondsLeast)
	return plotBottom - min(max(share, 0), 1)*(plotBottom-plotTop)
}
