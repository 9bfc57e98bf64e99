package rows

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// ReadNumber reads text by an example of a number format.
func ReadNumber(example, text string) (string, error) {
	f, err := ParseNumberFormat(example)
	if err != nil {
		return "", err
	}
	return f.read(text)
}

// CellNumber reads a number as a workbook stores it, in a cell with a number format.
func CellNumber(format, stored string) (string, error) {
	text, err := cellNumber([]*cellFormat{parseCellFormat(format)}, stored, false)
	return text.text, err
}

// BesideNumber is what cells of the formats show beside a number.
func BesideNumber(number string, codes ...string) string {
	w := workbook{formats: map[string]*cellFormat{}}
	return besideNumber(w.formatsOf(codes), number)
}

// BuiltInFormat is the code of a format that a workbook names by number alone.
func BuiltInFormat(id int) string { return builtInFormat(id) }

// WorkbookSheets are the names of the sheets of a workbook.
func WorkbookSheets(content []byte) ([]string, error) {
	w, err := openWorkbook(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range w.list {
		names = append(names, s.name)
	}
	return names, nil
}

// CellRead is a cell as it is read: its text, or why there is none.
type CellRead struct{ Text, Wrong string }

// SheetCells reads all cells of a sheet that hold something, by row and column from 1 on.
func SheetCells(content []byte, sheet string) (map[[2]int]CellRead, error) {
	w, err := openWorkbook(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	f := &xlsxFile{book: w, hidden: map[int]bool{}, columnStyles: map[int]int{}, formatsBy: map[int][]*cellFormat{}}
	for _, s := range w.list {
		if s.name == sheet {
			f.sheet = s
		}
	}
	part, err := w.pack.part(f.sheet.part)
	if err == nil {
		err = f.lookPast(part)
	}
	if err != nil {
		return nil, err
	}
	f.decoder = newPartDecoder(bytes.NewReader(part))
	cells := map[[2]int]CellRead{}
	for {
		row, err := f.next()
		if errors.Is(err, io.EOF) {
			return cells, nil
		}
		if err != nil {
			return nil, err
		}
		for _, cell := range row.cells {
			cells[[2]int{row.number, cell.column}] = CellRead{cell.text, cell.wrong}
		}
	}
}

// WithoutEndMark reads a text without the Ctrl-Z at its end.
func WithoutEndMark(from io.Reader) io.Reader { return newWithoutEndMark(from) }

// LinesOf are the lines of a field, and whether the quick look at its bytes passes it on to be parted in lines.
func LinesOf(field string) (lines []string, isLookedAt bool) {
	return strings.Split(oneLineEnd.Replace(field), "\n"), mayHaveLines(field)
}
