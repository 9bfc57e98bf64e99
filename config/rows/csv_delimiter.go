package rows

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"

	"remit/config/mistake"
)

// delimiters are those that are tried where none is declared, the usual one first.
func delimiters() []rune { return []rune{',', ';', '\t', '|'} }

// findDelimiter reads the header with each delimiter. It is the one by which the header has
// the column that is needed: the key's. It is 0 where several could be meant, each shown as a
// line to write.
func findDelimiter(sample []byte, need string) (found rune, ways string) {
	var having, several []rune
	for _, delimiter := range delimiters() {
		reader := csv.NewReader(bytes.NewReader(sample))
		reader.Comma = delimiter
		fields, err := reader.Read()
		if err != nil || len(fields) < 2 {
			continue
		}
		for i := range fields {
			fields[i] = NormalForm(fields[i])
		}
		several = append(several, delimiter)
		ways += fmt.Sprintf("\n  delimiter = %-4s # %s", delimiterText(delimiter), mistake.Listed(mistake.QuotedAll(fields), 6))
		if slices.Contains(fields, need) {
			having = append(having, delimiter)
		}
	}
	switch {
	case len(having) == 1:
		return having[0], ""
	case len(several) == 0:
		return delimiters()[0], ""
	case len(several) == 1:
		return several[0], ""
	}
	return 0, ways
}

// delimiterText is a delimiter as HCL writes it.
func delimiterText(delimiter rune) string {
	if delimiter == '\t' {
		return `"\t"`
	}
	return `"` + string(delimiter) + `"`
}
