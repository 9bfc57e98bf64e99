package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// knownOperation reads the first label of a transfer; it is "" with a hint where there is no such operation. Behind is
// the second label.
func knownOperation(text, behind string) (transfer.Operation, string) {
	operation := transfer.Operation(text)
	if operation.Known() {
		return operation, ""
	}
	if transfer.Operation(behind).Known() {
		return "", fmt.Sprintf(" The operation comes first, and the name behind it:\n\n  transfer %q %q {", behind, text)
	}
	return "", mistake.DidYouMean(text, transfer.OperationWords())
}

// nullInstead says how for_each gets a value where it is null.
func nullInstead(expr hclsyntax.Expression) string {
	if t := syntax.Traversal(expr); len(t) > 1 && t.RootName() == "var" {
		if name, ok := eval.StepName(t[1], true); ok {
			return fmt.Sprintf("var.%s has no other value. Give it one where its default is, in a file of variables, or by --var. A default of {} makes no transfer.", name)
		}
	}
	return "Where nothing is to be paid, write {}, which makes no transfer."
}

// setInstead says what for_each takes instead of a list.
func setInstead(value cty.Value) string {
	if !value.IsNull() && value.IsKnown() && value.CanIterateElements() {
		for _, item := range value.Elements() {
			if ty := item.Type(); ty.IsObjectType() || ty.IsMapType() {
				return "Rows of a file have their keys from a data block:\n\n  for_each = data.csv.payroll.rows"
			}
		}
	}
	return "toset(list) makes a set of a list."
}
