package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// noNameOfColumn refuses a key that is a value of a row, or several columns: it is the name of one column. It is nil
// for any other argument.
func noNameOfColumn(n *eval.Node, a *eval.Argument) *hcl.Diagnostic {
	if n.Root != "data" || a.Name != "key" {
		return nil
	}
	const several = "The key is one column, and this names several. Add a column to the file that has them both, such as 2026-11-E-017, and name that column:\n\n  key = \"id\""
	if list, ok := syntax.Unwrap(a.Expr).(*hclsyntax.TupleConsExpr); ok && len(list.Exprs) > 1 {
		return mistake.New(a.Expr.Range(), "Key is not a column", several)
	}
	column, count := "", 0
	for _, t := range a.Expr.Variables() {
		steps := t[1:]
		if t.RootName() == "each" && len(steps) > 0 {
			steps = steps[1:]
		} else if t.RootName() != "row" {
			continue
		}
		if count++; len(steps) > 0 {
			column, _ = eval.StepName(steps[0], true)
		}
	}
	switch {
	case count == 0:
		return nil
	case count > 1:
		return mistake.New(a.Expr.Range(), "Key is not a column", several)
	case column == "":
		column = "employee"
	}
	return mistake.New(a.Expr.Range(), "Key is not a column", "The key is the name of a column, in quotation marks:\n\n  key = %s", mistake.QuotedHCL(column))
}
