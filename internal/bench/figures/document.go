package figures

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Pages are the files of the documentation that have tables, by their paths in the repository.
var Pages = []string{"docs/performance.md", "docs/performance/commands.md", "docs/performance/machines.md"}

// Document returns pages, each a file's text, with the text between their markers
//
//	<!-- bench: NAME -->
//	<!-- end of bench: NAME -->
//
// made anew from results. A marker that no page has is an error.
func Document(pages []string, results Results) ([]string, error) {
	parts := map[string]string{"machine": sessions(results), "promises": promised(results)}
	order := []string{"machine", "promises"}
	for _, t := range tables() {
		parts[t.marker] = t.markdown(results)
		order = append(order, t.marker)
	}
	pages = slices.Clone(pages)
	for _, name := range order {
		begin, end := "<!-- bench: "+name+" -->", "<!-- end of bench: "+name+" -->"
		page := slices.IndexFunc(pages, func(text string) bool { return strings.Contains(text, begin) })
		if page < 0 {
			return nil, fmt.Errorf("the marker %q is missing", begin)
		}
		before, rest, _ := strings.Cut(pages[page], begin)
		_, after, closed := strings.Cut(rest, end)
		if !closed {
			return nil, fmt.Errorf("the end of the marker %q is missing", begin)
		}
		pages[page] = before + begin + "\n\n" + parts[name] + "\n" + end + after
	}
	return pages, nil
}

// markdown writes a table, rows of one size together, and the command that measures it.
func (t table) markdown(results Results) string {
	var b strings.Builder
	b.WriteString("| transfers | what |")
	for _, c := range t.columns {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|--:|---|" + strings.Repeat("--:|", len(t.columns)) + "\n")
	for _, size := range sizes(results) {
		for _, s := range t.scenarios {
			row, ok := results.Row(s.name, size)
			if !ok {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s |", count(size), s.title)
			for _, c := range t.columns {
				b.WriteString(" " + c.cell(row) + " |")
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "\n    go run ./internal/bench -only %s\n", strings.Join(t.names(), ","))
	return b.String()
}

func (t table) names() []string {
	names := make([]string, len(t.scenarios))
	for i, s := range t.scenarios {
		names[i] = s.name
	}
	return names
}

func sizes(results Results) []int {
	var all []int
	for _, row := range results.Rows {
		all = append(all, row.Size)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sessions lists where and when each row was measured.
func sessions(results Results) string {
	var keys []string
	for key := range results.Sessions {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		s := results.Sessions[key]
		runs, rows := 0, 0
		for _, row := range results.Rows {
			if row.Session == key {
				rows++
				if runs == 0 || row.Runs < runs {
					runs = row.Runs
				}
			}
		}
		fmt.Fprintf(&b, "- %s: %s; %s; %s; an fsync takes %s ms; commit %s; rows: %d, runs of each: at least %d",
			key, s.Machine, s.Kernel, s.Go, number(s.Fsync), s.Commit, rows, runs)
		if len(s.Others) > 0 {
			b.WriteString("; beside " + strings.Join(s.Others, ", "))
		}
		b.WriteString(".\n")
		for _, reason := range s.LeftOut {
			b.WriteString("  Left out: " + reason + ".\n")
		}
	}
	return b.String()
}

// Plain writes rows for a terminal.
func Plain(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%-22s %9s  CPU %9s  wall %9s  peak %9s", r.Name, count(r.Size), cpu(r), wall(r), peak(r))
		if r.Rate.Median > 0 {
			fmt.Fprintf(&b, "  %s/s", rate(r))
		}
		if r.First.Median > 0 {
			fmt.Fprintf(&b, "  first output after %s, exit %s after an interrupt", seconds(r.First.Median), seconds(r.Stop.Max))
		}
		for _, what := range slices.Sorted(maps.Keys(r.Waits)) {
			fmt.Fprintf(&b, "  %s after %s, p95 %s", what, seconds(r.Waits[what].P50.Median), seconds(r.Waits[what].P95.Median))
		}
		if !r.Ratio.IsZero() {
			fmt.Fprintf(&b, "  CPU %s of %s", times(r.Ratio.CPU), strings.Join(r.Ratio.Against, " + "))
		}
		if r.Ratio.Rate > 0 {
			fmt.Fprintf(&b, ", rate %.3f of it", r.Ratio.Rate)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// String says what a run took.
func (s Sample) String() string {
	text := fmt.Sprintf("CPU %s, wall %s, peak %s MB", seconds(s.CPU), seconds(s.Wall), number(s.Peak))
	if s.Rate > 0 {
		text += fmt.Sprintf(", %s/s", number(s.Rate))
	}
	if s.First > 0 {
		text += fmt.Sprintf(", first output after %s, exit %s after an interrupt", seconds(s.First), seconds(s.Stop))
	}
	for _, what := range slices.Sorted(maps.Keys(s.Waits)) {
		text += fmt.Sprintf(", %s after %s and %s", what, seconds(s.Waits[what].P50), seconds(s.Waits[what].P95))
	}
	return text
}
