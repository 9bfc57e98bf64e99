package rows

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

const (
	sheetMarksMax  = 1 << 12 // areas in which a conditional format shows numbers otherwise
	sheetMergedMax = 1 << 20
)

// mark is a conditional format that may show numbers otherwise than their cells do.
type mark struct {
	area    CellRange
	formats []*cellFormat
	instead bool // a bar or an icon shows, and no number
}

// lookPast reads the elements after the rows of a sheet, which hold for the rows: merged cells and
// conditional formats. It looks for the end of the rows in the text; [xlsxFile.rest] refuses a
// sheet whose rows end elsewhere.
func (f *xlsxFile) lookPast(content []byte) error {
	end := bytes.LastIndex(content, []byte("sheetData>"))
	if i := bytes.LastIndex(content, []byte("sheetData/>")); i >= 0 {
		end = i + 1 // no rows
	}
	root, err := rootOf(content)
	if err != nil {
		return err
	}
	f.rowsEnd = int64(end + len("sheetData>"))
	if end < len(root) {
		f.rowsEnd = -1
		return nil // a sheet without rows, as reading it will say
	}
	return f.readMarks(io.MultiReader(bytes.NewReader(root), bytes.NewReader(content[f.rowsEnd:])))
}

// rootOf is a part up to the end of its first tag, by which namespaces have their names.
func rootOf(content []byte) ([]byte, error) {
	decoder := newPartDecoder(bytes.NewReader(content))
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil, errSheetDamaged
		}
		if _, isStart := token.(xml.StartElement); isStart {
			return content[:decoder.InputOffset()], nil
		}
	}
}

// readMarks reads a sheet without its rows. An element counts in every place: some programs read it
// in an extension, or as an alternative.
func (f *xlsxFile) readMarks(from io.Reader) error {
	decoder := newPartDecoder(from)
	var rules ruleReader
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			slices.SortStableFunc(f.merged, func(a, b CellRange) int { return a.fromRow - b.fromRow })
			return nil
		}
		if err != nil {
			return errSheetDamaged
		}
		switch t := token.(type) {
		case xml.StartElement:
			rules.text.Reset()
			switch t.Name.Local {
			case "mergeCell":
				area, ok := ParseCellRange(attribute(t, "ref"))
				if !ok || area.fromRow == 0 || area.toRow == 0 || len(f.merged) == sheetMergedMax {
					return errSheetDamaged
				}
				f.merged = append(f.merged, area)
			case "conditionalFormatting":
				rules = ruleReader{areas: attribute(t, "sqref")}
			default:
				if !rules.take(f.book, t) {
					return errSheetDamaged
				}
			}
		case xml.CharData:
			rules.text.Write(t)
		case xml.EndElement:
			switch t.Name.Local {
			case "sqref": // of an extension
				rules.areas = rules.text.String()
			case "conditionalFormatting":
				if err := f.mark(rules); err != nil {
					return err
				}
			}
		}
	}
}

// ruleReader gathers what the rules of one conditional format say of numbers.
type ruleReader struct {
	areas   string
	text    strings.Builder
	codes   []string
	instead bool
}

// take takes one element in. It is false where it refers to a style that is not there.
func (r *ruleReader) take(book *workbook, element xml.StartElement) bool {
	switch element.Name.Local {
	case "cfRule":
		text := attribute(element, "dxfId")
		if text == "" {
			return true
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= len(book.styles.marks) {
			return false
		}
		r.codes = append(r.codes, book.styles.marks[i]...)
	case "numFmt": // of a rule in an extension
		r.codes = append(r.codes, markCodes(element)...)
	case "dataBar", "iconSet":
		shows := attribute(element, "showValue")
		r.instead = r.instead || shows != "" && !isTrue(shows)
	}
	return true
}

// mark notes a conditional format that shows numbers otherwise.
func (f *xlsxFile) mark(rules ruleReader) error {
	if len(rules.codes) == 0 && !rules.instead {
		return nil
	}
	for area := range strings.FieldsSeq(rules.areas) {
		if !strings.Contains(area, ":") {
			area += ":" + area
		}
		r, ok := ParseCellRange(area)
		if !ok || len(f.marks) == sheetMarksMax {
			return errSheetDamaged
		}
		f.marks = append(f.marks, mark{r, f.book.formatsOf(rules.codes), rules.instead})
	}
	return nil
}

// formats are those by which programs show a cell in a row of a style: that of its style, where it
// has none those of its column and row too, and those of conditional formats. It says whether a bar
// or an icon may show in its place. An error says that the workbook is damaged.
func (f *xlsxFile) formats(raw *rawCell, rowStyle int) (formats []*cellFormat, isMarked bool, err error) {
	if formats, err = f.styleFormats(raw.style); err != nil {
		return nil, false, err
	}
	if !raw.hasStyle {
		for _, style := range []int{f.columnStyles[raw.column], rowStyle} {
			more, err := f.styleFormats(style)
			if err != nil {
				return nil, false, err
			}
			if style != 0 {
				formats = slices.Concat(formats, more)
			}
		}
	}
	for _, m := range f.marks {
		if m.area.hasColumn(raw.column) && m.area.hasRow(f.row) {
			formats, isMarked = slices.Concat(formats, m.formats), isMarked || m.instead
		}
	}
	return formats, isMarked, nil
}

// styleFormats are those of a style.
func (f *xlsxFile) styleFormats(style int) ([]*cellFormat, error) {
	if formats := f.formatsBy[style]; formats != nil {
		return formats, nil
	}
	codes, ok := f.book.styles.codes(style)
	if !ok {
		return nil, errSheetDamaged
	}
	f.formatsBy[style] = f.book.formatsOf(codes)
	return f.formatsBy[style], nil
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
