package figures

import "fmt"

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
// size: where a rate was measured its ratio, else the ratio of CPU time; and peak memory,
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
		switch {
		case old.Ratio.Rate > 0:
			if row.Ratio.Rate*Tolerance < old.Ratio.Rate {
				report("%s of the floor's rate; %s is committed", number(row.Ratio.Rate), number(old.Ratio.Rate))
			}
		case row.CPU.Median > row.Ratio.FloorS*old.Ratio.CPU*Tolerance+noiseCPU:
			report("%s times the floor's CPU time; %s is committed", number(row.Ratio.CPU), number(old.Ratio.CPU))
		}
		if row.Peak.Median > old.Peak.Median*Tolerance+noisePeak {
			report("peak memory %s MB; %s MB is committed", number(row.Peak.Median), number(old.Peak.Median))
		}
	}
	return found
}
