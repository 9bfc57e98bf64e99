package rows

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"remit/internal/text/lazyregexp"
)

var errSheetDamaged = errors.New("the file is damaged, its rows cannot be read to their end")

// rawCell is a cell as the XML has it.
type rawCell struct {
	column     int
	kind       string
	style      int
	hasStyle   bool
	value      string
	hasValue   bool
	hasText    bool // of an inline string
	hasFormula bool
	text       strings.Builder // of an inline string
	runStruck  bool            // of its run that is read
	struck     bool            // a part of it is struck through
}

// isSheetSpace reports whether a namespace is one of sheets (ECMA-376, transitional and strict).
func isSheetSpace(space string) bool {
	return space == "http://schemas.openxmlformats.org/spreadsheetml/2006/main" || space == "http://purl.oclc.org/ooxml/spreadsheetml/main"
}

// isOurs says whether an element is of a sheet. Elements of another namespace a spreadsheet program
// may not show.
func (f *xlsxFile) isOurs(element xml.StartElement) bool { return element.Name.Space == f.space }

// next returns the next row of the range with its cells that hold something. It is io.EOF
// after the last.
func (f *xlsxFile) next() (*xlsxRow, error) {
	for !f.inRows {
		if err := f.readHead(); err != nil {
			return nil, err
		}
	}
	for {
		token, err := f.token()
		if err != nil {
			return nil, err // rows end with an element
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local != "row" || !f.isOurs(t) {
				return nil, errSheetDamaged
			}
			row, err := f.readRow(t)
			if err != nil || f.options.Cells.hasRow(row.number) {
				return row, err
			}
			f.outside.add(f, row)
		case xml.EndElement:
			return nil, f.rest()
		}
	}
}

// readHead reads one element above the rows.
func (f *xlsxFile) readHead() error {
	token, err := f.token()
	if err != nil {
		return err
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
			if err := f.readColumn(t); err != nil {
				return err
			}
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

// rest reads the part after the rows. A sheet that is cut off there is not whole.
func (f *xlsxFile) rest() error {
	if f.decoder.InputOffset() != f.rowsEnd {
		return errSheetDamaged // the rows that were looked past ended elsewhere
	}
	for {
		token, err := f.decoder.Token()
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if err != nil {
			return errSheetDamaged
		}
		if element, isStart := token.(xml.StartElement); isStart && element.Name.Local == "sheetData" {
			return errSheetDamaged
		}
	}
}

// readColumn notes columns that do not show, and the styles that columns have.
func (f *xlsxFile) readColumn(element xml.StartElement) error {
	from, wrongFrom := strconv.Atoi(attribute(element, "min"))
	to, wrongTo := strconv.Atoi(attribute(element, "max"))
	if wrongFrom != nil || wrongTo != nil || from <= f.columnLast || to < from || to > sheetColumnsMax {
		return errSheetDamaged // each column is there once, in order
	}
	f.columnLast = to
	style, err := 0, error(nil)
	if text := attribute(element, "style"); text != "" {
		if style, err = strconv.Atoi(text); err != nil {
			return errSheetDamaged
		}
	}
	isHidden := isTrue(attribute(element, "hidden")) || isFlat(attribute(element, "width"))
	for column := from; column <= to; column++ {
		if isHidden {
			f.hidden[column] = true
		}
		if style != 0 {
			f.columnStyles[column] = style
		}
	}
	return nil
}

// token is the next token before the end of an element that is open; the end of the file is damage there.
func (f *xlsxFile) token() (xml.Token, error) {
	token, err := f.decoder.Token()
	if err != nil {
		return nil, errSheetDamaged
	}
	return token, nil
}

// styleOf is the number of the style that a row or a cell has; false where it has none.
func styleOf(element xml.StartElement) (style int, has bool, err error) {
	text := attribute(element, "s")
	if text == "" {
		return 0, false, nil
	}
	if style, err = strconv.Atoi(text); err != nil {
		return 0, false, errSheetDamaged
	}
	return style, true, nil
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
		if err != nil || n <= f.row || n > sheetRowsMax {
			return nil, errSheetDamaged
		}
		number = n
	}
	f.row = number
	row := &xlsxRow{number: number, hidden: isTrue(attribute(element, "hidden")) || isFlat(attribute(element, "ht"))}
	style, _, err := styleOf(element)
	if err != nil {
		return nil, err
	}
	column := 0
	for {
		token, err := f.token()
		if err != nil {
			return nil, err
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
			if column, err = f.addCell(row, t, column, style); err != nil {
				return nil, err
			}
		case xml.EndElement:
			return row, nil
		}
	}
}

// addCell reads a cell behind a column, and adds it to its row where it is read and has something. It returns the cell's column.
func (f *xlsxFile) addCell(row *xlsxRow, element xml.StartElement, after, style int) (column int, err error) {
	raw, err := f.readCell(element, after)
	if err != nil {
		return 0, err
	}
	if !f.options.Cells.hasColumn(raw.column) {
		return raw.column, nil
	}
	cell, err := f.cell(raw, style)
	if err != nil {
		return 0, err
	}
	cell.struck = cell.struck || raw.struck || f.book.styles.struck[raw.style]
	if cell.text != "" || cell.wrong != "" {
		row.cells = append(row.cells, cell)
	}
	return raw.column, nil
}

// readCell reads a cell behind a column.
func (f *xlsxFile) readCell(element xml.StartElement, after int) (*rawCell, error) {
	c := &rawCell{column: after + 1, kind: attribute(element, "t")}
	var err error
	if c.style, c.hasStyle, err = styleOf(element); err != nil {
		return nil, err
	}
	if name := attribute(element, "r"); name != "" {
		column, row, ok := parseCellName(name)
		if !ok || row != f.row || column <= after {
			return nil, errSheetDamaged
		}
		c.column = column
	}
	var open []string
	for {
		token, err := f.token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			open = append(open, t.Name.Local)
			parent := strings.Join(open[:len(open)-1], "/")
			isTwice := len(open) == 1 && (t.Name.Local == "v" && c.hasValue || t.Name.Local == "is" && c.hasText)
			if !f.isOurs(t) && open[0] != "extLst" || isTwice || parent == "v" || parent == "is/t" || parent == "is/r/t" {
				return nil, errSheetDamaged
			}
			switch {
			case parent == "is" && t.Name.Local == "r":
				c.runStruck = false
			case parent == "is/r/rPr" && t.Name.Local == "strike":
				c.runStruck = isStruck(t)
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

// take takes the text of an element of the cell.
func (c *rawCell) take(path, text string) {
	switch path {
	case "v":
		c.value += text
	case "is/t", "is/r/t":
		c.text.WriteString(text)
		c.struck = c.struck || c.runStruck && path == "is/r/t" && strings.TrimSpace(text) != ""
	}
}

// cell is what a cell means, in a row of a style. An error says that the workbook is damaged.
func (f *xlsxFile) cell(raw *rawCell, rowStyle int) (xlsxCell, error) {
	c := xlsxCell{column: raw.column, hasFormula: raw.hasFormula}
	switch {
	case raw.kind == "inlineStr":
		return f.textCell(c, raw, rowStyle, unescaped(raw.text.String()))
	case raw.hasFormula && (!raw.hasValue || raw.value == "" && raw.kind != "str"):
		c.wrong = "is a formula without a result. Open the workbook in the program that it is made with, and save it"
		return c, nil
	case raw.value == "":
		return c, nil
	}
	value := strings.TrimSpace(raw.value)
	switch raw.kind {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil || i < 0 || i >= len(f.book.texts) {
			return c, errSheetDamaged
		}
		c.struck = f.book.struck[i]
		return f.textCell(c, raw, rowStyle, f.book.texts[i])
	case "str":
		return f.textCell(c, raw, rowStyle, unescaped(raw.value))
	case "d":
		days, ok := daysOf(value, f.book.is1904)
		if !ok {
			c.wrong = fmt.Sprintf("cannot be read: %q is no date", raw.value)
			return c, nil
		}
		return f.numberCell(c, raw, rowStyle, days)
	case "b":
		return f.truthCell(c, raw, rowStyle, value)
	case "e":
		c.wrong = fmt.Sprintf("has the error %s. Correct its formula, and save the workbook; a row of totals can be left out with skip_last", raw.value)
	case "", "n":
		return f.numberCell(c, raw, rowStyle, value)
	default:
		return c, errSheetDamaged
	}
	return c, nil
}

func (f *xlsxFile) textCell(c xlsxCell, raw *rawCell, rowStyle int, text string) (xlsxCell, error) {
	formats, _, err := f.formats(raw, rowStyle)
	if err != nil || text == "" {
		return c, err
	}
	c.text = text
	c.fail(checkTextShown(formats, text))
	return c, nil
}

func (f *xlsxFile) numberCell(c xlsxCell, raw *rawCell, rowStyle int, stored string) (xlsxCell, error) {
	formats, isMarked, err := f.formats(raw, rowStyle)
	if err != nil {
		return c, err
	}
	c.cellText, err = cellNumber(formats, stored, f.book.is1904)
	switch {
	case err != nil:
		c.fail(err)
	case isMarked:
		c.wrong = fmt.Sprintf("holds %s, and a conditional format shows a bar or an icon in its place. Take that away, or leave its column out with columns", c.text)
	case raw.kind == "d" && c.decimal:
		c.wrong = fmt.Sprintf("holds the date %s, and shows it as a number. %s", strings.TrimSpace(raw.value), otherFormat)
	case c.decimal:
		c.beside = besideNumber(formats, c.text)
	}
	return c, nil
}

func (f *xlsxFile) truthCell(c xlsxCell, raw *rawCell, rowStyle int, value string) (xlsxCell, error) {
	isTruth := value == "1" || value == "true"
	if !isTruth && value != "0" && value != "false" {
		return c, errSheetDamaged
	}
	formats, _, err := f.formats(raw, rowStyle)
	if err != nil {
		return c, err
	}
	c.text = strings.ToUpper(strconv.FormatBool(isTruth))
	c.fail(checkTruthShown(formats, isTruth))
	return c, nil
}

// fail notes why a cell has no text.
func (c *xlsxCell) fail(err error) {
	if err == nil {
		return
	}
	c.text, c.wrong = "", err.Error()
	var shown *shownError
	if errors.As(err, &shown) {
		c.reason = "number format " + shown.code
	}
}

var escapedCharacter = lazyregexp.New(`_x[0-9A-Fa-f]{4}_`)

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
