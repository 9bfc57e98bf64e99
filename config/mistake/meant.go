package mistake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"
)

// UnknownColumn says that no column has a name behind root, and which one may be meant. Headers are columns
// of the file with their names here, which are "" for those that the argument columns leaves out.
func UnknownColumn(root, name string, columns []string, headers map[string]string) string {
	for _, header := range slices.Sorted(maps.Keys(headers)) {
		own := headers[header]
		switch {
		case plainWord(header) != plainWord(name) || own == name:
		case own != "":
			return fmt.Sprintf("The argument columns calls the column %q %s here. Write:\n\n  %s", header, own, ColumnOf(root, own))
		default:
			return fmt.Sprintf("The file has a column %q, and the argument columns does not read it. Add it there:\n\n  columns = { …, %s = %s }", header, KeyHCL(name), QuotedHCL(header))
		}
	}
	if len(headers) == 0 {
		return fmt.Sprintf("The file has no column %q.%s", name, meantColumn(root, name, columns))
	}
	return fmt.Sprintf("The argument columns reads no column %q.%s", name, meantColumn(root, name, columns))
}

// ColumnOf is the value of a column behind root, row or each.value, as it is written.
func ColumnOf(root, column string) string {
	if hclsyntax.ValidIdentifier(column) {
		return root + "." + column
	}
	return fmt.Sprintf("%s[%s]", root, QuotedHCL(column))
}

// meantColumn says which column of a file a wrong name behind root may mean, as it is written.
func meantColumn(root, name string, columns []string) string {
	found := ""
	if hint := DidYouMean(name, columns); hint != "" {
		found = strings.TrimSuffix(strings.TrimPrefix(hint, " Did you mean \""), "\"?")
	}
	for _, column := range columns {
		if plainWord(column) != "" && (plainWord(column) == plainWord(name) || found == "" && len(name) > 2 && strings.HasPrefix(plainWord(column), plainWord(name))) {
			found = column
		}
	}
	switch {
	case found == "":
		return " There are: " + Listed(QuotedAll(columns), 10) + "."
	case hclsyntax.ValidIdentifier(found):
		return fmt.Sprintf(" Did you mean %q?", found)
	case strings.TrimRight(found, ";, \t") == name:
		return fmt.Sprintf(" It has %q: the lines of the file seem to end with signs that belong to no field. Take %q away from the end of each line.", found, found[len(name):])
	case strings.TrimSpace(found) != found:
		return fmt.Sprintf(" Its name in the file begins or ends with a space. Say in the data block how it is called here, for all columns that are read:\n\n  columns = { %s = %q }", KeyHCL(strings.TrimSpace(found)), found)
	}
	return fmt.Sprintf(" Put a name with spaces or signs in brackets and quotation marks. Did you mean:\n\n  %s[%q]", root, found)
}

// plainWord is a name without what people leave out when they type it: capitals, accents and signs.
func plainWord(name string) string {
	name = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss").Replace(strings.ToLower(name))
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, norm.NFD.String(name))
}

// otherFunctions are functions of spreadsheets and of other languages, with the functions that do
// the same here.
var otherFunctions = map[string]string{
	"concatenate": `"${var.a}${var.b}"`, "textjoin": `join(", ", list)`, "if": `var.a == "x" ? "1.00" : "2.00"`, "iif": `var.a == "x" ? "1.00" : "2.00"`,
	"round": `decimal_round("8200.005", 2, "half_up")`, "sumif": `decimal_sum([for row in list : row.net if row.status == "active"])`,
	"vlookup": `lookup(map, key)`, "xlookup": `lookup(map, key)`, "text": `format("%05d", 17)`, "len": `length("text")`, "left": `substr("text", 0, 2)`, "mid": `substr("text", 1, 2)`,
	"str": `tostring(17)`, "string": `tostring(17)`, "int": `tonumber("17")`, "print": `"${var.period}"`, "printf": `format("%s-%s", "a", "b")`, "sprintf": `format("%s-%s", "a", "b")`,
	"readfile": `file("note.txt")`, "csv": `data.csv.payroll.rows`, "substitute": `replace("a b", " ", "")`, "tolower": `lower("A")`, "toupper": `upper("a")`, "trimws": `trimspace(" a ")`,
	"multiply": `decimal_mul("19.99", "3")`, "product": `decimal_mul("19.99", "3")`, "average": `decimal_div(decimal_sum(list), "2", 2, "half_up")`, "add": `decimal_add("0.10", "0.20")`,
}

// MeantFunction says which function a wrong name may mean.
func MeantFunction(name string, names []string) string {
	if line := otherFunctions[strings.ToLower(name)]; line != "" {
		return " What does the same here is such as:\n\n  " + line
	}
	if hint := DidYouMean(name, names); hint != "" {
		return hint
	}
	return " docs/language/functions.md lists the functions."
}
