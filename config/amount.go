package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

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
		return transfer.Amount{}, "Invalid amount", fmt.Sprintf("amount %q: %s", value.AsString(), sentence(err))
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
	expr = unwrap(expr)
	if minus, ok := expr.(*hclsyntax.UnaryOpExpr); ok { // no amount is negative
		expr, how = unwrap(minus.Val), "Write it in quotation marks and without a sign:"
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
func (l *loader) openingAmount(r *reader, asset string) transfer.Amount {
	value, a, found := r.value("amount")
	if a == nil || found == wrong {
		return transfer.Amount{}
	}
	if found == nothing {
		r.refuse(a.expr.Range(), "Required argument is null", "amount may not be null.")
		return transfer.Amount{}
	}
	if ctx, ok, _ := l.config.scope.context(a.refs); ok {
		r.diags = append(r.diags, l.config.scope.checkDecimal(a.expr, ctx)...)
	}
	if isText(value) && isNothing(value.AsString()) {
		return transfer.Amount{}
	}
	amount, summary, detail := readAmount(value, a.expr, l.config.sources.files)
	if summary == "" {
		if detail = l.config.assets.check(amount, asset); detail != "" {
			summary = "Too many decimals"
		}
	}
	if summary != "" {
		r.refuse(a.expr.Range(), summary, "%s", detail)
	}
	return amount
}
