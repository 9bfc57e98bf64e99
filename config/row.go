package config

import (
	"github.com/zclconf/go-cty/cty"

	"remit/config/rows"
)

// row is one row of a data source.
type row struct {
	*rows.Row
	source *dataSource // nil where it is an element of for_each
	cached cty.Value
}

// value is the row as an object of strings.
func (r *row) value() cty.Value {
	if r.cached == cty.NilVal {
		values := make(map[string]cty.Value, len(r.Fields))
		for i, column := range r.Table.Columns {
			values[column] = cty.StringVal(r.Fields[i])
		}
		r.cached = cty.ObjectVal(values)
	}
	return r.cached
}

// object is the row as an object of some of its columns.
func (r *row) object(columns []int) cty.Value {
	values := make(map[string]cty.Value, len(columns))
	for _, i := range columns {
		values[r.Table.Columns[i]] = cty.StringVal(r.Fields[i])
	}
	return cty.ObjectVal(values)
}
