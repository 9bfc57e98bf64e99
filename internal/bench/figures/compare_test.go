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

func submitted(rate, floor float64) figures.Row {
	r := row("apply-20ms-256", 10_000, 1, 50, rate)
	r.Divide(row("floor-http-20ms-256", 10_000, 1, 10, floor))
	return r
}

func TestCompare(t *testing.T) {
	var committed figures.Results
	committed.Put("s", figures.Session{}, compared(1, 0.5, 100), submitted(9_000, 10_000))
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
		"the same rate":                            {submitted(9_000, 10_000), ""},
		"half the rate of the floor":               {submitted(4_500, 10_000), "0.450 of the floor's rate; 0.900 is committed"},
		"half the rate where the floor's is, too":  {submitted(4_500, 5_000), ""},
		"a higher share of the rate than recorded": {submitted(10_000, 10_000), ""},
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
