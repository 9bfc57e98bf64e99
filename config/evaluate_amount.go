package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/rows"
	"remit/config/syntax"
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
	amount, summary, detail := readAmount(value, f.Expr, e.block.configured.files)
	if summary != "" {
		if text := value; e.isOfColumn(f) && len(e.empty) > 0 && syntax.IsText(text) && text.AsString() == "" {
			e.empty = append(e.empty, f) // one of several cells that a row of totals or notes leaves empty
			return transfer.Amount{}
		}
		format := e.formatHint(f, value)
		if nothing := e.nothingHint(f, value); format == "" && nothing != "" {
			detail = nothing
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
		e.refuse(f, "Too many decimals", "%s%s", detail, e.roundHint(f, asset))
	}
	return amount
}

// formatHint shows how a data block says that a number is grouped, or has a decimal comma,
// where the column of an amount has such a number and the block says nothing.
func (e *evaluator) formatHint(f *field, value cty.Value) string {
	if !e.isOfColumn(f) || !syntax.IsText(value) {
		return ""
	}
	d := e.in.row.source
	if !slices.Contains(d.kind.arguments, "number_format") || d.file.Formats[f.column] != nil {
		return ""
	}
	examples := rows.FittingNumberFormats(value.AsString())
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
