package config

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"remit/config/rows"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// elementRows read the elements of a for_each as rows, so that code for rows
// serves them too. The key of an element is the last field.
type elementRows struct {
	table   rows.Table
	fields  rows.Row
	current row
}

// newElementRows is nil where an element is no object of text.
func newElementRows(t *transferBlock, like *element) *elementRows {
	if ty := like.value.Type(); !ty.IsObjectType() || like.value.IsNull() {
		return nil
	}
	e := &elementRows{}
	e.table.Name = t.at.Filename
	e.table.Columns = slices.Sorted(maps.Keys(like.value.Type().AttributeTypes()))
	e.table.KeyColumn = len(e.table.Columns)
	e.fields = rows.Row{Table: &e.table, Line: t.at.Start.Line, Fields: make([]string, len(e.table.Columns)+1)}
	e.current = row{Row: &e.fields}
	if e.row(like) == nil {
		return nil
	}
	return e
}

// row is valid until the next one; nil where the element has other attributes than the
// first, or one that is no text.
func (e *elementRows) row(from *element) *row {
	r := &e.current
	if !from.value.Type().IsObjectType() || from.value.IsNull() || from.value.IsMarked() {
		return nil
	}
	types := from.value.Type().AttributeTypes()
	if len(types) != len(e.table.Columns) {
		return nil
	}
	for i, column := range e.table.Columns {
		if types[column] != cty.String {
			return nil
		}
		value := from.value.GetAttr(column)
		if !syntax.IsText(value) {
			return nil
		}
		r.Fields[i] = value.AsString()
	}
	r.Fields[e.table.KeyColumn] = from.key
	r.Serial++
	r.Plain = !slices.ContainsFunc(r.Fields, func(field string) bool { return !transfer.Plain(field) })
	return r
}
