package config

import (
	"strconv"

	"github.com/hashicorp/hcl/v2"
)

// Place is a place in the author's files.
type Place struct {
	File   string // relative to the configuration's directory
	Line   int
	Column int // 0 where the whole line is meant
}

// String is file:line.
func (p Place) String() string { return p.File + ":" + strconv.Itoa(p.Line) }

// placeOf is r as other packages see it.
func placeOf(r hcl.Range) Place { return Place{File: r.Filename, Line: r.Start.Line} }
