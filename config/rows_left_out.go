package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/config/rows"
	"remit/internal/text/english"
)

// rowsLeftOut counts the rows of one reading of a data source that its arguments leave out, and finds those at the end that look
// like a payment.
type rowsLeftOut struct {
	source  *dataSource
	byWhere ReadWarning
	bySkip  ReadWarning
	filled  []bool // by column: each row so far has text there; nil where nothing is left out at the end
}

func newRowsLeftOut(d *dataSource) *rowsLeftOut {
	l := &rowsLeftOut{
		source:  d,
		byWhere: ReadWarning{File: d.file.Name, Sheet: d.sheet, Name: LeftOutByWhere},
		bySkip:  ReadWarning{File: d.file.Name, Sheet: d.sheet, Name: SkippedRows},
	}
	d.leftOut = nil
	if endsEarly(d) {
		l.filled = slices.Repeat([]bool{true}, len(d.columns))
	}
	return l
}

// endsEarly reports whether an argument may leave out rows at the end of the file.
func endsEarly(d *dataSource) bool {
	return d.block.Arguments["skip_last"] != nil || d.block.Arguments["range"] != nil
}

// where notes a row that where leaves out.
func (l *rowsLeftOut) where(r *rows.Row) {
	l.byWhere.note(r.Line)
	l.source.noteLeftOut("where", r)
}

// accept notes in which columns a row has text.
func (l *rowsLeftOut) accept(r *rows.Row) {
	for i, isFilled := range l.filled {
		l.filled[i] = isFilled && r.Fields[i] != ""
	}
}

// end notes the rows that are left out at the end of a table that was read, and warns of those that look like a payment: a row of
// totals lacks the column that says who is paid.
func (l *rowsLeftOut) end(table *rows.Table, err error) hcl.Diagnostics {
	if err == nil {
		return nil
	}
	var diags hcl.Diagnostics
	skipped, below := table.LeftOut()
	for _, r := range skipped {
		l.bySkip.note(r.Line)
		l.source.noteLeftOut("skip_last", r)
		if columns := l.paidBy(r); columns != "" {
			diags = append(diags, mistake.Warning(r.Whole(), fullRow,
				"skip_last leaves out this row, and it has text in %s, as a row to be paid has. Is it a row of totals? If it is to be paid, correct skip_last.", columns))
		}
	}
	l.bySkip.Acknowledged = l.bySkip.Count == l.source.acknowledged[SkippedRows]
	isTold := false
	for _, r := range below {
		l.source.noteLeftOut("range", r)
		if columns := l.paidBy(r); columns != "" && !isTold {
			isTold = true
			diags = append(diags, mistake.Warning(r.Whole(), rowsBelowRange,
				"Row %d is below the range and has text in %s, as a row to be read has. An open range, such as \"A4:F\", reads all rows.", r.Line, columns))
		}
	}
	return diags
}

// all are the counts behind those of other warnings.
func (l *rowsLeftOut) all(others []ReadWarning) []ReadWarning {
	return l.bySkip.appendTo(l.byWhere.appendTo(others))
}

// paidBy says in which columns a row has text that looks like a payment; "" for any other row.
func (l *rowsLeftOut) paidBy(r *rows.Row) string {
	if !slices.Contains(r.Fields, "") {
		return "every column that is read"
	}
	for _, columns := range l.paying() {
		if slices.ContainsFunc(columns, func(i int) bool { return r.Fields[i] == "" }) {
			continue
		}
		var names []string
		for _, i := range columns {
			names = append(names, r.Table.Columns[i])
		}
		return "the columns " + english.List(mistake.QuotedAll(names))
	}
	return ""
}

// payment is the columns that a transfer block reads of each row.
type payment struct{ who, much []string }

// paying are sets of columns: a row with text in all those of one looks like a payment. The transfers that read the rows say which
// they are. Where they name none that say who is paid, they are those in which each other row has text.
func (l *rowsLeftOut) paying() [][]int {
	key := slices.Index(l.source.columns, l.source.file.Key)
	var sets [][]int
	var amounts []int
	for _, p := range l.source.payments {
		who, ok := l.filledOf(p.who)
		much, okMuch := l.filledOf(p.much)
		if !ok || !okMuch {
			continue
		}
		amounts = append(amounts, much...)
		if len(who) > 1 || len(who) == 1 && who[0] != key {
			sets = append(sets, slices.Compact(slices.Sorted(slices.Values(slices.Concat([]int{key}, who, much)))))
		}
	}
	if sets != nil {
		return sets
	}
	filled, _ := l.filledOf(l.source.columns)
	others := len(slices.DeleteFunc(slices.Clone(filled), func(i int) bool { return i == key || slices.Contains(amounts, i) }))
	if others == 0 || others == 1 && amounts == nil { // a row of totals has a word and an amount
		return nil
	}
	return [][]int{filled}
}

// filledOf are the columns of these names in which each row so far has text; false where one of them is no column.
func (l *rowsLeftOut) filledOf(names []string) ([]int, bool) {
	var found []int
	for _, name := range names {
		i := slices.Index(l.source.columns, name)
		if i < 0 {
			return nil, false
		}
		if l.filled[i] {
			found = append(found, i)
		}
	}
	return found, true
}

// leftOutRow is a row that an argument of its data source leaves out.
type leftOutRow struct {
	by   string // the argument
	key  string
	line int
}

// leftOutMax is how many rows a data source remembers that where leaves out, and how many others.
const leftOutMax = 10_000

// noteLeftOut keeps the key and the line of a row for [LeftOut], if it is one of the first ones.
func (d *dataSource) noteLeftOut(by string, r *rows.Row) {
	most := leftOutMax
	if by != "where" {
		most += leftOutMax
	}
	if len(d.leftOut) < most && r.Key() != "" {
		d.leftOut = append(d.leftOut, leftOutRow{by, strings.Clone(r.Key()), r.Line})
	}
}
