package rows

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"remit/config/mistake"
)

// spacedColumns is the argument columns for a header in which a name has a space around it; "" where the name that is needed has none.
func spacedColumns(need string, columns []string) string {
	isSpaced := func(column string) bool {
		return column != need && strings.EqualFold(strings.TrimSpace(column), need) && strings.TrimSpace(column) != column
	}
	if !slices.ContainsFunc(columns, isSpaced) {
		return ""
	}
	var pairs []string
	for _, column := range columns {
		name := strings.Trim(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return '_'
		}, column), "_")
		if isSpaced(column) {
			name = need
		}
		if name != "" {
			pairs = append(pairs, fmt.Sprintf("%s = %s", mistake.KeyHCL(name), mistake.QuotedHCL(column)))
		}
	}
	return "{ " + strings.Join(pairs, ", ") + " }"
}
