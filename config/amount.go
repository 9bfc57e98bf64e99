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
	"remit/config/rows"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// readAmount makes an amount of a value, or returns the summary and the detail of a mistake.
func readAmount(value cty.Value, expr hclsyntax.Expression, files map[string]*hcl.File) (transfer.Amount, string, string) {
	switch {
	case value.Type() == cty.Number:
		return transfer.Amount{}, "Amount is not quoted", "Numbers are binary floats, and an amount is a decimal. " + quotedFix(expr, files)
	case value.Type() != cty.String:
		return transfer.Amount{}, "Amount is not a decimal",
			fmt.Sprintf("An amount is a quoted decimal such as \"1200.50\", not %s.", value.Type().FriendlyName())
	}
	amount, err := transfer.ParseAmount(value.AsString())
	if err != nil {
		return transfer.Amount{}, "Invalid amount", fmt.Sprintf("amount %q: %s", value.AsString(), mistake.Sentence(err))
	}
	return amount, "", ""
}

// amountReason says what is wrong with an amount in words that do not hang on its digits: two
// amounts are alike where one remedy mends both.
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

// quotedFix shows the line that mends an unquoted number.
func quotedFix(expr hclsyntax.Expression, files map[string]*hcl.File) string {
	how := "Write it in quotation marks:"
	expr = syntax.Unwrap(expr)
	if minus, ok := expr.(*hclsyntax.UnaryOpExpr); ok { // no amount is negative
		expr, how = syntax.Unwrap(minus.Val), "Write it in quotation marks and without a sign:"
	}
	literal, ok := expr.(*hclsyntax.LiteralValueExpr)
	if !ok {
		return "Compute it with decimal_add, decimal_sub, decimal_mul, decimal_div or decimal_round on quoted decimals."
	}
	digits := ""
	if file := files[literal.SrcRange.Filename]; file != nil && literal.SrcRange.CanSliceBytes(file.Bytes) {
		digits = string(literal.SrcRange.SliceBytes(file.Bytes))
	}
	if isJSON(literal.SrcRange.Filename) {
		return fmt.Sprintf("%s\n\n  \"amount\": %q", how, digits)
	}
	return fmt.Sprintf("%s\n\n  amount = %q", how, digits)
}

// checkScale says what is wrong with the decimals of an amount, or "".
func (s scales) check(amount transfer.Amount, asset string) string {
	scale, limited := s.of(asset)
	written := amount.ScaleWritten()
	if !limited || written <= scale {
		return ""
	}
	return fmt.Sprintf("amount %q has %s; %s has %d.", amount, decimals(written), asset, scale)
}

func decimals(n int) string {
	if n == 1 {
		return "1 decimal"
	}
	return fmt.Sprintf("%d decimals", n)
}

// openingAmount reads the amount of an opening balance; nothing is the zero Amount.
func (l *loader) openingAmount(r *eval.Reader, asset string) transfer.Amount {
	value, a, found := r.Value("amount")
	if a == nil || found == eval.Wrong {
		return transfer.Amount{}
	}
	if found == eval.Absent {
		r.Refuse(a.Expr.Range(), "Required argument is null", "amount may not be null.")
		return transfer.Amount{}
	}
	if ctx, ok, _ := l.config.scope.Context(a.Refs); ok {
		r.Diags = append(r.Diags, checkDecimal(l.config.scope, a.Expr, ctx)...)
	}
	if syntax.IsText(value) && isNothing(value.AsString()) {
		return transfer.Amount{}
	}
	amount, summary, detail := readAmount(value, a.Expr, l.config.sources.files)
	if summary == "" {
		if detail = l.config.assets.check(amount, asset); detail != "" {
			summary = "Too many decimals"
		}
	}
	if summary != "" {
		r.Refuse(a.Expr.Range(), summary, "%s", detail)
	}
	return amount
}

// amount is the amount, checked against the decimals of its asset.
func (e *evaluation) amount(asset string) transfer.Amount {
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
	amount, summary, detail := readAmount(value, f.Expr, e.block.config.sources.files)
	if summary != "" {
		e.refuse(f, summary, "%s", detail+e.formatHint(f, value))
		if from, ok := e.diags[len(e.diags)-1].Extra.(*mistake.Origin); ok {
			from.Reason = amountReason(value)
		}
		return transfer.Amount{}
	}
	if detail := e.block.config.assets.check(amount, asset); detail != "" {
		e.refuse(f, "Too many decimals", "%s", detail)
	}
	return amount
}

// formatHint shows how a data block says that a number is grouped, or has a decimal comma,
// where the column of an amount has such a number and the block says nothing.
func (e *evaluation) formatHint(f *field, value cty.Value) string {
	if e.in.row == nil || f.column == "" || !syntax.IsText(value) {
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
func (e *evaluation) checkNumbers() bool {
	f := e.block.fields["amount"]
	if f == nil || f.broken || f.constant || e.in.row != nil {
		return true
	}
	ty := e.in.each.Type()
	if e.block.checked != cty.NilType && e.block.checked.Equals(ty) {
		return true
	}
	diags := checkDecimal(e.block.config.scope, f.Expr, e.in.ctx)
	for _, d := range diags {
		e.add(f, d)
	}
	if !diags.HasErrors() {
		e.block.checked = ty
	}
	return !diags.HasErrors()
}
