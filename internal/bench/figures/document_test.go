package figures_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/bench/figures"
)

// The files of the repository.
var (
	top     = filepath.Join("..", "..", "..")
	chart   = filepath.Join(top, "docs", "performance", "cpu.svg")
	results = filepath.Join(top, "internal", "bench", "results.json")
)

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// pages are the texts of [figures.Pages].
func pages(t *testing.T) []string {
	t.Helper()
	texts := make([]string, len(figures.Pages))
	for i, name := range figures.Pages {
		texts[i] = read(t, filepath.Join(top, filepath.FromSlash(name)))
	}
	return texts
}

// TestDocumentIsThatOfTheResults fails where results.json was changed without
// "go run ./internal/bench -markdown".
func TestDocumentIsThatOfTheResults(t *testing.T) {
	committed, err := figures.Read(results)
	if err != nil {
		t.Fatal(err)
	}
	was := pages(t)
	want, err := figures.Document(was, committed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, was); diff != "" {
		t.Errorf("the pages of docs/performance.md are not those of results.json; run: go run ./internal/bench -markdown\n%s", diff)
	}
	if diff := cmp.Diff(figures.Chart(committed), read(t, chart)); diff != "" {
		t.Errorf("docs/performance/cpu.svg is not that of results.json; run: go run ./internal/bench -markdown\n%s", diff)
	}
}

func some() figures.Results {
	var r figures.Results
	floor := row("floor-csv", 1000, 0.01, 10, 0)
	first := row("plan-first", 1000, 0.025, 40, 0)
	first.Divide(floor)
	more := row("plan-first", 10_000, 2, 40, 0)
	r.Put("2026-01-01T00:00:00Z", figures.Session{Machine: "a machine", Kernel: "a kernel", Go: "go0", Commit: "c", Fsync: 1.5}, floor, first, more)
	for i := range r.Rows {
		r.Rows[i].Session = "2026-01-01T00:00:00Z"
	}
	r.Sessions = map[string]figures.Session{"2026-01-01T00:00:00Z": {Machine: "a machine", Kernel: "a kernel", Go: "go0", Commit: "c", Fsync: 1.5}}
	return r
}

func TestDocumentWritesTables(t *testing.T) {
	written, err := figures.Document(pages(t), some())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(written, "")
	for _, want := range []string{
		"| 1,000 | first plan, to a file | 25.0 ms | 25.0 µs | 25.0 ms | 40.0 MB | 2.50 × |",
		"| 10,000 | first plan, to a file | 2.00 s | 200 µs | 2.00 s | 40.0 MB |  |",
		"- 2026-01-01T00:00:00Z: a machine; a kernel; go0; an fsync takes 1.50 ms; commit c; rows: 3, runs of each: at least 1.",
		"[Where the time goes](profile.md) has the parts",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
	again, err := figures.Document(written, some())
	if diff := cmp.Diff(written, again); err != nil || diff != "" {
		t.Errorf("written twice it is another: %v\n%s", err, diff)
	}
}

func TestDocumentNeedsItsMarkers(t *testing.T) {
	for _, marker := range []string{"<!-- end of bench: apply -->", "<!-- bench: commands -->"} {
		without := pages(t)
		for i, text := range without {
			without[i] = strings.Replace(text, marker, "", 1)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(marker, "<!-- "), "end of "), " -->")
		if _, err := figures.Document(without, some()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", marker, err)
		}
	}
}

func TestDocumentSaysWhetherAPromiseIsKept(t *testing.T) {
	for cpu, verdict := range map[float64]string{3: "| 3.00 × | kept |", 5: "| 5.00 × | **missed** |"} {
		var r figures.Results
		floor := row("floor-csv", 1_000_000, 1, 10, 0)
		first := row("plan-first", 1_000_000, cpu, 40, 0)
		first.Divide(floor)
		r.Put("s", figures.Session{}, floor, first)
		written, err := figures.Document(pages(t), r)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(written, "")
		if want := "first plan: CPU over the floor's (csv and scan) | at most 4 × " + verdict; !strings.Contains(text, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
}

func TestChartIsXMLWithALineForEachScenario(t *testing.T) {
	svg := figures.Chart(some())
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(svg, `class="line `); got != 2 {
		t.Errorf("%d lines for the two scenarios that were measured", got)
	}
	if !strings.Contains(svg, "remit, first plan, 10,000 transfers: 2.00 s") {
		t.Error("a point lacks its numbers")
	}
	// Ten times the transfers are a third of the axis.
	if !strings.Contains(svg, `M70.0 `) || !strings.Contains(svg, `L220.0 `) {
		t.Errorf("points are not where their size is:\n%s", svg)
	}
	for _, number := range []string{"NaN", "Inf"} {
		if strings.Contains(svg, number) {
			t.Errorf("there is %s in the chart", number)
		}
	}
}
