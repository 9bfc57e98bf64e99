package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/syntax"
)

// leaving is the line of a data source that leaves out what a condition does not let in, beside what its where leaves out now: a block
// has the argument once.
func (d *dataSource) leaving(condition string) string {
	return "where = " + d.beside() + condition
}

// beside is the condition that the argument where has now, to be joined with another one; "" for none, and where it is no single line.
func (d *dataSource) beside() string {
	if d.where == nil {
		return ""
	}
	at := d.where.Expr.Range()
	file := d.sources.files[at.Filename]
	if file == nil || isJSON(at.Filename) || !at.CanSliceBytes(file.Bytes) {
		return ""
	}
	text := string(at.SliceBytes(file.Bytes))
	if strings.ContainsAny(text, "\n\r") {
		return ""
	}
	switch expr := syntax.Unwrap(d.where.Expr).(type) {
	case *hclsyntax.ConditionalExpr:
		text = "(" + text + ")"
	case *hclsyntax.BinaryOpExpr:
		if expr.Op == hclsyntax.OpLogicalOr {
			text = "(" + text + ")"
		}
	}
	return text + " && "
}
