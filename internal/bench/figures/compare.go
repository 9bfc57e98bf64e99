package figures

import (
	"fmt"
	"strings"
)

// How far a row may differ from the committed one before it is called a regression. Ratios of one
// session differ from those of another by the machine's caches, disk and neighbours.
const (
	Tolerance = 1.5   // times the committed ratio, or the committed peak
	noiseCPU  = 0.030 // seconds more than the committed ratio allows that are never one
	noisePeak = 10    // megabytes
)

// Regression is a row that became slower or larger.
type Regression struct {
	Name string
	Size int
	What string // a sentence
}

// Compare holds rows that were measured now against committed ones of the same name and
// size: the ratio of CPU time; the ratio of rates where one was measured; and peak memory,
// which is much the same on every machine. A row without a committed one, or without a
// ratio, is not judged.
func Compare(committed Results, now []Row) []Regression {
	var found []Regression
	for _, row := range now {
		old, ok := committed.Row(row.Name, row.Size)
		if !ok || old.Ratio.IsZero() || row.Ratio.IsZero() {
			continue
		}
		report := func(format string, values ...any) {
			found = append(found, Regression{row.Name, row.Size, fmt.Sprintf(format, values...)})
		}
		if row.Ratio.Rate*Tolerance < old.Ratio.Rate && !explained(row, old) {
			report("%s of the floor's rate; %s is committed", number(row.Ratio.Rate), number(old.Ratio.Rate))
		}
		if row.CPU.Median > row.Ratio.FloorS*old.Ratio.CPU*Tolerance+noiseCPU {
			report("%s times the floor's CPU time; %s is committed", number(row.Ratio.CPU), number(old.Ratio.CPU))
		}
		if row.Peak.Median > old.Peak.Median*Tolerance+noisePeak {
			report("peak memory %s MB; %s MB is committed", number(row.Peak.Median), number(old.Peak.Median))
		}
	}
	return found
}

// explained reports whether CPU time, which is judged on its own, explains a lower share of the floor's rate.
// Where the service answers after 20 ms, the floor waits most of the time, on a slow machine too, while remit has
// no time left to wait. What makes remit wait, such as fewer requests in flight, leaves it less busy than it was.
func explained(row, old Row) bool {
	const noiseBusy = 1.1
	return strings.HasPrefix(row.Name, "apply-20ms-") && busy(row)*noiseBusy >= busy(old)
}

// busy is how many seconds of CPU time a second has in which the service sees transfers.
func busy(r Row) float64 { return r.CPU.Median * r.Rate.Median / float64(r.Size) }
