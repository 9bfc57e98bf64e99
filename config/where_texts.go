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
)

// comparison is one of a column with a written text.
type comparison struct {
	column, sign, text string
	index              int // of the column; -1 for none
	told               bool
	plain              string // the last text that is another one: most rows have it
}

// comparisons are those of an expression of where, with what no comparison of a column can mean: a column is text, which no number and no
// truth value is equal to, so such a condition is the same for each row.
func comparisons(expr hclsyntax.Expression) ([]*comparison, hcl.Diagnostics) {
	var all []*comparison
	var diags hcl.Diagnostics
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		binary, isBinary := node.(*hclsyntax.BinaryOpExpr)
		if !isBinary || binary.Op != hclsyntax.OpEqual && binary.Op != hclsyntax.OpNotEqual {
			return nil
		}
		sign := "=="
		if binary.Op == hclsyntax.OpNotEqual {
			sign = "!="
		}
		column, other := columnOfRow(binary.LHS), syntax.Unwrap(binary.RHS)
		if column == "" {
			column, other = columnOfRow(binary.RHS), syntax.Unwrap(binary.LHS)
		}
		if column == "" {
			return nil
		}
		if text, isText := syntax.LiteralText(other); isText {
			all = append(all, &comparison{column: column, sign: sign, text: text.AsString()})
			return nil
		}
		if literal, isLiteral := other.(*hclsyntax.LiteralValueExpr); isLiteral && !literal.Val.IsNull() {
			diags = append(diags, neverEqual(binary.SrcRange, column, sign, literal.Val))
		}
		return nil
	})
	return all, diags
}

// neverEqual refuses the comparison of a column with a number or a truth value.
func neverEqual(at hcl.Range, column, sign string, value cty.Value) *hcl.Diagnostic {
	what, text := "number", ""
	if value.Type() == cty.Bool {
		what, text = "truth value", fmt.Sprint(value.True())
	} else {
		text = value.AsBigFloat().Text('f', -1)
	}
	return mistake.New(at, "Text is compared with another kind",
		"A column of a file is text, and no text is equal to a %s. Write, as the file has it:\n\n  %s %s %q", what, mistake.ColumnOf("row", column), sign, text)
}

// columnOfRow is the column of the row that an expression is; "" for any other.
func columnOfRow(expr hclsyntax.Expression) string {
	path := syntax.Traversal(syntax.Unwrap(expr))
	if len(path) != 2 || path.RootName() != "row" {
		return ""
	}
	name, ok := eval.StepName(path[1], true)
	if !ok {
		return ""
	}
	return name
}

// columnsCompared are the comparisons of where with the index of the column of each; none without where.
func (d *dataSource) columnsCompared() []*comparison {
	if d.where == nil {
		return nil
	}
	all, _ := comparisons(d.where.Expr) // whose mistakes were told when the block was read
	for _, c := range all {
		c.index = slices.Index(d.columns, c.column)
	}
	return all
}

// warnOfLetters warns, once for each text of where, of a cell that has the same letters with other capitals or spaces, which is another
// text for the condition.
func (d *dataSource) warnOfLetters(r *row, all []*comparison) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, c := range all {
		i := c.index
		if c.told || i < 0 || c.text == "" || r.Fields[i] == c.text || r.Fields[i] == c.plain {
			continue
		}
		if !strings.EqualFold(strings.TrimSpace(r.Fields[i]), c.text) {
			c.plain = strings.Clone(r.Fields[i])
			continue
		}
		if slices.ContainsFunc(all, func(other *comparison) bool { return other.column == c.column && other.text == r.Fields[i] }) {
			continue
		}
		c.told = true
		diags = append(diags, mistake.Warning(r.At(i), "Text is written in another way",
			"The cell is %q, and where compares its column with %q, which is another text. Compare them without capitals and spaces, or correct the cell:\n\n  lower(trimspace(%s)) %s %q",
			r.Fields[i], c.text, mistake.ColumnOf("row", c.column), c.sign, strings.ToLower(c.text)))
	}
	return diags
}
