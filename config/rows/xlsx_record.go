package rows

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

// xlsxRecord is the row of a table. It is a spot.
type xlsxRecord struct {
	file   *xlsxFile
	row    int
	fields []string
	exact  []bool   // fields that are decimals already
	shown  []string // beside the number of each field; nil where nothing is
	diags  hcl.Diagnostics
}

// record makes the fields of a row, and gathers their mistakes and warnings.
func (f *xlsxFile) record(row *xlsxRow) *xlsxRecord {
	r := &xlsxRecord{file: f, row: row.number, fields: make([]string, len(f.sheetColumns)), exact: make([]bool, len(f.sheetColumns))}
	for _, cell := range row.cells {
		if i, found := slices.BinarySearch(f.sheetColumns, cell.column); found {
			r.fields[i], r.exact[i] = cell.text, cell.decimal
			if cell.beside != "" {
				r.show(i, cell.beside)
			}
		}
	}
	if row.hidden {
		r.diags = append(r.diags, mistake.Warning(r.whole(), "Row is hidden",
			"Row %d is hidden in the sheet %q, perhaps by a filter, and remit reads it all the same.", row.number, f.sheet.name))
	}
	r.warnOfStruck(row)
	for _, cell := range row.cells {
		i, found := slices.BinarySearch(f.sheetColumns, cell.column)
		switch {
		case found && f.needed[i]:
			r.check(i, cell)
		case !found && f.isStrict && cell.text+cell.wrong != "":
			r.diags = append(r.diags, mistake.New(r.whole(), "Column without a name",
				"Cell %s has text, and no header stands above it. Say with range or columns what is read.", cellName(cell.column, row.number)))
		}
	}
	r.checkMerged()
	return r
}

// warnOfStruck warns of a row with text that somebody struck through, in the columns that are read.
func (r *xlsxRecord) warnOfStruck(row *xlsxRow) {
	for _, cell := range row.cells {
		if !cell.struck {
			continue
		}
		if i, found := slices.BinarySearch(r.file.sheetColumns, cell.column); found && r.file.needed[i] {
			r.diags = append(r.diags, mistake.Warning(r.whole(), "Row is struck through",
				"Row %d has struck-through text in the sheet %q, first in cell %s, and remit reads it all the same.", row.number, r.file.sheet.name, cellName(cell.column, row.number)))
			return
		}
	}
}

// show keeps what a cell shows beside its number.
func (r *xlsxRecord) show(i int, text string) {
	if r.shown == nil {
		r.shown = make([]string, len(r.fields))
	}
	r.shown[i] = text
}

// beside is what the cell of a field shows beside its number.
func (r *xlsxRecord) beside(i int) string {
	if r.shown == nil {
		return ""
	}
	return r.shown[i]
}

// check gathers the mistakes and warnings of one cell.
func (r *xlsxRecord) check(i int, cell xlsxCell) {
	f := r.file
	about := func(d *hcl.Diagnostic, reason string) {
		d.Extra = &mistake.Origin{Column: f.names.names[i], Reason: reason}
		r.diags = append(r.diags, d)
	}
	switch {
	case cell.wrong != "":
		summary := "Cell cannot be read"
		if cell.reason != "" {
			summary = "Cell shows what it does not hold"
		}
		about(mistake.New(r.at(i), summary, "%s", f.told(r, i, cell.wrong)), cell.reason)
	case cell.hasFormula && !f.formulas[cell.column]:
		f.formulas[cell.column] = true
		about(mistake.Warning(r.at(i), "Formula in a column",
			"Cell %s is a formula, and others of the column %q may be. What is read is the result that the workbook was saved with.", cellName(cell.column, r.row), f.names.names[i]), "formula")
	}
}

// checkMerged refuses cells that are merged with another one, which alone has their text.
func (r *xlsxRecord) checkMerged() {
	f := r.file
	for len(f.merged) > 0 && f.merged[0].fromRow <= r.row {
		f.merging, f.merged = append(f.merging, f.merged[0]), f.merged[1:]
	}
	f.merging = slices.DeleteFunc(f.merging, func(m CellRange) bool { return m.toRow < r.row })
	for _, m := range f.merging {
		for i, column := range f.sheetColumns {
			if f.needed[i] && m.hasColumn(column) && (column != m.fromColumn || r.row != m.fromRow) {
				r.diags = append(r.diags, mistake.New(r.at(i), "Cells are merged",
					"Cell %s is merged with others (%s:%s), and what stands there belongs to %[2]s alone. Write it into each row.",
					cellName(column, r.row), cellName(m.fromColumn, m.fromRow), cellName(m.toColumn, m.toRow)))
				break
			}
		}
	}
}

// told describes the mistake of a cell, and names the cell.
func (f *xlsxFile) told(r *xlsxRecord, i int, wrong string) string {
	return fmt.Sprintf("Cell %s of the sheet %q %s.", cellName(f.sheetColumns[i], r.row), f.sheet.name, wrong)
}

// whole is the row.
func (r *xlsxRecord) whole() hcl.Range {
	whole := r.at(0)
	whole.End = r.at(len(r.file.sheetColumns) - 1).End
	return whole
}

// at is the place of a cell: its row and its column, and in bytes that in the snippet
// of the sheet.
func (r *xlsxRecord) at(i int) hcl.Range {
	from, to := r.file.snippets.show(r.file.sheet.name, r.row, r.file.sheetColumns, r.fields, i)
	column := r.file.sheetColumns[i]
	return hcl.Range{
		Filename: r.file.Name,
		Start:    hcl.Pos{Line: r.row, Column: column, Byte: from},
		End:      hcl.Pos{Line: r.row, Column: column + 1, Byte: to},
	}
}
