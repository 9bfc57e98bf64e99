package figures

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// titles say what each scenario is, for the tables.
func titles() map[string]string {
	return map[string]string{
		"floor-nothing":              "floor: a process that does nothing",
		"floor-csv":                  "floor: encoding/csv into structs",
		"floor-csv-streamed":         "the same, no struct kept",
		"floor-csv-grown":            "floor: encoding/csv into structs, a tenth more rows",
		"floor-scan":                 "floor: scan of the recorded transfers",
		"lsp":                        "an editor that types in 10,000 blocks beside 100,000 rows",
		"plan-one":                   "plan of one transfer",
		"plan-first":                 "first plan, to a file",
		"plan-nothing":               "plan with nothing to do",
		"plan-nothing-shuffled":      "the same, rows in no order",
		"plan-signals":               "plan of a tenth more, with look-alikes, to a file",
		"plan-month":                 "plan of the next month, a twelfth as many, after twelve equal ones, to a file",
		"plan-csvdecode":             "first plan, `for_each` over `csvdecode`",
		"plan-blocks":                "first plan, a block each",
		"tree-parts":                 "first plans of 200 configurations, one by one",
		"tree":                       "the same, with --recursive",
		"rehearse":                   "rehearsal of a first plan",
		"plan-progress":              "first plan, on a terminal",
		"floor-journal":              "floor: scan of the journal, and SHA-256 of it",
		"floor-book":                 "floor: records out of the journal, decoded, and written as CSV",
		"floor-copy":                 "floor: a copy of the state's file, and an fsync",
		"floor-records":              "floor: records of an export, decoded",
		"floor-plan-file":            "floor: lines of a saved plan, decoded, and SHA-256 of them",
		"floor-format":               "floor: hclwrite.Format of the file",
		"status":                     "status",
		"why":                        "why, of one transfer",
		"graph":                      "graph",
		"validate":                   "validate",
		"state-list":                 "state list",
		"state-list-json":            "state list --json",
		"state-show":                 "state show, of one transfer",
		"state-export":               "state export",
		"state-backup":               "state backup, which verifies the copy",
		"audit-verify":               "audit verify, and state verify",
		"audit-log":                  "audit log",
		"export-csv":                 "export --format=csv",
		"export-jsonl":               "export --format=jsonl",
		"export-hledger":             "export --format=hledger",
		"export-ledger":              "export --format=ledger",
		"export-beancount":           "export --format=beancount",
		"export-pain002":             "export --format=pain002",
		"report":                     "report of a month that has all",
		"reconcile":                  "reconcile with an export that agrees, both sides of each",
		"reconcile-others":           "reconcile with an export of other transfers, none of which matches",
		"show-run":                   "show --run, of one run that made all",
		"show-plan":                  "show PLAN",
		"show-plan-html":             "show PLAN --html",
		"show-plan-json":             "show PLAN --json",
		"fmt":                        "fmt --check, a block each",
		"evidence":                   "audit export, of one run that made all",
		"evidence-verify":            "audit verify of its pack",
		"import":                     "import of an export into a new state",
		"audit-verify-progress":      "audit verify, on a terminal",
		"export-csv-progress":        "export --format=csv, on a terminal",
		"report-progress":            "report, on a terminal",
		"reconcile-progress":         "reconcile, on a terminal",
		"show-run-progress":          "show --run, on a terminal",
		"show-plan-progress":         "show PLAN, on a terminal",
		"floor-http-20ms-256":        "floor: the same requests without a record; 20 ms, 256 in flight",
		"apply-20ms-256":             "apply; 20 ms, 256 in flight",
		"floor-http-20ms-256-pinned": "floor; 20 ms, 256 in flight, one processor each side",
		"apply-20ms-256-pinned":      "apply; 20 ms, 256 in flight, one processor each side",
		"floor-http-1ms-256-pinned":  "floor; 1 ms, 256 in flight, one processor each side",
		"apply-1ms-256-pinned":       "apply; 1 ms, 256 in flight, one processor each side",
		"floor-http-20ms-64":         "floor; 20 ms, 64 in flight",
		"apply-20ms-64":              "apply; 20 ms, 64 in flight",
		"floor-http-1ms-256":         "floor; 1 ms, 256 in flight",
		"apply-1ms-256":              "apply; 1 ms, 256 in flight",
		"floor-http-1ms-64":          "floor; 1 ms, 64 in flight",
		"apply-1ms-64":               "apply; 1 ms, 64 in flight",
		"script-20ms":                "a script pays; 20 ms",
		"script-1ms":                 "a script pays; 1 ms",
		"script-nothing":             "the script again, nothing to do",
		"terraform-first":            "Terraform: first plan, from CSV",
		"terraform-nothing":          "Terraform: plan with nothing to do, from CSV",
		"terraform-apply":            "Terraform: apply of `terraform_data`, which sends nothing",
		"terraform-blocks":           "Terraform: first plan, a block each",
		"restapi-apply":              "Terraform with restapi: apply; 20 ms, 256 in flight",
	}
}

// Title says what a scenario is, "" where it is not known.
func Title(name string) string { return titles()[name] }

// column is one of a table: its head, and its text in a row.
type column struct {
	head string
	cell func(Row) string
}

// table is one of the document, between its markers.
type table struct {
	marker  string
	names   []string // the scenarios, in the order of their rows
	columns []column
}

func cpu(r Row) string  { return seconds(r.CPU.Median) }
func wall(r Row) string { return seconds(r.Wall.Median) }
func peak(r Row) string { return number(r.Peak.Median) + " MB" }

func rate(r Row) string {
	if r.Rate.Median == 0 {
		return ""
	}
	return number(r.Rate.Median)
}

func times(v float64) string {
	if v == 0 {
		return ""
	}
	return number(v) + " ×"
}

func each(r Row) string { return number(r.CPU.Median/float64(r.Size)*1e6) + " µs" }

func tables() []table {
	usual := []column{{"CPU", cpu}, {"CPU a transfer", each}, {"wall", wall}, {"peak memory", peak}}
	overFloor := column{"CPU over the floor's", func(r Row) string { return times(r.Ratio.CPU) }}
	return []table{
		{"plan", []string{
			"plan-one", "floor-nothing", "plan-first", "plan-nothing", "plan-nothing-shuffled", "plan-signals", "plan-month",
			"plan-csvdecode", "plan-blocks", "tree-parts", "tree", "rehearse", "floor-csv", "floor-csv-streamed", "floor-csv-grown", "floor-scan",
		}, append(slices.Clone(usual), overFloor)},
		{"commands", []string{
			"status", "why", "graph", "validate", "fmt", "show-plan", "show-plan-html", "show-plan-json",
			"state-list", "state-list-json", "state-show", "state-export", "state-backup", "audit-verify", "audit-log",
			"evidence", "evidence-verify", "show-run",
			"export-csv", "export-jsonl", "export-hledger", "export-ledger", "export-beancount", "export-pain002",
			"report", "reconcile", "reconcile-others", "import",
			"floor-journal", "floor-book", "floor-copy", "floor-records", "floor-plan-file", "floor-format",
		}, append(slices.Clone(usual), overFloor, column{"the floor", func(r Row) string { return strings.Join(r.Ratio.Against, " + ") }})},
		{"progress", []string{
			"plan-progress", "audit-verify-progress", "export-csv-progress", "report-progress", "reconcile-progress", "show-run-progress", "show-plan-progress",
		}, []column{
			{"wall", wall},
			{"first progress", func(r Row) string { return seconds(r.First.Median) }},
			{"exit after an interrupt, slowest", func(r Row) string { return seconds(r.Stop.Max) }},
		}},
		{"apply", []string{
			"apply-20ms-256", "floor-http-20ms-256", "apply-20ms-64", "floor-http-20ms-64",
			"apply-1ms-256", "floor-http-1ms-256", "apply-1ms-64", "floor-http-1ms-64",
			"apply-20ms-256-pinned", "floor-http-20ms-256-pinned", "apply-1ms-256-pinned", "floor-http-1ms-256-pinned",
		}, []column{
			{"transfers/s", rate},
			{"of the floor's", func(r Row) string {
				if r.Ratio.Rate == 0 {
					return ""
				}
				return fmt.Sprintf("%.2f", r.Ratio.Rate)
			}},
			{"CPU", cpu},
			{"wall", wall},
			{"peak memory", peak},
		}},
		{"others", []string{
			"terraform-first", "terraform-nothing", "terraform-blocks", "script-nothing",
			"terraform-apply", "restapi-apply", "script-20ms", "script-1ms",
		}, []column{
			{"CPU", cpu},
			{"wall", wall},
			{"peak memory", peak},
			{"remit's row", func(r Row) string { return strings.Join(r.Ratio.Against, ", ") }},
			{"CPU over remit's", func(r Row) string { return times(r.Ratio.CPU) }},
			{"wall over remit's", func(r Row) string { return times(r.Ratio.Wall) }},
			{"peak over remit's", func(r Row) string { return times(r.Ratio.Peak) }},
		}},
	}
}

// Document returns a document with the text between its markers
//
//	<!-- bench: NAME -->
//	<!-- end of bench: NAME -->
//
// made anew from results. A marker that is missing is an error.
func Document(text string, results Results) (string, error) {
	parts := map[string]string{"machine": sessions(results), "promises": promised(results)}
	order := []string{"machine", "promises"}
	for _, t := range tables() {
		parts[t.marker] = t.markdown(results)
		order = append(order, t.marker)
	}
	for _, name := range order {
		begin, end := "<!-- bench: "+name+" -->", "<!-- end of bench: "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("the marker %q, or its end, is missing", begin)
		}
		text = before + begin + "\n\n" + parts[name] + "\n" + end + after
	}
	return text, nil
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
		for _, name := range t.names {
			row, ok := results.Row(name, size)
			if !ok {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s |", count(size), Title(name))
			for _, c := range t.columns {
				b.WriteString(" " + c.cell(row) + " |")
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "\n    go run ./internal/bench -only %s\n", strings.Join(t.names, ","))
	return b.String()
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
