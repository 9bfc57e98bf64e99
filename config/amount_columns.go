package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// sharedColumns are the columns of which both a ref_id and an amount are made, as a sentence has them: by their names in the rows from which
// for_each is made. of has the rows of which for_each is all; nil for any other.
func sharedColumns(s *eval.Scope, forEach *eval.Argument, of *dataSource, id, amount columnSet) []string {
	if shared := id.shared(amount); shared != nil {
		return shared
	}
	if of != nil {
		if key := of.file.Key; id[keyColumn] && amount[key] {
			return []string{mistake.QuotedHCL(key)}
		}
		return nil
	}
	for _, loop := range loopsOf(s, forEach.Expr, map[hclsyntax.Expression]bool{}) {
		if loop.Group {
			continue
		}
		from := rowsOfLoop{loop}
		if shared := from.sources(id).shared(from.sources(amount)); shared != nil {
			return shared
		}
	}
	return nil
}

// loopsOf are the for expressions whose elements become those of for_each.
func loopsOf(s *eval.Scope, expr hclsyntax.Expression, seen map[hclsyntax.Expression]bool) []*hclsyntax.ForExpr {
	if seen[expr] {
		return nil
	}
	seen[expr] = true
	var all []*hclsyntax.ForExpr
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ForExpr:
		return []*hclsyntax.ForExpr{e}
	case *hclsyntax.FunctionCallExpr:
		for _, arg := range e.Args {
			all = append(all, loopsOf(s, arg, seen)...)
		}
	case *hclsyntax.ConditionalExpr:
		all = append(loopsOf(s, e.TrueResult, seen), loopsOf(s, e.FalseResult, seen)...)
	case *hclsyntax.ScopeTraversalExpr:
		if local := localNamed(s, e.Traversal); local != nil {
			return loopsOf(s, local.Expr, seen)
		}
	}
	return all
}

// columnSet are columns of an element; "" for all of it.
type columnSet map[string]bool

// keyColumn stands for the key of an element. No column has a name that begins so.
const keyColumn = "\x00key"

// shared are the columns of two sets, in order, as a sentence has them; nil for none.
func (s columnSet) shared(other columnSet) []string {
	if len(other) == 0 || len(s) == 0 {
		return nil
	}
	var all []string
	for _, column := range slices.Sorted(maps.Keys(s)) {
		switch {
		case !other[column]:
		case column == keyColumn:
			all = append(all, "each.key")
		case column == "":
			all = append(all, "each.value")
		default:
			all = append(all, mistake.QuotedHCL(column))
		}
	}
	if isOther := len(other) > 1 || !other[keyColumn]; all == nil && s[""] && isOther {
		return []string{"each.value"}
	}
	return all
}

// ofEach is what steps behind each lead to: a column of each.value, or each.key.
func ofEach(path hcl.Traversal) (column string, is bool) {
	if len(path) < 2 || path.RootName() != "each" {
		return "", false
	}
	switch name, _ := eval.StepName(path[1], true); {
	case name == "key":
		return keyColumn, true
	case len(path) == 2:
		return "", true
	}
	column, is = eval.StepName(path[2], true)
	return column, is
}

// rowsOfLoop are the elements of the collection of a loop.
type rowsOfLoop struct{ loop *hclsyntax.ForExpr }

// column is what steps behind the loop's variable lead to.
func (l rowsOfLoop) column(path hcl.Traversal) (column string, is bool) {
	switch {
	case len(path) == 0:
		return "", false
	case path.RootName() == l.loop.KeyVar:
		return keyColumn, true
	case path.RootName() != l.loop.ValVar:
		return "", false
	case len(path) == 1:
		return "", true
	}
	column, is = eval.StepName(path[1], true)
	return column, is
}

// sources are the columns of the collection from which columns of the loop's own elements are made.
func (l rowsOfLoop) sources(of columnSet) columnSet {
	all := columnSet{}
	for column := range of {
		switch column {
		case keyColumn:
			maps.Copy(all, columnsIn(l.loop.KeyExpr, l.column))
		case "":
			maps.Copy(all, columnsIn(l.loop.ValExpr, l.column))
		default:
			l.source(l.loop.ValExpr, column, all)
		}
	}
	return all
}

// source adds those from which one column of a value is made.
func (l rowsOfLoop) source(value hclsyntax.Expression, column string, all columnSet) {
	switch e := syntax.Unwrap(value).(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if name, is := l.column(e.Traversal); is && name == "" {
			all[column] = true
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if name, ok := syntax.LiteralKey(item.KeyExpr); ok && name == column {
				maps.Copy(all, columnsIn(item.ValueExpr, l.column))
			}
		}
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "merge" {
			for _, arg := range e.Args {
				l.source(arg, column, all)
			}
		}
	case *hclsyntax.ConditionalExpr:
		l.source(e.TrueResult, column, all)
		l.source(e.FalseResult, column, all)
	}
}

// columnsIn are the columns whose texts come into the value of an expression. A condition or an index only chooses between values.
func columnsIn(expr hclsyntax.Expression, of func(hcl.Traversal) (string, bool)) columnSet {
	all := columnSet{}
	var look func(exprs ...hclsyntax.Expression)
	look = func(exprs ...hclsyntax.Expression) {
		for _, expr := range exprs {
			switch e := syntax.Unwrap(expr).(type) {
			case *hclsyntax.ScopeTraversalExpr:
				if column, is := of(e.Traversal); is {
					all[column] = true
				}
			case *hclsyntax.RelativeTraversalExpr:
				look(e.Source)
			case *hclsyntax.ConditionalExpr:
				look(e.TrueResult, e.FalseResult)
			case *hclsyntax.IndexExpr:
				if _, isName := syntax.Unwrap(e.Collection).(*hclsyntax.ScopeTraversalExpr); !isName {
					look(e.Collection)
				}
			case *hclsyntax.FunctionCallExpr:
				if e.Name == "lookup" {
					continue // which of them is known with the row
				}
				look(e.Args...)
			case *hclsyntax.TemplateExpr:
				look(e.Parts...)
			case *hclsyntax.TemplateJoinExpr:
				look(e.Tuple)
			case *hclsyntax.BinaryOpExpr:
				if e.Op.Type == cty.Number {
					look(e.LHS, e.RHS)
				}
			case *hclsyntax.UnaryOpExpr:
				look(e.Val)
			case *hclsyntax.SplatExpr:
				if column, is := columnOfSplat(e); is {
					all[column] = true
					continue
				}
				look(e.Source)
			case *hclsyntax.ForExpr:
				if column, is := of(syntax.Traversal(e.CollExpr)); is && column == "" { // rows of one group
					maps.Copy(all, columnsIn(e.ValExpr, rowsOfLoop{e}.column))
				} else {
					look(e.CollExpr)
				}
				look(e.ValExpr)
			case *hclsyntax.TupleConsExpr:
				look(e.Exprs...)
			case *hclsyntax.ObjectConsExpr:
				for _, item := range e.Items {
					look(item.ValueExpr)
				}
			}
		}
	}
	look(expr)
	return all
}

// columnOfSplat is the column of each element that [*].NAME takes.
func columnOfSplat(e *hclsyntax.SplatExpr) (string, bool) {
	path, ok := syntax.Unwrap(e.Each).(*hclsyntax.RelativeTraversalExpr)
	if !ok || len(path.Traversal) == 0 {
		return "", false
	}
	return eval.StepName(path.Traversal[0], true)
}
