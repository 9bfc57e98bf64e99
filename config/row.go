package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
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

// columnsNamed are the columns that expr names below a prefix, such as each.value; all of
// them where it names the whole.
func columnsNamed(expr hclsyntax.Expression, columns []string, prefix ...string) []int {
	var named []int
	for _, path := range expr.Variables() {
		if path.RootName() != prefix[0] || len(path) < len(prefix) {
			continue
		}
		if last, _ := eval.StepName(path[len(prefix)-1], false); len(prefix) > 1 && last != prefix[1] {
			continue
		}
		only := ""
		if len(path) > len(prefix) {
			only, _ = eval.StepName(path[len(prefix)], true)
			only = cty.NormalizeString(only)
		}
		for i, column := range columns {
			if only == "" || only == column {
				named = append(named, i)
			}
		}
	}
	return named
}
