package config

import (
	"fmt"
	"slices"
	"strings"

	"remit/internal/text/english"
)

// ReadWarning counts the warnings of one name about one data file: cells that are read although its program
// does not show them, or rows that are left out. It is for reviewers of the transfers, who do not have the
// file.
type ReadWarning struct {
	File         string `json:"file"`
	Sheet        string `json:"sheet,omitempty"` // of a workbook that shows several
	Name         string `json:"name"`            // as the argument acknowledge knows it; or one of the names below
	Count        int    `json:"count"`
	Of           int    `json:"of,omitempty"`    // how many rows there are, of those that a condition leaves out
	Lines        []int  `json:"lines,omitempty"` // the first few; none of a sheet
	Acknowledged bool   `json:"acknowledged,omitempty"`
}

// Names of rows that the author's own arguments leave out. Nobody is warned of them, but reviewers know their number.
const (
	LeftOutByWhere = "left_out_by_where"
	LeftOutByIf    = "left_out_by_if" // of the for expression of a for_each
	SkippedRows    = "skipped_rows"   // by skip_last
	// LeftOutByLookUp are rows of which others take those of their own keys.
	LeftOutByLookUp = "left_out_by_lookup"
)

// linesNamed is how many lines of a file a [ReadWarning] names.
const linesNamed = 5

// note counts a row that is left out.
func (w *ReadWarning) note(line int) {
	if w.Count++; w.Count <= linesNamed {
		w.Lines = append(w.Lines, line)
	}
}

// appendTo appends it where it counts anything.
func (w *ReadWarning) appendTo(all []ReadWarning) []ReadWarning {
	if w.Count == 0 {
		return all
	}
	return append(all, *w)
}

// In is the file, with its sheet where it shows several.
func (w *ReadWarning) In() string { return inSheet(w.File, w.Sheet) }

// OnLines names the lines, in parentheses behind a space; "" for none. Two columns may be of one line.
func (w *ReadWarning) OnLines() string {
	if len(w.Lines) == 0 {
		return ""
	}
	var lines []string
	for _, line := range slices.Compact(slices.Clone(w.Lines)) {
		lines = append(lines, fmt.Sprint(line))
	}
	word := "line"
	if len(lines) > 1 {
		word = "lines"
	}
	if more := w.Count - len(w.Lines); more > 0 {
		lines, word = append(lines, fmt.Sprintf("and %d more", more)), "lines"
	}
	return fmt.Sprintf(" (%s %s)", word, strings.Join(lines, ", "))
}

// leftOutNotes tell the author how many rows the conditions of a data source leave out.
func leftOutNotes(all []ReadWarning) []string {
	var notes []string
	for _, w := range all {
		switch w.Name {
		case LeftOutByWhere:
			notes = append(notes, fmt.Sprintf("where leaves out %d of %s%s", w.Count, english.Plural(w.Of, "row"), w.OnLines()))
		case LeftOutByLookUp:
			notes = append(notes, fmt.Sprintf("lookup leaves out %d of %s, whose keys no row has that looks them up", w.Count, english.Plural(w.Of, "row")))
		case LeftOutByIf:
			notes = append(notes, fmt.Sprintf("if leaves out %d of %s", w.Count, english.Plural(w.Of, "row")))
		}
	}
	return notes
}
