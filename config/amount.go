package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
	"remit/config/rows"
	"remit/config/syntax"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// readAmount makes an amount of the value of an argument, or returns the summary and the detail of a mistake.
func readAmount(argument string, value cty.Value, expr hclsyntax.Expression, files map[string]*hcl.File) (transfer.Amount, string, string) {
	switch {
	case value.Type() == cty.Number:
		return transfer.Amount{}, "Amount is not quoted", "Numbers are binary floats, and an amount is a decimal. " + quotedFix(argument, expr, files)
	case value.Type() != cty.String:
		return transfer.Amount{}, "Amount is not a decimal",
			fmt.Sprintf("An amount is a decimal in quotation marks such as \"1200.50\", not %s.", mistake.Kind(value.Type()))
	}
	amount, err := transfer.ParseAmount(value.AsString())
	if err != nil {
		return transfer.Amount{}, "Invalid amount", wrongAmount(argument, value.AsString(), err) + plainAmounts(argument, value.AsString(), expr)
	}
	return amount, "", ""
}

// wrongAmount says why a text is no amount.
func wrongAmount(argument, text string, err error) string {
	why := mistake.Sentence(err)
	if inner := strings.Trim(text, "'’‘`\""); inner != text && len(inner) > 0 && len(text)-len(inner) > 1 {
		if _, wrong := transfer.ParseAmount(inner); wrong == nil {
			return fmt.Sprintf("%s %q has quotation marks around it that are part of the value. Take them away where the value is written, so that it is %s.", argument, text, inner)
		}
	}
	if strings.HasPrefix(why, "is ") || strings.HasPrefix(why, "has ") {
		return fmt.Sprintf("%s %q %s", argument, text, why)
	}
	return fmt.Sprintf("%s %q: %s", argument, text, why)
}

// plainAmounts shows the lines that mend an amount which is written with groups, a decimal comma or a
// currency in the text of an expression. There are several where it can be meant in several ways.
func plainAmounts(argument, text string, expr hclsyntax.Expression) string {
	if _, isText := syntax.LiteralText(expr); !isText || isJSON(expr.Range().Filename) {
		return ""
	}
	var lines []string
	for _, example := range fittingFormats(text) {
		format, err := rows.ParseNumberFormat(example)
		if err != nil {
			continue
		}
		plain, err := format.Plain(text)
		if _, wrong := transfer.ParseAmount(plain); err != nil || wrong != nil {
			continue
		}
		if line := fmt.Sprintf("\n  %s = %q", argument, plain); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return " Write:\n" + lines[0]
	}
	return " It can be meant in several ways. Write the right one:\n" + strings.Join(lines, "")
}

// quotedFix shows the line that mends an unquoted number.
func quotedFix(argument string, expr hclsyntax.Expression, files map[string]*hcl.File) string {
	how := "Write it in quotation marks:"
	expr = syntax.Unwrap(expr)
	if minus, ok := expr.(*hclsyntax.UnaryOpExpr); ok { // no amount is negative
		expr, how = syntax.Unwrap(minus.Val), "Write it in quotation marks and without a sign:"
	}
	literal, ok := expr.(*hclsyntax.LiteralValueExpr)
	if of := syntax.Traversal(expr); !ok && of != nil && of.RootName() == "var" {
		return "Give the variable the type of text where it is declared, and its value quotation marks:\n\n  type    = string\n  default = \"1200.50\""
	}
	if from := syntax.Traversal(expr); !ok && from != nil { // as of jsondecode
		name := argument
		if last, isAttr := from[len(from)-1].(hcl.TraverseAttr); isAttr {
			name = last.Name
		}
		return fmt.Sprintf("Correct it where it comes from: in the YAML or JSON that a function decodes, or in a local, write the number in quotation marks, such as %s: \"1200.50\". "+
			"A data \"json\" block needs none: it reads numbers of a JSON file with all their digits.", name)
	}
	if !ok {
		return "Compute it with decimal_add, decimal_sub, decimal_mul, decimal_div or decimal_round on quoted decimals."
	}
	digits := ""
	if file := files[literal.SrcRange.Filename]; file != nil && literal.SrcRange.CanSliceBytes(file.Bytes) {
		digits = string(literal.SrcRange.SliceBytes(file.Bytes))
	}
	if isJSON(literal.SrcRange.Filename) {
		return fmt.Sprintf("%s\n\n  %q: %q", how, argument, digits)
	}
	return fmt.Sprintf("%s\n\n  %s = %q", how, argument, digits)
}

// check describes the mistake in the decimals of an amount; "" for none.
func (s scales) check(amount transfer.Amount, asset string) string {
	scale, isAllowed := transfer.Scales(s).Allow(amount, asset)
	if isAllowed {
		return ""
	}
	return fmt.Sprintf("amount %q has %s; %s has %d.", amount, decimals(amount.ScaleWritten()), asset, scale)
}

// grouped matches a number that may have a group of three digits, instead of three decimals.
var grouped = lazyregexp.New(`^-?[1-9][0-9]{0,2}\.[0-9]{3}$`)

// checkCap is check for the amount of an argument that caps others: 250.000 of an asset with two decimals is more likely thousands than a
// threshold, and as one it would be a thousandth of the cap that is meant.
func (s scales) checkCap(argument string, amount transfer.Amount, asset string) string {
	detail := s.check(amount, asset)
	if detail == "" {
		return ""
	}
	detail = argument + strings.TrimPrefix(detail, "amount")
	text := amount.String()
	if !grouped.MatchString(text) {
		return detail + " Write the amount that is meant."
	}
	scale, _ := s.of(asset)
	whole, fraction, _ := strings.Cut(text, ".")
	short := strings.TrimSuffix(whole+"."+fraction[:min(scale, len(fraction))], ".")
	return detail + fmt.Sprintf(" It can be meant in two ways, with thousands behind the point or with decimals. Write the right one:\n\n  %s = %q\n  %s = %q", argument, whole+fraction, argument, short)
}

func decimals(n int) string {
	if n == 1 {
		return "1 decimal"
	}
	return fmt.Sprintf("%d decimals", n)
}
