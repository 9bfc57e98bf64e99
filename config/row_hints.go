package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/rows"
	"remit/config/syntax"
)

// isOfColumn reports whether the value of a field is that of one column of a data row.
func (e *evaluator) isOfColumn(f *field) bool { return e.in.row != nil && f != nil && f.column != "" }

// refuseEmpty reports, as one mistake, the columns for which a row has no text: most such rows are totals or notes.
func (e *evaluator) refuseEmpty() {
	if len(e.empty) == 0 {
		return
	}
	f := e.empty[0]
	hint := e.in.row.source.totalsHint(f.column)
	if len(e.empty) == 1 {
		e.refuse(f, "Empty text", "%s is empty. Leave it out or make it null where there is none.%s", f.Name, hint)
		return
	}
	var names []string
	for _, other := range e.empty[1:] {
		names = append(names, other.Name)
	}

	e.refuse(f, "Empty text", "%s is empty, and so %s %s.%s", f.Name, isOrAre(len(names)), list(names), hint)
}

// totalsHint says how a row of totals or notes is left out, which has no text in a column.
func (d *dataSource) totalsHint(column string) string {
	hint := " If this is a row of totals or of notes, leave it out of " + d.address
	last := d.lastWithout(column)
	if slices.Contains(d.kind.arguments, "skip_last") && last > 0 {
		hint += fmt.Sprintf(", by the one line for rows at the end, or the other for rows anywhere:\n\n  skip_last = %d", d.skipLast+last)
	} else {
		hint += ":\n"
	}
	return hint + fmt.Sprintf("\n  where     = %s != \"\"", mistake.ColumnOf("row", column))
}

// lastWithout counts the rows at the end of the file that have no text in a column, beside those that skip_last
// leaves out. It reads the file again, once for each column.
func (d *dataSource) lastWithout(column string) int {
	if n, known := d.without[column]; known {
		return n
	}
	n := 0
	if table, file, diags := d.sources.data.Open(d.file, d.format); file != nil {
		i := -1
		if !diags.HasErrors() {
			i = slices.Index(table.Columns, column)
		}
		for i >= 0 {
			next, _, err := table.Next()
			if next == nil || err != nil {
				break
			}
			if n++; strings.TrimSpace(next.Fields[i]) != "" {
				n = 0
			}
		}
		_ = file.Close() // only read
	}
	if d.without == nil {
		d.without = map[string]int{}
	}
	d.without[column] = n
	return n
}

// nothingHint says how a row is left out in which nothing is to be paid; "" for any other amount.
func (e *evaluator) nothingHint(f *field, value cty.Value) string {
	if !e.isOfColumn(f) || !syntax.IsText(value) {
		return ""
	}
	text := value.AsString()
	bare := strings.Trim(text, " -–—\u00a0")
	what := ""
	switch {
	case text == "":
		what = "amount is empty"
	case isNothing(text):
		what = "amount is " + text
	case bare == "":
		what = fmt.Sprintf("amount %q is no number", text)
	default:
		return ""
	}
	return fmt.Sprintf("%s. If nothing is to be paid in such a row, leave it out of %s:\n\n  where = %s != %s",
		what, e.in.row.source.address, mistake.ColumnOf("row", f.column), mistake.QuotedHCL(text))
}

// trimHint says how the space around a text is left out; "" where something else keeps it from being seen.
func (e *evaluator) trimHint(f *field, text string) string {
	if inner := strings.TrimSpace(text); !e.isOfColumn(f) || inner == text || inner == "" || checkSent(inner) != nil {
		return ""
	}
	return fmt.Sprintf(" Correct it in the file, or leave the space out here:\n\n  %s = trimspace(%s)", f.Name, mistake.ColumnOf("each.value", f.column))
}

// roundHint says how an amount of a column is rounded to the decimals of its asset.
func (e *evaluator) roundHint(f *field, asset string) string {
	if !e.isOfColumn(f) || syntax.Traversal(f.Expr) == nil {
		return ""
	}
	scale, _ := e.block.configured.assets.of(asset)
	return fmt.Sprintf(" Correct it in the file. If remit is to round it, say how:\n\n  amount = decimal_round(%s, %d, \"half_up\")", mistake.ColumnOf("each.value", f.column), scale)
}

// codeHint says how the word of a column for a currency becomes its code.
func codeHint(block *transferBlock, in instance, word, code string) string {
	e := evaluator{block: block, in: in}
	f := block.fields["asset"]
	if !e.isOfColumn(f) || syntax.Traversal(f.Expr) == nil {
		return fmt.Sprintf("The code of the currency is:\n\n  asset = %q", code)
	}
	column := mistake.ColumnOf("each.value", f.column)
	return fmt.Sprintf("Write %s in the file, or let it mean that here:\n\n  asset = %s == %s ? %q : %s", code, column, mistake.QuotedHCL(word), code, column)
}

// notBool refuses a where that is no bool for a row. A file has text, also for true and false.
func (d *dataSource) notBool(r *row, value cty.Value) *hcl.Diagnostic {
	const what = "where must be true or false for each row"
	path := syntax.Traversal(d.where.Expr)
	if len(path) != 2 || value.IsNull() || !syntax.IsText(value) {
		return mistake.New(d.where.Expr.Range(), "Not true or false", what+". The row is %s.", mistake.At(r.Whole()))
	}
	for _, letters := range [][2]string{{"true", "false"}, {"TRUE", "FALSE"}, {"True", "False"}} {
		if slices.Contains(letters[:], value.AsString()) { // the remedy says true, whichever the row has: the other pays the wrong rows
			column, _ := eval.StepName(path[1], true)
			return mistake.New(d.where.Expr.Range(), "Not true or false", what+", and a column of a file is text. Compare it:\n\n  where = %s == %q",
				mistake.ColumnOf("row", column), letters[0])
		}
	}
	return mistake.New(d.where.Expr.Range(), "Not true or false", what+", and a column of a file is text. Compare it by ==. The row is %s.", mistake.At(r.Whole()))
}

// renamed are the columns that the argument columns calls otherwise than the file, by their names in the file.
func renamed(f *rows.File) map[string]string {
	names := map[string]string{}
	for _, column := range f.Columns {
		names[column.Header] = column.Name
	}
	return names
}
