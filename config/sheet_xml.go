package config

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
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
	hasFormula bool
	text       strings.Builder // of an inline string
}

// next returns the next row of the range with its cells that hold something. It is io.EOF
// after the last.
func (f *xlsxFile) next() (*xlsxRow, error) {
	for {
		token, err := f.decoder.Token()
		if err != nil {
			return nil, errSheetDamaged // rows end with an element
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "col":
				f.readColumn(t)
			case "row":
				row, err := f.readRow(t)
				if err != nil || f.options.cells.hasRow(row.number) {
					return row, err
				}
			}
		case xml.EndElement:
			if t.Name.Local == "sheetData" {
				return nil, f.rest()
			}
		}
	}
}

// rest reads what comes after the rows. A sheet that is cut off there is not whole.
func (f *xlsxFile) rest() error {
	for {
		_, err := f.decoder.Token()
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if err != nil {
			return errSheetDamaged
		}
	}
}

// readColumn notes columns that do not show.
func (f *xlsxFile) readColumn(element xml.StartElement) {
	if !isTrue(attribute(element, "hidden")) {
		return
	}
	from, _ := strconv.Atoi(attribute(element, "min"))
	to, _ := strconv.Atoi(attribute(element, "max"))
	for column := max(from, 1); column <= min(to, excelize.MaxColumns); column++ {
		f.hidden[column] = true
	}
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
	row := &xlsxRow{number: number, hidden: isTrue(attribute(element, "hidden"))}
	column := 0
	for {
		token, err := f.decoder.Token()
		if err != nil {
			return nil, errSheetDamaged
		}
		switch t := token.(type) {
		case xml.StartElement:
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
			c.hasFormula = c.hasFormula || t.Name.Local == "f"
			c.hasValue = c.hasValue || t.Name.Local == "v"
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
		c.text = raw.text.String()
		return c, nil
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
	case "str", "d":
		c.text = raw.value
	case "b":
		c.text = "FALSE"
		if isTrue(strings.TrimSpace(raw.value)) {
			c.text = "TRUE"
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
