package figures_test

import (
	"strings"
	"testing"

	"remit/internal/bench/figures"
)

// compared is a row of plan-first and its floor, both with their CPU time and peak.
func compared(cpu, floor, peak float64) figures.Row {
	r := row("plan-first", 100_000, cpu, peak, 0)
	r.Divide(row("floor-csv", 100_000, floor, 10, 0))
	return r
}

// submitted is an apply and its floor, which take some CPU time at some rate.
func submitted(name string, cpu, rate, floorCPU, floorRate float64) figures.Row {
	r := row("apply-"+name, 10_000, cpu, 50, rate)
	r.Divide(row("floor-http-"+name, 10_000, floorCPU, 10, floorRate))
	return r
}

func TestCompare(t *testing.T) {
	var committed figures.Results
	const waiting, busy = "20ms-256", "1ms-256"
	committed.Put("s", figures.Session{}, compared(1, 0.5, 100), submitted(waiting, 1, 9_000, 0.5, 10_000), submitted(busy, 1, 10_000, 0.5, 20_000))
	alone := row("plan-first", 100_000, 99, 100, 0)
	tests := map[string]struct {
		now  figures.Row
		want string // part of the only regression; "" for none
	}{
		"the same":                                 {compared(1, 0.5, 100), ""},
		"a machine of half the speed":              {compared(2, 1, 100), ""},
		"a machine of ten times the speed":         {compared(0.1, 0.05, 100), ""},
		"a little slower against the floor":        {compared(1.4, 0.5, 100), ""},
		"twice as slow against the floor":          {compared(2, 0.5, 100), "4.00 times the floor's CPU time; 2.00 is committed"},
		"twice as slow, within the noise":          {compared(0.04, 0.01, 100), ""},
		"faster":                                   {compared(0.2, 0.5, 100), ""},
		"twice the memory":                         {compared(1, 0.5, 200), "peak memory 200 MB; 100 MB is committed"},
		"a little more memory":                     {compared(1, 0.5, 155), ""},
		"a row without its floor":                  {alone, ""},
		"a row of another size":                    {row("plan-first", 10, 99, 9_999, 0), ""},
		"the same rate":                            {submitted(waiting, 1, 9_000, 0.5, 10_000), ""},
		"half the rate of the floor":               {submitted(waiting, 1, 4_500, 0.5, 10_000), "0.450 of the floor's rate; 0.900 is committed"},
		"half the rate where the floor's is, too":  {submitted(waiting, 1, 4_500, 0.5, 5_000), ""},
		"a higher share of the rate than recorded": {submitted(waiting, 1, 10_000, 0.5, 10_000), ""},

		"a slow machine, where the floor still waits": {submitted(waiting, 3, 3_300, 1.5, 10_000), ""},
		"waits on a slow machine":                     {submitted(waiting, 3, 1_500, 1.5, 10_000), "0.150 of the floor's rate; 0.900 is committed"},
		"less than half the rate, and somewhat more CPU time": {
			submitted(waiting, 1.45, 4_200, 0.5, 10_000), "0.420 of the floor's rate; 0.900 is committed",
		},
		"twice the CPU time at the same rate":   {submitted(waiting, 2, 9_000, 0.5, 10_000), "4.00 times the floor's CPU time; 2.00 is committed"},
		"twice the CPU time at half the rate":   {submitted(waiting, 2, 4_500, 0.5, 10_000), "4.00 times the floor's CPU time; 2.00 is committed"},
		"a slow machine, where the floor works": {submitted(busy, 3, 3_300, 1.5, 6_600), ""},
		"half the rate of a floor that works":   {submitted(busy, 1, 5_000, 0.5, 20_000), "0.250 of the floor's rate; 0.500 is committed"},
		"slower, however busy, than a floor that works": {
			submitted(busy, 1.4, 6_000, 0.5, 20_000), "0.300 of the floor's rate; 0.500 is committed",
		},
		"twice the CPU time beside a floor that works": {submitted(busy, 2, 10_000, 0.5, 20_000), "4.00 times the floor's CPU time"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := figures.Compare(committed, []figures.Row{test.now})
			switch {
			case test.want == "" && len(found) > 0:
				t.Errorf("unexpected regressions: %v", found)
			case test.want != "" && (len(found) != 1 || !strings.Contains(found[0].What, test.want)):
				t.Errorf("found %v, want one with %q", found, test.want)
			}
		})
	}
}
