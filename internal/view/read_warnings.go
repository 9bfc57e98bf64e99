package view

import (
	"fmt"
	"strings"

	"remit/config"
	"remit/internal/text/english"
	"remit/planner"
)

// readTitle stands before the warnings of the data files of a plan.
const readTitle = "As its author read the files"

// lackTitle stands before what the state of a plan lacks.
const lackTitle = "Lines may have been paid already: the state lacks"

// lackOf is what the state of a plan lacks, as a list of names.
func lackOf(plan *planner.Plan) []string {
	if plan.Header.Lacks == "" {
		return nil
	}
	return []string{plan.Header.Lacks}
}

// readWarnings are the warnings about the data files of a plan: for each file, or sheet of it, its clauses. Where the plan sends nothing, nobody reviews it: its
// author alone reads it, who has acknowledged some of them.
func readWarnings(plan *planner.Plan) []string {
	if plan.Empty() && plan.Applicable() {
		return unknownReadWarnings(plan)
	}
	return readWarningsWhere(plan, func(*config.ReadWarning) bool { return true })
}

// unknownReadWarnings are those that the author did not acknowledge.
func unknownReadWarnings(plan *planner.Plan) []string {
	return readWarningsWhere(plan, func(w *config.ReadWarning) bool { return !w.Acknowledged })
}

func readWarningsWhere(plan *planner.Plan, isTold func(*config.ReadWarning) bool) []string {
	var texts []string
	last := ""
	for i := range plan.Header.ReadWarnings {
		w := &plan.Header.ReadWarnings[i]
		switch {
		case !isTold(w):
		case w.In() == last:
			texts[len(texts)-1] += "; " + readWarning(w)
		default:
			texts = append(texts, w.In()+": "+readWarning(w))
			last = w.In()
		}
	}
	return texts
}

// readWarning is what a reviewer is told of one kind of warning about one file.
func readWarning(w *config.ReadWarning) string {
	noun, verb := strings.ReplaceAll(strings.TrimSuffix(w.Name, "s"), "_", " "), "read"
	switch w.Name {
	case "formula_columns":
		noun = "column with formulas"
	case "struck_rows":
		noun = "struck-through row"
	case "same_number_keys":
		noun = "key that is the same number as another"
	case "full_rows_left_out":
		noun, verb = "full row", "left out"
	case "rows_below_range":
		noun, verb = "row below the range", "left out"
	}
	was := "were"
	if w.Count == 1 {
		was = "was"
	}
	text := fmt.Sprintf("%s %s %s", countOf(w.Count, noun), was, verb)
	switch w.Name {
	case config.LeftOutByWhere:
		text = fmt.Sprintf("where leaves out %d of %s", w.Count, english.Plural(w.Of, "row"))
	case config.SkippedRows:
		text = "skip_last leaves out " + english.Plural(w.Count, "row")
	case config.LeftOutByLookUp:
		text = fmt.Sprintf("lookup leaves out %d of %s", w.Count, english.Plural(w.Of, "row"))
	case "other_currency":
		text = fmt.Sprintf("another currency than the asset was found %s", times(w.Count))
	case "two_names":
		text = fmt.Sprintf("%s the destination of the row above under another name", rowsThat(w.Count, "pays", "pay"))
	case "counted_ids":
		text = fmt.Sprintf("%s the ID of the row above plus one", rowsThat(w.Count, "has", "have"))
	case config.LeftOutByIf:
		text = fmt.Sprintf("an if leaves out %d of %s", w.Count, english.Plural(w.Of, "row"))
	}
	text += w.OnLines()
	if w.Acknowledged {
		text += ", acknowledged"
	}
	return text
}

// rowsThat are some rows and what they do.
func rowsThat(count int, one, many string) string {
	if count == 1 {
		return "1 row " + one
	}
	return english.Plural(count, "row") + " " + many
}

// times says how often.
func times(count int) string {
	if count == 1 {
		return "once"
	}
	return english.Plural(count, "time")
}

// countOf counts by a noun of which the first word may be the one with a plural.
func countOf(count int, noun string) string {
	first, rest, isPhrase := strings.Cut(noun, " ")
	if isPhrase && (first == "column" || first == "row") {
		return english.Plural(count, first) + " " + rest
	}
	return english.Plural(count, noun)
}
