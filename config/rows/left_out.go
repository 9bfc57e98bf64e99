package rows

// shortened are records of a file of which an argument of the data block leaves out the end.
type shortened interface {
	// leftOut has no records before all others were read.
	leftOut() recordsLeftOut
}

// LeftOut are the rows that skip_last leaves out, as the file writes their numbers, and those below the range of a workbook, the
// first one of those that have text in the same columns. There are none before the rows were read to their end.
func (t *Table) LeftOut() (skipped, below []*Row) {
	if from, ok := t.from.(shortened); ok {
		out := from.leftOut()
		return t.outside(out.skipped), t.outside(out.below)
	}
	return nil, nil
}

// outside makes rows of records that may have fewer fields than the header.
func (t *Table) outside(all []record) []*Row {
	var out []*Row
	for _, rec := range all {
		fields := make([]string, len(t.Columns))
		for i := range fields {
			if j := t.field(i); j < len(rec.fields) {
				fields[i] = rec.fields[j]
			}
		}
		out = append(out, &Row{Table: t, Fields: fields, Line: rec.line, place: rec.place})
	}
	return out
}
