package config

import (
	"fmt"
	"slices"

	"remit/config/rows"
	"remit/internal/text/lazyregexp"
)

// repeatedHint says what to do where two rows have one key: r, and the one of the line first.
func (d *dataSource) repeatedHint(r *row, first int) string {
	hint := ""
	if d.where != nil {
		hint = " Rows that where leaves out count, too."
	}
	earlier := d.earlier(r, first)
	if earlier != nil && slices.Equal(earlier.Fields, r.Fields) {
		return hint + " The two are alike in each column that is read. If one was entered by mistake, delete it; else give each a key of its own."
	}
	hint += " Correct one of the rows, or name as key a column in which each row has a text of its own."
	if d.kind.name == "pain001" { // which nobody edits
		return hint
	}
	hint += " If there is none, add one that joins two columns"
	if earlier != nil && d.kind.name == "xlsx" {
		if other := apart(earlier, r); other >= 0 {
			return hint + fmt.Sprintf(": in row %d it would be the formula =%s&\"-\"&%s.", first, earlier.Cell(r.Table.KeyColumn), earlier.Cell(other))
		}
	}
	return hint + "."
}

// quantity matches numbers and dates. An identity that has one is another when the amount or the date is corrected.
var quantity = lazyregexp.New(`^-?[0-9][0-9.,:T-]*$`)

// apart is the first column by which two rows of one key are told apart for good; -1 where there is none.
func apart(a *rows.Row, b *row) int {
	for i := range b.Fields {
		if x, y := a.Fields[i], b.Fields[i]; x != y && x != "" && y != "" && !quantity.MatchString(x) && !quantity.MatchString(y) {
			return i
		}
	}
	return -1
}

// earlier is the row of a line before r, as the file has it. It reads the file again, once for a data block, and is
// nil for every other pair of rows: their mistakes are told as similar ones.
func (d *dataSource) earlier(r *row, line int) *rows.Row {
	if d.compared || line == r.Line {
		return nil
	}
	d.compared = true
	table, file, diags := d.sources.data.Open(d.file, d.format)
	if file == nil {
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	for !diags.HasErrors() {
		next, _, err := table.Next()
		if next == nil || err != nil || next.Line > line {
			return nil
		}
		if next.Line == line {
			return next
		}
	}
	return nil
}
