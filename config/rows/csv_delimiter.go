package rows

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"remit/config/mistake"
)

// delimiters are those that are tried where none is declared, the usual one first.
func delimiters() []rune { return []rune{',', ';', '\t', '|'} }

// findDelimiter reads the header with each delimiter. It is the one by which the header has
// the column that is needed: the key's. It is 0 where several could be meant; detail shows each
// as a line to write.
func findDelimiter(sample []byte, need string) (found rune, detail string) {
	var having, several []rune
	var waysHaving, ways string
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
		way := fmt.Sprintf("\n  delimiter = %-4s # %s", delimiterText(delimiter), mistake.Listed(mistake.QuotedAll(fields), 6))
		ways += way
		if slices.Contains(fields, need) {
			having = append(having, delimiter)
			waysHaving += way
		}
	}
	switch {
	case len(having) == 1:
		return having[0], ""
	case len(having) > 1:
		return 0, fmt.Sprintf("The header has the column %q in each of several ways to read it. Say which:\n%s", need, waysHaving)
	case len(several) == 0:
		return delimiters()[0], ""
	case len(several) == 1:
		return several[0], ""
	}
	return 0, fmt.Sprintf("No column of the header is %q, and the header can be read in several ways. Say which, and which of its columns is the key:\n%s", need, ways)
}

// delimiterText is a delimiter as HCL writes it.
func delimiterText(delimiter rune) string {
	if delimiter == '\t' {
		return `"\t"`
	}
	return `"` + string(delimiter) + `"`
}

// rareDelimiter is a sign that no list of delimiters has and that cuts the name of a column out of the one column of a
// header; 0 for none.
func rareDelimiter(need string, columns []string) rune {
	if len(columns) != 1 || otherDelimiter(columns) != 0 {
		return 0
	}
	for _, sign := range columns[0] {
		if !unicode.IsLetter(sign) && !unicode.IsDigit(sign) && !strings.ContainsRune(" _-\"'.", sign) && slices.Contains(strings.Split(columns[0], string(sign)), need) {
			return sign
		}
	}
	return 0
}

// otherDelimiter is the delimiter that stands in the one column of a header; 0 for none.
func otherDelimiter(columns []string) rune {
	if len(columns) != 1 {
		return 0
	}
	for _, delimiter := range delimiters() {
		if strings.ContainsRune(columns[0], delimiter) {
			return delimiter
		}
	}
	return 0
}
