package rows

import (
	"strconv"

	"remit/internal/text/lazyregexp"
)

const (
	sheetRowsMax    = 1 << 20 // of Excel; LibreOffice has as many
	sheetColumnsMax = 1 << 14
)

var cellNameText = lazyregexp.New(`^([A-Z]{1,3})([1-9][0-9]{0,6})$`)

// columnNumber is the number of a column of one to three capital letters; A is 1.
func columnNumber(name string) int {
	n := 0
	for _, letter := range name {
		n = n*26 + int(letter-'A') + 1
	}
	return n
}

// parseCellName reads the name of a cell, such as B12.
func parseCellName(name string) (column, row int, ok bool) {
	m := cellNameText.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	column = columnNumber(m[1])
	row, _ = strconv.Atoi(m[2])
	return column, row, column <= sheetColumnsMax && row <= sheetRowsMax
}

// cellName is the name of a cell.
func cellName(column, row int) string {
	name := ""
	for ; column > 0; column = (column - 1) / 26 {
		name = string(rune('A'+(column-1)%26)) + name
	}
	return name + strconv.Itoa(row)
}
