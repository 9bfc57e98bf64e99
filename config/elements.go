package config

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"remit/internal/transfer"
)

// elementRows read the elements of a for_each as rows, so that what is compiled for rows
// serves them too. The key of an element is the last field.
type elementRows struct {
	table   table
	source  dataSource
	current row
}

// newElementRows is nil where an element is no object of text.
func newElementRows(t *transferBlock, like *element) *elementRows {
	if ty := like.value.Type(); !ty.IsObjectType() || like.value.IsNull() {
		return nil
	}
	e := &elementRows{}
	e.table.name = t.at.Filename
	e.table.columns = slices.Sorted(maps.Keys(like.value.Type().AttributeTypes()))
	e.source.keyColumn = len(e.table.columns)
	e.current = row{
		table: &e.table, source: &e.source, line: t.at.Start.Line,
		fields: make([]string, len(e.table.columns)+1),
	}
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
	if len(types) != len(e.table.columns) {
		return nil
	}
	for i, column := range e.table.columns {
		if types[column] != cty.String {
			return nil
		}
		value := from.value.GetAttr(column)
		if !isText(value) {
			return nil
		}
		r.fields[i] = value.AsString()
	}
	r.fields[e.source.keyColumn] = from.key
	r.serial++
	r.plain = !slices.ContainsFunc(r.fields, func(field string) bool { return !transfer.Plain(field) })
	return r
}
