package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/syntax"
)

// notePayments tells the data sources that leave out rows at their end which columns transfers read. It looks at the written blocks
// alone, so that each reading of a file finds the same. Blocks of a file that is read in parts are not looked at.
func notePayments(data map[*eval.Node]*dataSource, parts []transferPart) {
	var sources []*dataSource
	for _, d := range data {
		if endsEarly(d) {
			sources = append(sources, d)
		}
	}
	if sources == nil {
		return
	}
	for _, part := range parts {
		if part.block == nil || part.block.Arguments["for_each"] == nil {
			continue
		}
		path := syntax.Traversal(part.block.Arguments["for_each"].Expr)
		isOne := len(path) == 4 && path.RootName() == "data"
		p := paymentOf(part.block)
		for _, d := range sources {
			if !isOne || isNamed(path, strings.TrimPrefix(d.address, "data.")) {
				d.payments = append(d.payments, p)
			}
		}
	}
}

// paymentOf are the columns that the arguments of a block name.
func paymentOf(b *eval.Block) payment {
	var p payment
	for _, a := range b.InOrder {
		switch name, _, _ := strings.Cut(a.Name, "_"); {
		case a.Broken:
		case name == "from" || name == "to":
			p.who = append(p.who, columnsOfEach(a.Expr)...)
		case a.Name == "amount" || a.Name == "asset":
			p.much = append(p.much, columnsOfEach(a.Expr)...)
		}
	}
	return p
}

// columnsOfEach are the columns that an expression names of each.value.
func columnsOfEach(expr hclsyntax.Expression) []string {
	var names []string
	for _, path := range expr.Variables() {
		if len(path) < 3 || path.RootName() != "each" {
			continue
		}
		value, _ := eval.StepName(path[1], false)
		if name, ok := eval.StepName(path[2], true); ok && value == "value" {
			names = append(names, cty.NormalizeString(name))
		}
	}
	return names
}
