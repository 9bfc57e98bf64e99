package config

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// The XML of a sheet is read here, and not by the library, because it takes a sheet that is
// cut off for one that has ended, and a text that is missing for an empty one.

var errSheetDamaged = errors.New("the file is damaged, its rows cannot be read to their end")

// rawCell is a cell as the XML has it.
type rawCell struct {
	column     int
	kind       string
	style      int
	value      string
	hasValue   bool
	hasText    bool // of an inline string
	hasFormula bool
	text       strings.Builder // of an inline string
}

// sheetSpaces are the namespaces of sheets (ECMA-376, transitional and strict).
func isSheetSpace(space string) bool {
	return space == "http://schemas.openxmlformats.org/spreadsheetml/2006/main" || space == "http://purl.oclc.org/ooxml/spreadsheetml/main"
}

// isOurs says whether an element is of a sheet, and no attribute stands twice. What is of
// another namespace a spreadsheet program may not show.
func (f *xlsxFile) isOurs(element xml.StartElement) bool {
	return element.Name.Space == f.space && repeatedAttribute(element) == ""
}

// next returns the next row of the range with its cells that hold something. It is io.EOF
// after the last.
func (f *xlsxFile) next() (*xlsxRow, error) {
	for !f.inRows {
		if err := f.readHead(); err != nil {
			return nil, err
		}
	}
	for {
		token, err := f.decoder.Token()
		if err != nil {
			return nil, errSheetDamaged // rows end with an element
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local != "row" || !f.isOurs(t) {
				return nil, errSheetDamaged
			}
			row, err := f.readRow(t)
			if err != nil || f.options.cells.hasRow(row.number) {
				return row, err
			}
			f.notice(row)
		case xml.EndElement:
			return nil, f.rest()
		}
	}
}

// readHead reads one element of what stands above the rows.
func (f *xlsxFile) readHead() error {
	token, err := f.decoder.Token()
	if err != nil {
		return errSheetDamaged
	}
	switch t := token.(type) {
	case xml.StartElement:
		switch {
		case f.space == "":
			f.space = t.Name.Space
			if !isSheetSpace(f.space) || t.Name.Local != "worksheet" {
				return errSheetDamaged
			}
			return nil
		case f.isOurs(t) && t.Name.Local == "sheetData":
			f.inRows = true
			return nil
		case f.isOurs(t) && t.Name.Local == "cols":
			return nil
		case f.isOurs(t) && t.Name.Local == "col":
			f.readColumn(t)
		}
		if f.decoder.Skip() != nil {
			return errSheetDamaged
		}
	case xml.EndElement:
		if t.Name.Local == "worksheet" {
			return errSheetDamaged
		}
	}
	return nil
}

// notice keeps the first row below the range that has text in each of its columns.
func (f *xlsxFile) notice(row *xlsxRow) {
	if f.below == 0 && row.number > f.options.cells.fromRow && len(f.columns) > 0 && len(row.cells) >= len(f.columns) {
		f.below = row.number
	}
}

// rest reads what comes after the rows. A sheet that is cut off there is not whole.
func (f *xlsxFile) rest() error {
	for {
		token, err := f.decoder.Token()
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if err != nil {
			return errSheetDamaged
		}
		element, isStart := token.(xml.StartElement)
		switch {
		case !isStart:
		case element.Name.Local == "sheetData":
			return errSheetDamaged
		case element.Name.Local == "mergeCell" && !f.knows(attribute(element, "ref")):
			return errSheetDamaged
		}
	}
}

// knows says whether merged cells were found before the rows were read.
func (f *xlsxFile) knows(merged string) bool {
	r, ok := parseCellRange(merged)
	return ok && f.mergedAll[r]
}

// readColumn notes columns that do not show.
func (f *xlsxFile) readColumn(element xml.StartElement) {
	if !isTrue(attribute(element, "hidden")) && !isFlat(attribute(element, "width")) {
		return
	}
	from, _ := strconv.Atoi(attribute(element, "min"))
	to, _ := strconv.Atoi(attribute(element, "max"))
	for column := max(from, 1); column <= min(to, excelize.MaxColumns); column++ {
		f.hidden[column] = true
	}
}

// isFlat says whether a width or height leaves nothing to see.
func isFlat(size string) bool {
	n, err := strconv.ParseFloat(size, 64)
	return err == nil && n < 0.5
}

func isTrue(text string) bool { return text == "1" || text == "true" }

func (f *xlsxFile) readRow(element xml.StartElement) (*xlsxRow, error) {
	number := f.row + 1
	if text := attribute(element, "r"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n <= f.row || n > excelize.TotalRows {
			return nil, errSheetDamaged
		}
		number = n
	}
	f.row = number
	row := &xlsxRow{number: number, hidden: isTrue(attribute(element, "hidden")) || isFlat(attribute(element, "ht"))}
	column := 0
	for {
		token, err := f.decoder.Token()
		if err != nil {
			return nil, errSheetDamaged
		}
		switch t := token.(type) {
		case xml.StartElement:
			if !f.isOurs(t) {
				return nil, errSheetDamaged
			}
			if t.Name.Local != "c" {
				if err := f.decoder.Skip(); err != nil {
					return nil, errSheetDamaged
				}
				continue
			}
			raw, err := f.readCell(t, column)
			if err != nil {
				return nil, err
			}
			column = raw.column
			cell, err := f.book.cell(raw)
			if err != nil {
				return nil, err
			}
			if f.options.cells.hasColumn(column) && (cell.text != "" || cell.wrong != "") {
				row.cells = append(row.cells, cell)
			}
		case xml.EndElement:
			return row, nil
		}
	}
}

// readCell reads a cell that stands after a column.
func (f *xlsxFile) readCell(element xml.StartElement, after int) (*rawCell, error) {
	c := &rawCell{column: after + 1, kind: attribute(element, "t")}
	c.style, _ = strconv.Atoi(attribute(element, "s")) // "" is 0
	if name := attribute(element, "r"); name != "" {
		column, row, err := excelize.CellNameToCoordinates(name)
		if err != nil || row != f.row || column <= after {
			return nil, errSheetDamaged
		}
		c.column = column
	}
	var open []string
	for {
		token, err := f.decoder.Token()
		if err != nil {
			return nil, errSheetDamaged
		}
		switch t := token.(type) {
		case xml.StartElement:
			open = append(open, t.Name.Local)
			parent := strings.Join(open[:len(open)-1], "/")
			isTwice := len(open) == 1 && (t.Name.Local == "v" && c.hasValue || t.Name.Local == "is" && c.hasText)
			if !f.isOurs(t) && open[0] != "extLst" || isTwice || parent == "v" || parent == "is/t" || parent == "is/r/t" {
				return nil, errSheetDamaged
			}
			c.hasText = c.hasText || t.Name.Local == "is"
			c.hasFormula = c.hasFormula || t.Name.Local == "f"
			c.hasValue = c.hasValue || len(open) == 1 && t.Name.Local == "v"
		case xml.CharData:
			if n := len(open); n > 0 && n <= 3 {
				c.take(strings.Join(open, "/"), string(t))
			}
		case xml.EndElement:
			if len(open) == 0 {
				return c, nil
			}
			open = open[:len(open)-1]
		}
	}
}

// take takes text in that stands in an element of the cell.
func (c *rawCell) take(path, text string) {
	switch path {
	case "v":
		c.value += text
	case "is/t", "is/r/t":
		c.text.WriteString(text)
	}
}

// cell is what a cell means. An error says that the workbook is damaged.
func (w *workbook) cell(raw *rawCell) (xlsxCell, error) {
	c := xlsxCell{column: raw.column, hasFormula: raw.hasFormula}
	switch {
	case raw.kind == "inlineStr":
		c.text = unescaped(raw.text.String())
		return w.shownText(c, raw.style), nil
	case raw.hasFormula && (!raw.hasValue || raw.value == "" && raw.kind != "str"):
		c.wrong = "is a formula without a result. Open the workbook in the program that it is made with, and save it"
		return c, nil
	case raw.value == "":
		return c, nil
	}
	switch raw.kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(raw.value))
		if err != nil || i < 0 || i >= len(w.texts) {
			return c, errSheetDamaged
		}
		c.text = w.texts[i]
		return w.shownText(c, raw.style), nil
	case "str":
		c.text = unescaped(raw.value)
		return w.shownText(c, raw.style), nil
	case "d":
		c.text = raw.value
	case "b":
		switch strings.TrimSpace(raw.value) {
		case "1", "true":
			c.text = "TRUE"
		case "0", "false":
			c.text = "FALSE"
		default:
			return c, errSheetDamaged
		}
	case "e":
		c.wrong = fmt.Sprintf("has the error %s", raw.value)
	case "", "n":
		text, err := w.format(raw.style).number(strings.TrimSpace(raw.value), w.is1904)
		c.cellText = text
		if err != nil {
			c.wrong = "cannot be read: " + err.Error()
		}
	default:
		return c, errSheetDamaged
	}
	return c, nil
}

// shownText says where the format of a cell shows another text than it has.
func (w *workbook) shownText(c xlsxCell, style int) xlsxCell {
	switch f := w.format(style); {
	case c.text == "" || !f.hidesText:
	case f.writesText:
		c.wrong = fmt.Sprintf("holds the text %q, and its number format shows another one. Give the cell the format Text", c.text)
	default:
		c.shown = "nothing"
	}
	return c
}

var escapedCharacter = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// unescaped is a text with the characters that it has by number, as _x000D_ (ECMA-376, part 1,
// 22.9.2.19).
func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escapedCharacter.ReplaceAllStringFunc(text, func(escape string) string {
		code, _ := strconv.ParseUint(escape[2:6], 16, 16) // four digits
		return string(rune(code))
	})
}
