package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
)

// leftOut counts the rows of a data source that the condition of a for_each leaves out.
type leftOut struct {
	of      *dataSource // nil where the for_each has no such condition
	counted ReadWarning
}

// leftOutByIf counts the rows that the condition of a for_each leaves out, where it goes through those of one data
// source and made so many elements of them.
func leftOutByIf(s *eval.Scope, data map[*eval.Node]*dataSource, forEach *eval.Argument, made int) leftOut {
	loop, ok := forEach.Expr.(*hclsyntax.ForExpr)
	if !ok || loop.CondExpr == nil || loop.KeyExpr == nil || loop.Group {
		return leftOut{}
	}
	from := loop.CollExpr.Variables()
	if len(from) != 1 || from[0].RootName() != "data" {
		return leftOut{}
	}
	at := slices.IndexFunc(forEach.Refs.Nodes, func(n *eval.Node) bool { return data[n] != nil })
	if at < 0 {
		return leftOut{}
	}
	ctx, ok, _ := s.Context(forEach.Refs) // its mistakes were told when the whole was evaluated
	if !ok {
		return leftOut{}
	}
	rows, diags := s.Evaluate(loop.CollExpr, forEach.Refs, ctx)
	rows, _ = rows.Unmark()
	if diags.HasErrors() || rows.IsNull() || !rows.CanIterateElements() {
		return leftOut{}
	}
	d := data[forEach.Refs.Nodes[at]]
	return leftOut{d, ReadWarning{File: d.file.Name, Name: LeftOutByIf, Of: rows.LengthInt(), Count: rows.LengthInt() - made}}
}
