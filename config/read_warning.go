package config

import (
	"fmt"

	"remit/internal/text/english"
)

// ReadWarning counts the warnings of one name about one data file: cells that are read although its program
// does not show them, or rows that are left out. It is for reviewers of the transfers, who do not have the
// file.
type ReadWarning struct {
	File         string `json:"file"`
	Name         string `json:"name"` // as the argument acknowledge knows it; or one of the names below
	Count        int    `json:"count"`
	Of           int    `json:"of,omitempty"`    // how many rows there are, of those that a condition leaves out
	Lines        []int  `json:"lines,omitempty"` // the first few; none of a sheet
	Acknowledged bool   `json:"acknowledged,omitempty"`
}

// Names of rows that the author's own condition leaves out. Nobody is warned of them, but reviewers know their number.
const (
	LeftOutByWhere = "left_out_by_where"
	LeftOutByIf    = "left_out_by_if" // of the for expression of a for_each
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

// leftOutNotes tell the author how many rows the conditions of a data source leave out.
func leftOutNotes(all []ReadWarning) []string {
	var notes []string
	for _, w := range all {
		switch w.Name {
		case LeftOutByWhere:
			notes = append(notes, fmt.Sprintf("where leaves out %d of %s", w.Count, english.Plural(w.Of, "row")))
		case LeftOutByIf:
			notes = append(notes, fmt.Sprintf("if leaves out %d of %s", w.Count, english.Plural(w.Of, "row")))
		}
	}
	return notes
}
