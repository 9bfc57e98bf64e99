package figures

import (
	"fmt"
	"strconv"
	"strings"
)

// promise is what remit is to reach, as a number of one row.
type promise struct {
	text  string
	name  string
	size  int
	of    func(*Results, Row) float64
	bound float64
	least bool   // the bound is the least that is allowed, not the most
	unit  string // after the number
}

func cpuRatio(_ *Results, r Row) float64  { return r.Ratio.CPU }
func wallRatio(_ *Results, r Row) float64 { return r.Ratio.Wall }
func peakRatio(_ *Results, r Row) float64 { return r.Ratio.Peak }
func rateRatio(_ *Results, r Row) float64 { return r.Ratio.Rate }
func peakOf(_ *Results, r Row) float64    { return r.Peak.Median }

// growth is how many times the CPU of a tenth of the size a row takes.
func growth(results *Results, r Row) float64 {
	tenth, ok := results.Row(r.Name, r.Size/10)
	if !ok || tenth.CPU.Median == 0 {
		return 0
	}
	return r.CPU.Median / tenth.CPU.Median
}

func promises() []promise {
	const million, tenMillion = 1_000_000, 10_000_000
	return []promise{
		{"plan with nothing to do: CPU over the floor's (csv and scan)", "plan-nothing", million, cpuRatio, 2, false, " ×"},
		{"plan with nothing to do: peak memory", "plan-nothing", million, peakOf, 300, false, " MB"},
		{"plan with nothing to do: growth from 100,000", "plan-nothing", million, growth, 11, false, " ×"},
		{"plan with nothing to do: growth from 1,000,000", "plan-nothing", tenMillion, growth, 11, false, " ×"},
		{"plan with nothing to do: peak memory", "plan-nothing", tenMillion, peakOf, 1_500, false, " MB"},
		{"first plan: CPU over the floor's (csv and scan)", "plan-first", million, cpuRatio, 4, false, " ×"},
		{"first plan: peak memory", "plan-first", million, peakOf, 450, false, " MB"},
		{"first plan: growth from 100,000", "plan-first", million, growth, 11, false, " ×"},
		{"100,000 new rows beside, look-alikes among them: CPU over the floor's", "plan-signals", million, cpuRatio, 4, false, " ×"},
		{"200 configurations with --recursive: CPU over that of their plans, one by one", "tree", million, cpuRatio, 1.1, false, " ×"},
		{"200 configurations with --recursive: wall over that of their plans, one by one", "tree", million, wallRatio, 1.1, false, " ×"},
		{"200 configurations with --recursive: peak memory over that of the largest plan", "tree", million, peakRatio, 2, false, " ×"},
		{"first progress", "plan-progress", million, func(_ *Results, r Row) float64 { return r.First.Median }, 1, false, " s"},
		{"exit after an interrupt, slowest", "plan-progress", million, func(_ *Results, r Row) float64 { return r.Stop.Max }, 1, false, " s"},
		{"Terraform's CPU over a first plan's, from CSV", "terraform-first", 5_000, cpuRatio, 1_000, true, " ×"},
		{"Terraform's CPU over a first plan's, a block each", "terraform-blocks", 10_000, cpuRatio, 30, true, " ×"},
		{"Terraform's peak memory over a first plan's, a block each", "terraform-blocks", 10_000, peakRatio, 10, true, " ×"},
		{"apply, 20 ms, 256 in flight: of the floor's transfers a second", "apply-20ms-256", 100_000, rateRatio, 0.97, true, ""},
		{"apply, 1 ms, 256 in flight: of the floor's transfers a second", "apply-1ms-256", 100_000, rateRatio, 0.85, true, ""},
		{"apply, 20 ms, 256 in flight: CPU over the floor's", "apply-20ms-256", 100_000, cpuRatio, 2, false, " ×"},
		{"the same, one processor for each side", "apply-20ms-256-pinned", 100_000, cpuRatio, 2, false, " ×"},
		{"apply, 1 ms, 256 in flight, one processor for each side: of the floor's transfers a second", "apply-1ms-256-pinned", 100_000, rateRatio, 0.65, true, ""},
		{"Terraform with restapi: wall over an apply's", "restapi-apply", 1_000, wallRatio, 50, true, " ×"},
		{"plan of one transfer: wall", "plan-one", 1, func(_ *Results, r Row) float64 { return 1000 * r.Wall.Median }, 50, false, " ms"},
		{"plan of one transfer: peak memory", "plan-one", 1, peakOf, 40, false, " MB"},
	}
}

// promised compares the results with the promises.
func promised(results Results) string {
	var b strings.Builder
	b.WriteString("| transfers | what | promised | measured | |\n|--:|---|--:|--:|---|\n")
	for _, p := range promises() {
		bound, measured, verdict := "at most ", "", "not measured"
		if p.least {
			bound = "at least "
		}
		if row, ok := results.Row(p.name, p.size); ok {
			if value := p.of(&results, row); value > 0 {
				measured, verdict = number(value)+p.unit, "**missed**"
				if p.least == (value >= p.bound) || value == p.bound {
					verdict = "kept"
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s%s%s | %s | %s |\n", count(p.size), p.text, bound, strconv.FormatFloat(p.bound, 'f', -1, 64), p.unit, measured, verdict)
	}
	return b.String()
}
