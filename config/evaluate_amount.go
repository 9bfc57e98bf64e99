package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

// amountReason words the mistake of an amount without its digits: two amounts are alike where one
// remedy mends both.
func amountReason(value cty.Value) string {
	if value.Type() != cty.String {
		return ""
	}
	_, err := transfer.ParseAmount(value.AsString())
	if err == nil {
		return ""
	}
	reason, _, _ := strings.Cut(err.Error(), ";")
	return reason
}

// amount is the amount, checked against the decimals of its asset.
func (e *evaluator) amount(asset string) transfer.Amount {
	if !e.checkNumbers() {
		return transfer.Amount{}
	}
	value, f, found := e.value("amount")
	switch found {
	case eval.Absent:
		if f != nil {
			e.refuse(f, "Required argument is null", "amount may not be null.")
		}
		e.wrong = true
		return transfer.Amount{}
	case eval.Wrong:
		return transfer.Amount{}
	case eval.Present:
	}
	amount, summary, detail := readAmount("amount", value, f.Expr, e.block.configured.files)
	if summary != "" {
		f = e.in.chosen(f, value)
		if text := value; e.in.isOfColumn(f) && len(e.empty) > 0 && syntax.IsText(text) && text.AsString() == "" {
			e.empty = append(e.empty, f) // one of several cells that a row of totals or notes leaves empty
			return transfer.Amount{}
		}
		if e.in.isMade(f, value) {
			e.add(f, mistake.New(f.Expr.Range(), summary, "%s%s", detail, e.in.columnAlone(f, value)))
			return transfer.Amount{}
		}
		format := e.formatHint(f, value)
		if e.in.isOfColumn(f) && syntax.IsText(value) {
			if lost := roundedAmount(value.AsString()); lost != "" {
				detail, format = lost, ""
			}
		}
		if syntax.IsText(value) {
			if damaged := damagedAmount(value.AsString(), e.in.isOfColumn(f)); damaged != "" {
				detail, format = damaged, ""
			}
		}
		if nothing := e.in.nothingHint(f, value); format == "" && nothing != "" {
			detail = nothing
		}
		if e.in.isOfColumn(f) && syntax.IsText(value) && value.AsString() == f.column {
			detail, format = fmt.Sprintf("amount is %q, the name of its column: the header is in the file a second time, as where two files were joined. Delete this line.", f.column), ""
		}
		e.refuse(f, summary, "%s", detail+format)
		if from, ok := e.diags[len(e.diags)-1].Extra.(*mistake.Origin); ok {
			if from.Reason = amountReason(value); format != "" {
				from.Reason = "number_format" // one line mends them all
			}
		}
		return transfer.Amount{}
	}
	if detail := e.block.configured.assets.check(amount, asset); detail != "" {
		scale, _ := e.block.configured.assets.of(asset)
		if computed := e.in.roundComputed(f, value, scale); computed != "" {
			e.add(f, mistake.New(f.Expr.Range(), "Too many decimals", "%s%s", detail, computed))
			return amount
		}
		e.refuse(f, "Too many decimals", "%s%s", detail, e.in.decimalsHint(f, value.AsString(), scale))
	}
	return amount
}

// chosen is a field that takes the text of one of several columns as it is, such as one amount of two currencies: where one
// column alone has the value, the field is of that column. Any other field is returned as it is.
func (in instance) chosen(f *field, value cty.Value) *field {
	if in.row == nil || f.column != "" || !syntax.IsText(value) || value.AsString() == "" {
		return f
	}
	one := *f
	for _, column := range f.Refs.Columns {
		of := one
		of.column = column
		cell, ok := in.cell(&of)
		if !ok || cell != value.AsString() || column == one.column {
			continue
		}
		if one.column != "" {
			return f
		}
		one.column = column
	}
	return &one
}

// isMade reports whether an expression makes another value of the cell of a column: then mend
// the expression.
func (in instance) isMade(f *field, value cty.Value) bool {
	if !in.isOfColumn(f) || syntax.Traversal(f.Expr) != nil {
		return false
	}
	cell, ok := in.cell(f)
	return ok && (!syntax.IsText(value) || value.AsString() != cell)
}

// cell is the text of the row from which a field comes; false where there is none.
func (in instance) cell(f *field) (string, bool) {
	if ty := in.each.Type(); !ty.IsObjectType() || !ty.HasAttribute(f.column) {
		return "", false
	}
	value := in.each.GetAttr(f.column)
	if !syntax.IsText(value) {
		return "", false
	}
	return value.AsString(), true
}

// columnAlone shows the column without the text that an expression puts around it; "" where that is no remedy.
func (in instance) columnAlone(f *field, value cty.Value) string {
	cell, ok := in.cell(f)
	if !ok || !syntax.IsText(value) || !strings.Contains(value.AsString(), cell) {
		return ""
	}
	if _, err := transfer.ParseAmount(cell); err != nil {
		return ""
	}
	return fmt.Sprintf(" The cell is %q, and the expression adds the rest. Write the column alone:\n\n  amount = %s", cell, mistake.ColumnOf("each.value", f.column))
}

// formatHint shows how a data block says that a number is grouped, or has a decimal comma,
// where the column of an amount has such a number and the block says nothing.
func (e *evaluator) formatHint(f *field, value cty.Value) string {
	if !e.in.isOfColumn(f) || !syntax.IsText(value) {
		return ""
	}
	d := e.in.row.source
	if !slices.Contains(d.kind.arguments, "number_format") || d.file.Formats[f.column] != nil {
		return ""
	}
	examples := fittingFormats(value.AsString())
	if len(examples) == 0 {
		return ""
	}
	how := " If that is how the file writes numbers, say so in " + d.address + ":\n"
	if len(examples) > 1 {
		how = " If it is a number, it can be meant in several ways. Say which in " + d.address + ":\n"
	}
	for _, example := range examples {
		how += fmt.Sprintf("\n  number_format = { %s = %q }", mistake.KeyHCL(f.column), example)
	}
	return how
}

// groupedArgument finds the column of a row whose text a function takes for a decimal, and says how such numbers are declared; -1 for any
// other mistake.
func groupedArgument(e *evaluator, f *field, d *hcl.Diagnostic) (column int, hint string) {
	if e.in.row == nil || d.Summary != "Invalid function argument" {
		return -1, ""
	}
	for _, name := range f.Refs.Columns {
		of := *f
		of.column = name
		cell, ok := e.in.cell(&of)
		if !ok || !strings.Contains(d.Detail, fmt.Sprintf("%q is not a decimal", cell)) {
			continue
		}
		return columnIndex(e.in.row, name), e.formatHint(&of, cty.StringVal(cell))
	}
	return -1, ""
}

// checkNumbers looks the amount through for numbers where their types hang on each.value,
// once for each type of it. Rows of a data source are strings, which were seen to before.
func (e *evaluator) checkNumbers() bool {
	f := e.block.fields["amount"]
	if f == nil || f.broken || f.constant || e.in.row != nil {
		return true
	}
	ty := e.in.each.Type()
	if e.block.checked != cty.NilType && e.block.checked.Equals(ty) {
		return true
	}
	diags := checkDecimal(e.block.configured.scope, f.Expr, e.in.ctx)
	for _, d := range diags {
		e.add(f, d)
	}
	if !diags.HasErrors() {
		e.block.checked = ty
	}
	return !diags.HasErrors()
}

// isOfColumn reports whether the value of a field is that of one column of a data row.
func (in instance) isOfColumn(f *field) bool { return in.row != nil && f != nil && f.column != "" }

// refuseEmpty reports, as one mistake, the columns for which a row has no text: most such rows are totals or notes.
func (e *evaluator) refuseEmpty() {
	if len(e.empty) == 0 {
		return
	}
	f := e.empty[0]
	hint := e.in.row.source.totalsHint(f.column)
	if len(e.empty) == 1 {
		remedy := "Leave it out or make it null where there is none."
		if f.Name == "asset" || strings.HasSuffix(f.Name, "_profile_id") {
			remedy = "Each transfer needs it: fill in the cell."
		}
		e.refuse(f, "Empty text", "%s is empty. %s%s", f.Name, remedy, hint)
		return
	}
	var names []string
	for _, other := range e.empty[1:] {
		names = append(names, other.Name)
	}
	are := "are"
	if len(names) == 1 {
		are = "is"
	}
	e.refuse(f, "Empty text", "%s is empty, and so %s %s.%s", f.Name, are, english.List(names), hint)
}

// nothingHint says how a row is left out in which nothing is to be paid; "" for any other amount.
func (in instance) nothingHint(f *field, value cty.Value) string {
	if !in.isOfColumn(f) || !syntax.IsText(value) {
		return ""
	}
	text := value.AsString()
	bare := strings.Trim(text, " -–—\u00a0")
	what := ""
	if _, err := transfer.ParseAmount(strings.TrimPrefix(text, "-")); err == nil && text[0] == '-' {
		return fmt.Sprintf("amount %q is negative, and from and to alone say a direction. If it is a credit note, subtract it from an invoice of the same supplier in the file, and leave its row out of %s:\n\n  %s",
			text, in.row.source.address, in.row.source.leaving(fmt.Sprintf("!startswith(%s, \"-\")", mistake.ColumnOf("row", f.column))))
	}
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
	return fmt.Sprintf("%s. If nothing is to be paid in such a row, leave it out of %s:\n\n  %s",
		what, in.row.source.address, in.row.source.leaving(fmt.Sprintf("%s != %s", mistake.ColumnOf("row", f.column), mistake.QuotedHCL(text))))
}

// trimHint says how the space around a text is left out; "" where something else keeps it from being seen.
func (in instance) trimHint(f *field, text string) string {
	if strings.ContainsFunc(text, transfer.Hidden) {
		return " Type the text anew, without it."
	}
	if inner := strings.TrimSpace(text); !in.isOfColumn(f) || inner == text || inner == "" || transfer.CheckSent(inner) != nil {
		return ""
	}
	return fmt.Sprintf(" Correct it in the file, or leave the space out here:\n\n  %s = trimspace(%s)", f.Name, mistake.ColumnOf("each.value", f.column))
}

// spaceHint says how the space around the text of a column is left out where it would be a part of a ref_id; "" where
// the column has none.
func (in instance) spaceHint(f *field) string {
	if !in.isOfColumn(f) {
		return ""
	}
	if text := in.row.Text(columnIndex(in.row, f.column)); strings.TrimSpace(text) == text {
		return ""
	}
	column := mistake.ColumnOf("each.value", f.column)
	if f.column == in.row.source.file.Key {
		column = "each.key"
	}
	return fmt.Sprintf(" Correct it in the file, or write in %s, in place of %s:\n\n  trimspace(%[2]s)", f.Name, column)
}

// decimalsHint says what to do with an amount of a column that has more decimals than its asset. Three decimals
// may be thousands, which rounding would make a thousandth.
func (in instance) decimalsHint(f *field, text string, scale int) string {
	round := in.roundHint(f, scale)
	if _, isText := syntax.LiteralText(syntax.Unwrap(f.Expr)); isText && round == "" && !isJSON(f.Expr.Range().Filename) {
		return literalDecimalsHint(text, scale)
	}
	if round == "" || !grouped.MatchString(text) || in.row.source.kind.name == "json" {
		return round
	}
	d, whole := in.row.source, strings.Replace(text, ".", "", 1)
	format := d.file.Formats[f.column]
	switch {
	case format != nil:
		return fmt.Sprintf(" %s reads numbers of this column as in %q. If this one means %s, correct it in the file.", d.address, format.Example, whole) +
			strings.Replace(round, " Correct it in the file.", fmt.Sprintf(" If it means %s, correct it there too.", text), 1)
	case !slices.Contains(d.kind.arguments, "number_format") || d.kind.name == "xlsx": // whose cells say which of them are numbers
		return round
	}
	return fmt.Sprintf(" It can be meant in two ways. If it means %s, say so in %s:\n\n  number_format = { %s = \"1.234,56\" }\n\nIf it means %s, correct it in the file, or say how remit rounds it:%s",
		whole, d.address, mistake.KeyHCL(f.column), text, round[strings.Index(round, "\n\n"):])
}

// literalDecimalsHint shows what an amount that is written in the configuration with too many decimals may mean.
func literalDecimalsHint(text string, scale int) string {
	rounded := fmt.Sprintf("\n  amount = decimal_round(%q, %d, \"half_up\")", text, scale)
	if !grouped.MatchString(text) {
		return " Write the amount that is meant, or say how remit rounds it:\n" + rounded
	}
	return fmt.Sprintf(" It can be meant in two ways, with thousands behind the point or with decimals. Write the right one:\n\n  amount = %q%s", strings.Replace(text, ".", "", 1), rounded)
}

// roundComputed says how an amount that an expression computes is rounded to the decimals of its asset; "" for any other amount.
func (in instance) roundComputed(f *field, value cty.Value, scale int) string {
	if _, isCall := syntax.Unwrap(f.Expr).(*hclsyntax.FunctionCallExpr); !isCall || isJSON(f.Expr.Range().Filename) || in.isOfColumn(f) && !in.isMade(f, value) {
		return ""
	}
	return fmt.Sprintf(" The expression computes it. Say how remit rounds what it computes, with the expression in the place of AMOUNT:\n\n  amount = decimal_round(AMOUNT, %d, \"half_up\")", scale)
}

// roundHint says how an amount of a column is rounded to the decimals of its asset.
func (in instance) roundHint(f *field, scale int) string {
	if !in.isOfColumn(f) || syntax.Traversal(f.Expr) == nil {
		return ""
	}
	return fmt.Sprintf(" Correct it in the file. If remit is to round it, say how:\n\n  amount = decimal_round(%s, %d, \"half_up\")", mistake.ColumnOf("each.value", f.column), scale)
}
