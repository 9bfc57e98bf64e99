package config

import (
	"context"

	"github.com/shopspring/decimal"

	"remit/config/eval"
	"remit/internal/transfer"
)

// DataSource is what a configuration says of a data block, and its file of itself.
type DataSource struct {
	Address string   // such as data.csv.payroll
	File    string   // relative to the directory, with slashes; "" where it has a mistake
	Key     string   // the column by whose text a row is known
	Columns []string // in the order of the file; nil where its header could not be read
	Place   Place    // of the block
}

// DataSources are those of a configuration, in declaration order; where it has mistakes, as far as they go.
func DataSources(c *Configuration) []DataSource {
	if c.scope == nil {
		return nil
	}
	var all []DataSource
	for _, n := range c.scope.InOrder {
		if d := c.data[n]; d != nil {
			all = append(all, DataSource{Address: d.address, File: d.file.Name, Key: d.file.Key, Columns: d.columns, Place: placeOf(d.block.At)})
		}
	}
	return all
}

// SumsOf counts the rows of a data source that its where lets through, and adds up each column that has an amount in every one of
// them. It is false where the rows have a mistake, or ctx ends first.
func SumsOf(ctx context.Context, c *Configuration, address string) (count int, sums map[string]decimal.Decimal, ok bool) {
	if c.scope == nil {
		return 0, nil, false
	}
	for _, n := range c.scope.InOrder {
		d := c.data[n]
		if d == nil || d.address != address || n.Progress != eval.Known {
			continue
		}
		totals := make([]transfer.Totals, len(d.columns))
		isText := make([]bool, len(d.columns))
		for row, diags := range d.rows(ctx) {
			if diags.HasErrors() {
				return 0, nil, false
			}
			if row == nil {
				continue
			}
			count++
			for i := range d.columns {
				if isText[i] {
					continue
				}
				amount, err := transfer.ParseAmount(row.Fields[i])
				if isText[i] = err != nil; !isText[i] {
					totals[i].Add("", amount)
				}
			}
		}
		sums = map[string]decimal.Decimal{}
		for i, name := range d.columns {
			if !isText[i] && count > 0 {
				sums[name] = totals[i].Sum("")
			}
		}
		return count, sums, true
	}
	return 0, nil, false
}
