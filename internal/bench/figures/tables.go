package figures

import (
	"fmt"
	"slices"
	"strings"
)

// table is one of the document, between its markers.
type table struct {
	marker    string
	scenarios []scenario // in the order of their rows
	columns   []column
}

// scenario is one that a table lists: its name, and its title there.
type scenario struct{ name, title string }

// column is one of a table: its head, and its text in a row.
type column struct {
	head string
	cell func(Row) string
}

// Title says what a scenario is, "" where it is not known.
func Title(name string) string {
	for _, s := range slices.Concat(planned(), commands(), progress(), applies(), others(), untabled()) {
		if s.name == name {
			return s.title
		}
	}
	return ""
}

func tables() []table {
	usual := []column{{"CPU", cpu}, {"CPU a transfer", each}, {"wall", wall}, {"peak memory", peak}}
	usual = append(usual, column{"CPU over the floor's", func(r Row) string { return times(r.Ratio.CPU) }})
	return []table{
		{"plan", planned(), usual},
		{"commands", commands(), append(slices.Clone(usual), column{"the floor", func(r Row) string { return strings.Join(r.Ratio.Against, " + ") }})},
		{"progress", progress(), []column{
			{"wall", wall},
			{"first progress", func(r Row) string { return seconds(r.First.Median) }},
			{"exit after an interrupt, slowest", func(r Row) string { return seconds(r.Stop.Max) }},
		}},
		{"apply", applies(), []column{
			{"transfers/s", rate}, {"of the floor's", shareOfFloor}, {"CPU", cpu}, {"wall", wall}, {"peak memory", peak},
		}},
		{"others", others(), []column{
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

// planned are the scenarios that plan, with their floors.
func planned() []scenario {
	return []scenario{
		{"plan-one", "plan of one transfer"},
		{"floor-nothing", "floor: a process that does nothing"},
		{"plan-first", "first plan, to a file"},
		{"plan-nothing", "plan with nothing to do"},
		{"plan-nothing-shuffled", "the same, rows in no order"},
		{"plan-signals", "plan of a tenth more, with look-alikes, to a file"},
		{"plan-month", "plan of the next month, a twelfth as many, after twelve equal ones, to a file"},
		{"plan-csvdecode", "first plan, `for_each` over `csvdecode`"},
		{"plan-blocks", "first plan, a block each"},
		{"tree-parts", "first plans of 200 configurations, one by one"},
		{"tree", "the same, with --recursive"},
		{"rehearse", "rehearsal of a first plan"},
		{"floor-csv", "floor: encoding/csv into structs"},
		{"floor-csv-streamed", "the same, no struct kept"},
		{"floor-csv-grown", "floor: encoding/csv into structs, a tenth more rows"},
		{"floor-scan", "floor: scan of the recorded transfers"},
	}
}

// commands are those of the commands that read a state or a plan, with their floors.
func commands() []scenario {
	return []scenario{
		{"status", "status"},
		{"why", "why, of one transfer"},
		{"graph", "graph"},
		{"validate", "validate"},
		{"fmt", "fmt --check, a block each"},
		{"show-plan", "show PLAN"},
		{"show-plan-html", "show PLAN --html"},
		{"show-plan-json", "show PLAN --json"},
		{"state-list", "state list"},
		{"state-list-json", "state list --json"},
		{"state-show", "state show, of one transfer"},
		{"state-export", "state export"},
		{"state-backup", "state backup, which verifies the copy"},
		{"audit-verify", "audit verify, and state verify"},
		{"audit-log", "audit log"},
		{"evidence", "audit export, of one run that made all"},
		{"evidence-verify", "audit verify of its pack"},
		{"show-run", "show --run, of one run that made all"},
		{"export-csv", "export --format=csv"},
		{"export-jsonl", "export --format=jsonl"},
		{"export-hledger", "export --format=hledger"},
		{"export-ledger", "export --format=ledger"},
		{"export-beancount", "export --format=beancount"},
		{"export-pain002", "export --format=pain002"},
		{"report", "report of a month that has all"},
		{"reconcile", "reconcile with an export that agrees, both sides of each"},
		{"reconcile-others", "reconcile with an export of other transfers, none of which matches"},
		{"import", "import of an export into a new state"},
		{"floor-journal", "floor: scan of the journal, and SHA-256 of it"},
		{"floor-book", "floor: records out of the journal, decoded, and written as CSV"},
		{"floor-copy", "floor: a copy of the state's file, and an fsync"},
		{"floor-records", "floor: records of an export, decoded"},
		{"floor-plan-file", "floor: lines of a saved plan, decoded, and SHA-256 of them"},
		{"floor-format", "floor: hclwrite.Format of the file"},
	}
}

// progress are those that measure when a command on a terminal first says something, and how soon it leaves.
func progress() []scenario {
	return []scenario{
		{"plan-progress", "first plan, on a terminal"},
		{"audit-verify-progress", "audit verify, on a terminal"},
		{"export-csv-progress", "export --format=csv, on a terminal"},
		{"report-progress", "report, on a terminal"},
		{"reconcile-progress", "reconcile, on a terminal"},
		{"show-run-progress", "show --run, on a terminal"},
		{"show-plan-progress", "show PLAN, on a terminal"},
	}
}

// applies are those that send, with their floors.
func applies() []scenario {
	return []scenario{
		{"apply-20ms-256", "apply; 20 ms, 256 in flight"},
		{"floor-http-20ms-256", "floor: the same requests without a record; 20 ms, 256 in flight"},
		{"apply-20ms-64", "apply; 20 ms, 64 in flight"},
		{"floor-http-20ms-64", "floor; 20 ms, 64 in flight"},
		{"apply-1ms-256", "apply; 1 ms, 256 in flight"},
		{"floor-http-1ms-256", "floor; 1 ms, 256 in flight"},
		{"apply-1ms-64", "apply; 1 ms, 64 in flight"},
		{"floor-http-1ms-64", "floor; 1 ms, 64 in flight"},
		{"apply-20ms-256-pinned", "apply; 20 ms, 256 in flight, one processor each side"},
		{"floor-http-20ms-256-pinned", "floor; 20 ms, 256 in flight, one processor each side"},
		{"apply-1ms-256-pinned", "apply; 1 ms, 256 in flight, one processor each side"},
		{"floor-http-1ms-256-pinned", "floor; 1 ms, 256 in flight, one processor each side"},
	}
}

// others are those of other programs that do the same.
func others() []scenario {
	return []scenario{
		{"terraform-first", "Terraform: first plan, from CSV"},
		{"terraform-nothing", "Terraform: plan with nothing to do, from CSV"},
		{"terraform-blocks", "Terraform: first plan, a block each"},
		{"script-nothing", "the script again, nothing to do"},
		{"terraform-apply", "Terraform: apply of `terraform_data`, which sends nothing"},
		{"restapi-apply", "Terraform with restapi: apply; 20 ms, 256 in flight"},
		{"script-20ms", "a script pays; 20 ms"},
		{"script-1ms", "a script pays; 1 ms"},
	}
}

// untabled are those whose figures no table shows: they measure waits.
func untabled() []scenario {
	return []scenario{{"lsp", "an editor that types in 10,000 blocks beside 100,000 rows"}}
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

func shareOfFloor(r Row) string {
	if r.Ratio.Rate == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", r.Ratio.Rate)
}
