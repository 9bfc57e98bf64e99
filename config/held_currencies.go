package config

import (
	"strings"

	"remit/config/rows"
)

// heldCurrencies are what a file has beside the numbers of rows that are held, such as €: texts by column and key. They have no texts
// where there are none.
type heldCurrencies map[string]map[string]string

// note keeps those of a row.
func (h *heldCurrencies) note(r *rows.Row) {
	for i, column := range r.Table.Columns {
		text := r.Beside(i)
		if text == "" {
			continue
		}
		if *h == nil {
			*h = heldCurrencies{}
		}
		if (*h)[column] == nil {
			(*h)[column] = map[string]string{}
		}
		(*h)[column][strings.Clone(r.Key())] = text
	}
}
