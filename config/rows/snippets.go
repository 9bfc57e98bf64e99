package rows

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// snippetsBytesMax bounds the text of rows with mistakes that is kept of one workbook.
const snippetsBytesMax = 1 << 20

// snippets take the place of a file that is no text: each row that is shown, as a line of text.
type snippets struct {
	text bytes.Buffer
	rows []snippet
}

// snippet is one row.
type snippet struct {
	sheet   string
	row     int
	columns []int
	starts  []int // of each cell in the text
}

const cellsBetween = " | "

// show adds a row, unless it is the last one that was added, and returns where the i-th cell begins
// and ends, in bytes. Where there is no room left they are the end.
func (s *snippets) show(sheet string, row int, columns []int, fields []string, i int) (from, to int) {
	last := len(s.rows) - 1
	if last < 0 || s.rows[last].sheet != sheet || s.rows[last].row != row {
		if s.text.Len() > snippetsBytesMax {
			return s.text.Len(), s.text.Len()
		}
		shown := snippet{sheet: sheet, row: row, columns: columns}
		for j := range columns {
			if j > 0 {
				s.text.WriteString(cellsBetween)
			}
			shown.starts = append(shown.starts, s.text.Len())
			if j < len(fields) {
				s.text.WriteString(strings.ReplaceAll(fields[j], "\n", " "))
			}
		}
		s.text.WriteByte('\n')
		s.rows = append(s.rows, shown)
		last++
	}
	starts := s.rows[last].starts
	if i+1 < len(starts) {
		return starts[i], starts[i+1] - len(cellsBetween)
	}
	return starts[i], s.text.Len() - 1
}

// ContextString names the cell at an offset.
func (s *snippets) ContextString(offset int) string {
	if offset >= s.text.Len() {
		return ""
	}
	for _, shown := range s.rows {
		for j := len(shown.starts) - 1; j >= 0; j-- {
			if offset == shown.starts[j] {
				return fmt.Sprintf("sheet %q, cell %s", shown.sheet, cellName(shown.columns[j], shown.row))
			}
		}
	}
	return ""
}

// file is what diagnostics of the workbook are shown with.
func (s *snippets) file() *hcl.File {
	return &hcl.File{Body: hcl.EmptyBody(), Bytes: s.text.Bytes(), Nav: s}
}
