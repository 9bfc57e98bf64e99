package figures_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/bench/figures"
)

func TestMedian(t *testing.T) {
	tests := map[string]struct {
		values []float64
		want   float64
	}{
		"of none":                       {nil, 0},
		"of one":                        {[]float64{7}, 7},
		"of an odd number, unsorted":    {[]float64{9, 1, 5}, 5},
		"of an even number":             {[]float64{4, 1, 3, 2}, 2.5},
		"is not moved by one slow run":  {[]float64{1, 1, 1, 1, 900}, 1},
		"does not mind equal values":    {[]float64{2, 2, 2}, 2},
		"is in the middle of two equal": {[]float64{1, 2, 2, 3}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := figures.Median(test.values); got != test.want {
				t.Errorf("Median(%v) = %v, want %v", test.values, got, test.want)
			}
		})
	}
}

func TestMedianLeavesItsArgument(t *testing.T) {
	values := []float64{3, 1, 2}
	figures.Median(values)
	if diff := cmp.Diff([]float64{3, 1, 2}, values); diff != "" {
		t.Error(diff)
	}
}

func row(name string, size int, cpu, peak, rate float64) figures.Row {
	return figures.NewRow(name, size, "s", []figures.Sample{{CPU: cpu, Wall: cpu, Peak: peak, Rate: rate}})
}

func TestNewRowSumsUpRuns(t *testing.T) {
	got := figures.NewRow("plan-first", 10, "s", []figures.Sample{{CPU: 3, Peak: 30}, {CPU: 1, Peak: 10}, {CPU: 2, Peak: 90}})
	want := figures.Row{
		Name: "plan-first", Size: 10, Runs: 3, Session: "s",
		CPU: figures.Spread{Median: 2, Min: 1, Max: 3}, Peak: figures.Spread{Median: 30, Min: 10, Max: 90},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDivideAddsTheFloorsUp(t *testing.T) {
	r := row("plan-nothing", 10, 9, 80, 0)
	r.Divide(row("floor-csv", 10, 1, 20, 0), row("floor-scan", 10, 2, 30, 0))
	want := figures.Ratio{Against: []string{"floor-csv", "floor-scan"}, CPU: 3, Wall: 3, FloorS: 3}
	if diff := cmp.Diff(want, r.Ratio); diff != "" {
		t.Error(diff)
	}
}

func TestDivideByOneHasItsPeakAndItsRate(t *testing.T) {
	r := row("apply-1ms-64", 10, 9, 80, 50)
	r.Divide(row("floor-http-1ms-64", 10, 3, 20, 100))
	want := figures.Ratio{Against: []string{"floor-http-1ms-64"}, CPU: 3, Wall: 3, Peak: 4, Rate: 0.5, FloorS: 3}
	if diff := cmp.Diff(want, r.Ratio); diff != "" {
		t.Error(diff)
	}
}

func TestPutReplacesRowsAndForgetsSessions(t *testing.T) {
	of := func(session string, size int) figures.Row {
		return figures.NewRow("plan-first", size, session, []figures.Sample{{CPU: 1}})
	}
	var got figures.Results
	got.Put("first", figures.Session{Machine: "slow"}, of("first", 100), of("first", 10))
	got.Put("second", figures.Session{Machine: "fast"}, of("second", 10))
	want := figures.Results{
		Sessions: map[string]figures.Session{"first": {Machine: "slow"}, "second": {Machine: "fast"}},
		Rows:     []figures.Row{of("second", 10), of("first", 100)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got.Put("second", figures.Session{Machine: "fast"}, of("second", 100))
	if _, ok := got.Sessions["first"]; ok {
		t.Error("a session of which no row is left was kept")
	}
}

func TestResultsAreReadAsWritten(t *testing.T) {
	var r figures.Results
	first := row("plan-first", 10, 0.12345, 1, 0)
	first.Divide(row("floor-csv", 10, 1, 1, 0))
	r.Put("s", figures.Session{Machine: "m"}, first)
	path := filepath.Join(t.TempDir(), "results.json")
	if err := r.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := figures.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := got.Row("plan-first", 10); again.CPU.Median != 0.123 || again.Ratio.CPU != 0.123 {
		t.Errorf("three significant digits are kept, not %+v", again)
	}
	if none, err := figures.Read(filepath.Join(t.TempDir(), "none")); err != nil || len(none.Rows) != 0 {
		t.Errorf("a file that is not there holds %v, %v", none, err)
	}
}

func TestWaitsAreSummedUp(t *testing.T) {
	var all []float64
	for i := range 100 {
		all = append(all, float64(100-i))
	}
	if got := figures.NewWait(all); got != (figures.Wait{P50: 50, P95: 95}) {
		t.Errorf("%+v", got)
	}
	if got := figures.NewWait(all[:1]); got != (figures.Wait{P50: 100, P95: 100}) {
		t.Errorf("of one: %+v", got)
	}
	row := figures.NewRow("lsp", 1, "s", []figures.Sample{{Waits: map[string]figures.Wait{"hover": {P50: 1, P95: 3}}}, {Waits: map[string]figures.Wait{"hover": {P50: 2, P95: 5}}}})
	if got := row.Waits["hover"]; got.P50.Median != 1.5 || got.P95.Max != 5 {
		t.Errorf("%+v", got)
	}
}
