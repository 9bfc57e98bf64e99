package suite

import "strings"

// Table is one table of a section, its cells without the space around them.
type Table struct {
	Header []string
	Rows   [][]string
}

// Tables are those of a text in Markdown.
func Tables(section string) []Table {
	var list []Table
	var header []string // of the line before
	inTable := false
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case strings.HasPrefix(line, "|---"):
			inTable = true
			list = append(list, Table{Header: header})
		case inTable:
			last := &list[len(list)-1]
			last.Rows = append(last.Rows, cells(line))
		default:
			header = cells(line)
		}
	}
	return list
}

func cells(line string) []string {
	var list []string
	for cell := range strings.SplitSeq(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00"), "|") {
		list = append(list, strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|")))
	}
	return list
}
