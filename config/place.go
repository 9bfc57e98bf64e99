package config

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Place is a place in the author's files.
type Place struct {
	File   string // relative to the configuration's directory
	Sheet  string // of a workbook that shows several; "" for any other file
	Line   int
	Column int // 0 where the whole line is meant
}

// String is file:line, and file[sheet]:line of a sheet. The name of a sheet has no brackets in it.
func (p Place) String() string { return inSheet(p.File, p.Sheet) + ":" + strconv.Itoa(p.Line) }

// inSheet names a sheet of a file, as a spreadsheet's own references do; "" is the file itself.
func inSheet(file, sheet string) string {
	if sheet == "" {
		return file
	}
	return file + "[" + sheet + "]"
}

// PlaceOf is the inverse of [Place.String]. A text without a line is the name of a file.
func PlaceOf(text string) Place {
	cut := strings.LastIndexByte(text, ':')
	if cut < 0 {
		return Place{File: text}
	}
	line, err := strconv.Atoi(text[cut+1:])
	if err != nil {
		return Place{File: text}
	}
	p := Place{File: text[:cut], Line: line}
	if inner, isSheet := strings.CutSuffix(p.File, "]"); isSheet {
		if open := strings.LastIndexByte(inner, '['); open > 0 {
			p.File, p.Sheet = inner[:open], inner[open+1:]
		}
	}
	return p
}

// placeOf is r as other packages see it.
func placeOf(r hcl.Range) Place { return Place{File: r.Filename, Line: r.Start.Line} }
