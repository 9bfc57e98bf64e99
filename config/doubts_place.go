package config

import "github.com/hashicorp/hcl/v2"

// placeOfDoubt is where the value of the first of these arguments that the block has is written: the cell of
// a row, or an expression. Where the block kept none of them, it is the row or the block.
func placeOfDoubt(block *transferBlock, in instance, arguments ...string) hcl.Range {
	for _, name := range arguments {
		f := block.fields[name]
		if f == nil {
			continue
		}
		e := evaluator{block: block, in: in}
		place := e.place(f)
		if in.row != nil && place.Filename == in.row.Table.Name {
			block.configured.data.NeedSnippet(place.Filename, place.End.Byte)
		}
		return place
	}
	if in.row != nil {
		return in.row.Whole()
	}
	return block.at
}
