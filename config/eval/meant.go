package eval

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"

	"remit/config/mistake"
)

// words are values of other languages, with what they are here.
var words = map[string]string{
	"none": "null", "nil": "null", "undefined": "null", "yes": "true", "on": "true", "no": "false", "off": "false", "true": "true", "false": "false", "null": "null",
}

// roots are words for what values are called here.
var rootWords = map[string]string{
	"variable": "var", "variables": "var", "vars": "var", "locals": "local", "profiles": "profile", "account": "profile", "batches": "batch", "item": "each", "it": "each", "rows": "each",
}

// meant says what a reference with an unknown first word may mean.
func (r *resolver) meant(t hcl.Traversal, roots []string) string {
	root := t.RootName()
	rest := ""
	for _, step := range t[1:] {
		name, ok := StepName(step, false)
		if !ok {
			break
		}
		rest += "." + name
	}
	if known := rootWords[root]; known != "" {
		return fmt.Sprintf(" Did you mean %q?", known+rest)
	}
	if value := words[strings.ToLower(root)]; value != "" && len(t) == 1 {
		return fmt.Sprintf(" Did you mean %s?", value)
	}
	if slices.Contains(r.scope.dataTypes, root) {
		return fmt.Sprintf(" Rows are named with the word data before them:\n\n  data.%s%s", root, rest)
	}
	if strings.EqualFold(root, "env") {
		return " Nothing here reads the environment. Declare a variable, and set it there as REMIT_VAR_ and its name:\n\n  var" + rest
	}
	for _, known := range slices.Sorted(slices.Values(roots)) {
		if r.scope.Nodes[known][root] != nil {
			return fmt.Sprintf(" Did you mean %q?", known+"."+root+rest)
		}
	}
	if hint := mistake.DidYouMean(root, roots); hint != "" && len(t) > 1 {
		return hint
	}
	if len(t) == 1 {
		return fmt.Sprintf(" A text stands in quotation marks:\n\n  %q", root)
	}
	return " There are: " + strings.Join(roots, ", ") + "."
}

// rowsOf is a data source's rows as they are named, where steps are what somebody wrote behind data.
func (r *resolver) rowsOf(steps []string) string {
	for _, name := range r.scope.Names("data") {
		kind, own, _ := strings.Cut(name, ".")
		if slices.Contains(steps, own) || slices.Contains(steps, kind) && len(steps) == 1 {
			return "data." + name + ".rows"
		}
	}
	return "data.csv.payroll.rows"
}

// meantColumn says which column of a file a wrong name may mean, as it is written.
func (r *resolver) meantColumn(name string) string {
	columns := r.reach.Columns
	found := ""
	if hint := mistake.DidYouMean(name, columns); hint != "" {
		found = strings.TrimSuffix(strings.TrimPrefix(hint, " Did you mean \""), "\"?")
	}
	for _, column := range columns {
		if plainWord(column) != "" && (plainWord(column) == plainWord(name) || found == "" && len(name) > 2 && strings.HasPrefix(plainWord(column), plainWord(name))) {
			found = column
		}
	}
	switch {
	case found == "":
		return " There are: " + mistake.Listed(mistake.QuotedAll(columns), 10) + "."
	case hclsyntax.ValidIdentifier(found):
		return fmt.Sprintf(" Did you mean %q?", found)
	case strings.TrimSpace(found) != found:
		return fmt.Sprintf(" Its name in the file begins or ends with a space. Say in the data block how it is called here, for all columns that are read:\n\n  columns = { %s = %q }", mistake.KeyHCL(strings.TrimSpace(found)), found)
	}
	root := "each.value"
	if r.reach.Row {
		root = "row"
	}
	return fmt.Sprintf(" A name with spaces or signs stands in brackets and quotation marks. Did you mean:\n\n  %s[%q]", root, found)
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

// otherFunctions are functions of spreadsheets and of other languages, with what does the same here.
var otherFunctions = map[string]string{
	"concatenate": `"${var.a}${var.b}"`, "textjoin": `join(", ", list)`, "if": `var.a == "x" ? "1.00" : "2.00"`, "iif": `var.a == "x" ? "1.00" : "2.00"`,
	"round": `decimal_round("8200.005", 2, "half_up")`, "sumif": `decimal_sum([for row in list : row.net if row.status == "active"])`,
	"vlookup": `lookup(map, key)`, "xlookup": `lookup(map, key)`, "text": `format("%05d", 17)`, "len": `length("text")`, "left": `substr("text", 0, 2)`, "mid": `substr("text", 1, 2)`,
	"str": `tostring(17)`, "string": `tostring(17)`, "int": `tonumber("17")`, "print": `"${var.period}"`, "printf": `format("%s-%s", "a", "b")`, "sprintf": `format("%s-%s", "a", "b")`,
	"readfile": `file("note.txt")`, "csv": `data.csv.payroll.rows`, "substitute": `replace("a b", " ", "")`, "tolower": `lower("A")`, "toupper": `upper("a")`, "trimws": `trimspace(" a ")`,
	"multiply": `decimal_mul("19.99", "3")`, "product": `decimal_mul("19.99", "3")`, "average": `decimal_div(decimal_sum(list), "2", 2, "half_up")`, "add": `decimal_add("0.10", "0.20")`,
}

// meantFunction says which function a wrong name may mean.
func meantFunction(name string, names []string) string {
	if ambient(name) != "" {
		return ""
	}
	if line := otherFunctions[strings.ToLower(name)]; line != "" {
		return " What does the same here is such as:\n\n  " + line
	}
	if hint := mistake.DidYouMean(name, names); hint != "" {
		return hint
	}
	return " docs/language/functions.md lists the functions."
}
