package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/text/english"
	"remit/internal/text/lazyregexp"
)

// XLSX are the settings of a workbook.
type XLSX struct {
	Sheet     string // "" for the only one that shows
	Cells     CellRange
	SkipFirst int // rows before the header
	SkipLast  int // rows at the end
}

// CellRange is a part of a sheet, its last column and row included; 0 is an open side.
type CellRange struct{ fromColumn, fromRow, toColumn, toRow int }

var rangeText = lazyregexp.New(`^\$?([A-Z]{1,3})\$?([0-9]{0,7}):\$?([A-Z]{1,3})\$?([0-9]{0,7})$`)

// ParseCellRange reads a part of a sheet such as A4:F120, A4:F or B:F.
func ParseCellRange(text string) (CellRange, bool) {
	m := rangeText.FindStringSubmatch(text)
	if m == nil {
		return CellRange{}, false
	}
	r := CellRange{fromColumn: columnNumber(m[1]), toColumn: columnNumber(m[3])}
	r.fromRow, _ = strconv.Atoi(m[2]) // "" is 0
	r.toRow, _ = strconv.Atoi(m[4])
	isRight := r.fromColumn <= r.toColumn && r.toColumn <= sheetColumnsMax && (r.toRow == 0 || r.fromRow <= r.toRow) &&
		r.fromRow <= sheetRowsMax && r.toRow <= sheetRowsMax && m[2] != "0" && m[4] != "0"
	return r, isRight
}

func (r CellRange) hasColumn(column int) bool {
	return column >= r.fromColumn && (r.toColumn == 0 || column <= r.toColumn)
}

func (r CellRange) hasRow(row int) bool {
	return row >= r.fromRow && (r.toRow == 0 || row <= r.toRow)
}

func (options XLSX) open(d *Directory, f *File, content fileReader) (records, hcl.Diagnostics) {
	return openXLSX(d, f, options, content)
}

// xlsxFile reads the rows of one sheet as a stream.
type xlsxFile struct {
	*File
	sheet    sheet
	options  XLSX
	book     *workbook
	decoder  *partDecoder
	snippets *snippets

	names        header
	above        [][]string // the first rows that skip_first leaves out
	sheetColumns []int      // of the sheet, for each field of the header
	needed       []bool     // for each field: it is read
	isStrict     bool       // all columns are read: text without a header is a mistake
	space        string     // the namespace of the sheet
	inRows       bool       // sheetData began
	outside      rowsBelow
	rowsEnd      int64       // where the rows end in the part
	merged       []CellRange // that begin in later rows, from above
	merging      []CellRange // that began, and may reach into the next row
	marks        []mark
	formulas     map[int]bool // columns of which a formula was told

	hidden       map[int]bool // columns that do not show
	columnStyles map[int]int  // of cells that have none
	columnLast   int          // that was read of those
	formatsBy    map[int][]*cellFormat
	row          int // that was read last
	held         []*xlsxRecord
	ended        bool
}

// xlsxRow is a row of a sheet: its cells that hold something, from left to right.
type xlsxRow struct {
	number int
	hidden bool
	cells  []xlsxCell
}

// xlsxCell is one cell. It has text, or wrong says why it has none.
type xlsxCell struct {
	cellText
	column     int
	hasFormula bool
	beside     string // what it shows beside a number
	struck     bool   // a line goes through its text, or through a part of it
	wrong      string
	reason     string // which mistakes are alike; "" where none are
}

func openXLSX(d *Directory, of *File, options XLSX, file io.Reader) (*xlsxFile, hcl.Diagnostics) {
	f := &xlsxFile{
		File: of, options: options, snippets: d.snippetsOf(of.Name), formulas: map[int]bool{}, outside: rowsBelow{shapes: map[string]bool{}},
		hidden: map[int]bool{}, columnStyles: map[int]int{}, formatsBy: map[int][]*cellFormat{},
	}
	var err error
	if f.book = d.books[f.Name]; f.book == nil {
		if f.book, err = openWorkbook(file); err != nil {
			return nil, hcl.Diagnostics{mistake.New(f.At("file"), "Workbook cannot be read", "%s %s", f.Name, mistake.Sentence(err))}
		}
		d.books[f.Name] = f.book
	}
	diags := f.choose()
	if diags.HasErrors() {
		return nil, diags
	}
	content, err := f.book.pack.part(f.sheet.part)
	if err == nil {
		err = f.lookPast(content)
	}
	if err != nil {
		return nil, append(diags, mistake.New(f.At("file"), "Workbook cannot be read", "%s, sheet %q: %s", f.Name, f.sheet.name, mistake.Sentence(err)))
	}
	f.decoder = newPartDecoder(bytes.NewReader(content))
	diags = append(diags, f.readHeader()...)
	if need := f.HeaderOf(f.Key); !diags.HasErrors() && !slices.Contains(f.names.names, need) {
		first := max(f.options.Cells.fromRow, 1) + f.options.SkipFirst
		if why := misplacedHeader(f.names.names, around{f.options.SkipFirst, f.above, f.rowsBelow(first)}, need); why != "" {
			return nil, append(diags, mistake.New(f.names.place.whole(), headerElsewhere, "%s", why))
		}
	}
	return f, diags
}

// rowsBelow reads the texts of a few rows below the first one, so that index 0 is the second.
func (f *xlsxFile) rowsBelow(first int) [][]string {
	const most = aroundMost
	below := make([][]string, most)
	for {
		row, err := f.next()
		if err != nil || row.number-first > most {
			return below
		}
		for _, cell := range row.cells {
			below[row.number-first-1] = append(below[row.number-first-1], cell.text)
		}
	}
}

// choose finds the sheet.
func (f *xlsxFile) choose() hcl.Diagnostics {
	at := f.At("sheet")
	var names, shown []string
	for _, s := range f.book.list {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, s.name) }) {
			return hcl.Diagnostics{mistake.New(at, "Workbook cannot be read", "%s has two sheets of the name %q. Which one is meant?", f.Name, s.name)}
		}
		names = append(names, s.name)
		if !s.hidden {
			shown = append(shown, s.name)
		}
		if s.name == f.options.Sheet || f.options.Sheet == "" && !s.hidden {
			f.sheet = s
		}
	}
	if len(shown) != 1 || f.sheet.hidden {
		f.names.sheet = f.sheet.name
	}
	switch {
	case f.options.Sheet == "" && len(shown) != 1:
		lines := ""
		for _, name := range shown[:min(len(shown), 20)] {
			lines += fmt.Sprintf("\n  sheet = %q", name)
		}
		return hcl.Diagnostics{mistake.New(at, "Sheet is not named", "%s has %s that can be seen. Say which is read:\n%s", f.Name, english.Plural(len(shown), "sheet"), lines)}
	case f.sheet.name == "":
		hint := mistake.DidYouMean(f.options.Sheet, names)
		if hint == "" {
			hint = " There are: " + mistake.Listed(mistake.QuotedAll(names), 20) + "."
		}
		return hcl.Diagnostics{mistake.New(at, "Unknown sheet", "%s has no sheet %q.%s", f.Name, f.options.Sheet, hint)}
	case f.sheet.part == "":
		return hcl.Diagnostics{mistake.New(at, "Workbook cannot be read", "%s has no cells for its sheet %q. Is it a chart, or is the file not whole?", f.Name, f.sheet.name)}
	case f.sheet.hidden:
		return hcl.Diagnostics{mistake.Warning(at, "Sheet is hidden", "The sheet %q of %s is hidden, and remit reads it all the same.", f.sheet.name, f.Name)}
	}
	return nil
}

// headerRecord has a field for each column of the sheet from the first one that is read to the last one with a name.
func (f *xlsxFile) headerRecord(row *xlsxRow) *xlsxRecord {
	r := &xlsxRecord{file: f, row: row.number}
	column := row.cells[0].column
	if f.options.Cells.fromColumn > 0 {
		column = f.options.Cells.fromColumn
	}
	for _, cell := range row.cells {
		for ; column <= cell.column; column++ {
			f.sheetColumns, r.fields = append(f.sheetColumns, column), append(r.fields, "")
		}
		r.fields[len(r.fields)-1] = cell.text
		if cell.wrong != "" {
			r.diags = append(r.diags, mistake.New(r.at(len(r.fields)-1), "Cell cannot be read", "%s", f.told(r, len(r.fields)-1, cell.wrong)))
		}
	}
	return r
}

// readHeader reads up to the row that names the columns.
func (f *xlsxFile) readHeader() hcl.Diagnostics {
	first := max(f.options.Cells.fromRow, 1) + f.options.SkipFirst
	var row *xlsxRow
	var groups []xlsxCell // of the row before
	groupsRow := 0
	for row == nil || row.number < first || len(row.cells) == 0 {
		if row != nil {
			groups, groupsRow = slices.Clone(row.cells), row.number
		}
		var err error
		if row, err = f.next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("there is no row that names the columns")
			}
			return hcl.Diagnostics{mistake.New(f.BlockAt, "Header is missing", "%s, sheet %q: %s", f.Name, f.sheet.name, mistake.Sentence(err))}
		}
		f.keepAbove(row, first)
	}
	r := f.headerRecord(row)
	f.isStrict = f.Columns == nil
	var diags hcl.Diagnostics
	names := make([]string, len(r.fields))
	for i, name := range r.fields {
		names[i] = NormalForm(name)
	}
	if groupsRow == r.row-1 {
		names = toldApart(names, f.sheetColumns, groups)
	}
	for i, name := range names {
		isNeeded := f.isRead(name)
		f.names.names, f.needed = append(f.names.names, name), append(f.needed, isNeeded)
		if isNeeded && f.hidden[f.sheetColumns[i]] {
			diags = append(diags, mistake.Warning(r.at(i), "Column is hidden", "The column %q is hidden in the sheet, and remit reads it all the same.", name))
		}
	}
	f.names.place = r
	return append(diags, r.diags...)
}

// toldApart are the names of columns, of which those that several have begin with the text of the row above: a header of two
// rows has "EUR" above one "Amount" and "CHF" above another. A text above is about the columns to its right as well, up to the next one.
// Names stay as they are where that does not make each another one.
func toldApart(names []string, columns []int, above []xlsxCell) []string {
	apart := slices.Clone(names)
	for i, name := range names {
		if name == "" || slices.Index(names, name) == i && !slices.Contains(names[i+1:], name) {
			continue
		}
		group := ""
		for _, cell := range above {
			if cell.column <= columns[i] && strings.TrimSpace(cell.text) != "" {
				group = NormalForm(cell.text)
			}
		}
		if group == "" {
			return names
		}
		apart[i] = group + " " + name
	}
	for i, name := range apart {
		if name != names[i] && (slices.Index(apart, name) != i || slices.Contains(apart[i+1:], name)) {
			return names
		}
	}
	return apart
}

// keepAbove keeps the texts of a row that skip_first leaves out, where the header is on the row first.
func (f *xlsxFile) keepAbove(row *xlsxRow, first int) {
	above := row.number - (first - f.options.SkipFirst)
	if row.number >= first || above < 0 || above >= aroundMost {
		return
	}
	for len(f.above) <= above {
		f.above = append(f.above, nil)
	}
	for _, cell := range row.cells {
		f.above[above] = append(f.above[above], cell.text)
	}
}

func (f *xlsxFile) header() header { return f.names }

func (f *xlsxFile) notes() []string {
	var notes []string
	if f.ended {
		for _, r := range f.held {
			notes = append(notes, noteLeftOut(r.fields, r))
		}
	}
	return notes
}

// read returns the next row that has text and is not among the last that are left out.
func (f *xlsxFile) read() (record, hcl.Diagnostics, error) {
	for {
		row, err := f.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return record{}, f.end(), io.EOF
			}
			place := &xlsxRecord{file: f, row: max(f.row, 1), fields: make([]string, len(f.sheetColumns))}
			return record{}, hcl.Diagnostics{mistake.New(place.whole(), "Workbook cannot be read", "%s: %s", f.Name, mistake.Sentence(err))}, io.EOF
		}
		if len(row.cells) == 0 {
			continue
		}
		r := f.record(row)
		if f.options.SkipLast > 0 {
			if f.held = append(f.held, r); len(f.held) <= f.options.SkipLast {
				continue
			}
			r, f.held = f.held[0], f.held[1:]
		}
		if r.diags.HasErrors() {
			return record{}, r.diags, nil
		}
		return record{fields: r.fields, exact: r.exact, line: r.row, plain: arePlain(r.fields), place: r}, r.diags, nil
	}
}

// end refuses a sheet that has fewer rows than are left out at its end.
func (f *xlsxFile) end() hcl.Diagnostics {
	f.ended = true
	if len(f.held) < f.options.SkipLast {
		return hcl.Diagnostics{mistake.New(f.names.place.whole(), "Too few rows to leave out",
			"skip_last leaves out %s at the end, and the sheet has %d.", english.Plural(f.options.SkipLast, "row"), len(f.held))}
	}
	return nil
}

func (f *xlsxFile) leftOut() recordsLeftOut {
	var out recordsLeftOut
	if !f.ended || len(f.held) < f.options.SkipLast { // which is a mistake
		return out
	}
	for _, r := range f.held {
		out.skipped = append(out.skipped, record{fields: r.fields, line: r.row, place: r})
	}
	for _, r := range f.outside.records {
		out.below = append(out.below, record{fields: r.fields, line: r.row, place: r})
	}
	return out
}

// rowsBelow are rows below a range, the first one of each shape: those columns that have text.
type rowsBelow struct {
	records []*xlsxRecord
	shapes  map[string]bool
}

// shapesMax bounds the rows below a range that are kept.
const shapesMax = 1000

// add keeps a row that is below the range, unless there is one of its shape.
func (b *rowsBelow) add(f *xlsxFile, row *xlsxRow) {
	if row.number <= f.options.Cells.fromRow || len(b.records) >= shapesMax {
		return
	}
	r := &xlsxRecord{file: f, row: row.number, fields: make([]string, len(f.sheetColumns))}
	shape := make([]byte, len(r.fields))
	for _, cell := range row.cells {
		if i, found := slices.BinarySearch(f.sheetColumns, cell.column); found {
			r.fields[i], shape[i] = cell.text, 1
			if cell.wrong != "" {
				r.fields[i] = "?"
			}
		}
	}
	if !hasNoText(r.fields) && !b.shapes[string(shape)] {
		b.shapes[string(shape)] = true
		b.records = append(b.records, r)
	}
}

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
