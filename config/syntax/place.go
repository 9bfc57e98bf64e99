package syntax

import "github.com/hashicorp/hcl/v2"

// Place is where a text that begins a line stands in its file.
type Place struct {
	name  string
	start hcl.Pos
}

// PlaceOf is the place of a part.
func PlaceOf(p *Part) Place { return Place{p.name, p.start} }

// In is a range of the file as it is counted from the place on.
func (p Place) In(r hcl.Range) hcl.Range {
	return hcl.Range{Start: p.moved(r.Start, -1), End: p.moved(r.End, -1)}
}

// Of is the range of the file that [Place.In] made another one of, at a place of the same text.
func (p Place) Of(r hcl.Range) hcl.Range {
	return hcl.Range{Filename: p.name, Start: p.moved(r.Start, 1), End: p.moved(r.End, 1)}
}

// moved adds the place to a position, or takes it away. A column is counted from the beginning of its line in both.
func (p Place) moved(pos hcl.Pos, sign int) hcl.Pos {
	return hcl.Pos{Line: pos.Line + sign*p.start.Line, Column: pos.Column, Byte: pos.Byte + sign*p.start.Byte}
}
