package lsp

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// tokenTypes are the types of semantic tokens, by their numbers.
var tokenTypes = []string{"keyword", "class", "property", "function", "namespace", "variable"}

const (
	tokenKeyword = iota
	tokenClass
	tokenProperty
	tokenFunction
	tokenNamespace
	tokenVariable
)

type tokensResult struct {
	Data []int `json:"data"`
}

// token is a part of a text with its type, on one line.
type token struct{ from, to, kind int }

// tokens colour the words of a document.
type tokens struct{ sources *sources }

func (f tokens) all(ctx context.Context, p *documentParams) (any, error) {
	result := tokensResult{Data: []int{}}
	d := f.sources.native(p.TextDocument.URI)
	if d == nil {
		return result, nil
	}
	last := position{}
	for _, c := range f.sources.outline(d).chunks {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		tokens := tokensOf(c.tree.body, nil)
		slices.SortFunc(tokens, func(a, b token) int { return a.from - b.from })
		for _, t := range tokens {
			at, end := d.position(c.start+t.from), d.position(c.start+t.to)
			if at.Line != end.Line || end.Character <= at.Character || at.Line == last.Line && at.Character < last.Character {
				continue
			}
			column := at.Character
			if at.Line == last.Line {
				column -= last.Character
			}
			result.Data = append(result.Data, at.Line-last.Line, column, end.Character-at.Character, t.kind, 0)
			last = at
		}
	}
	return result, nil
}

// tokensOf are those of a body: blocks, labels, arguments, functions and references.
func tokensOf(body *hclsyntax.Body, all []token) []token {
	add := func(r hcl.Range, kind int) { all = append(all, token{r.Start.Byte, r.End.Byte, kind}) }
	for _, a := range body.Attributes {
		add(a.NameRange, tokenProperty)
		_ = hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
			switch e := node.(type) {
			case *hclsyntax.FunctionCallExpr:
				add(e.NameRange, tokenFunction)
			case *hclsyntax.ScopeTraversalExpr:
				for i, step := range e.Traversal {
					switch step.(type) {
					case hcl.TraverseRoot:
						if len(e.Traversal) > 1 {
							add(stepRange(step), tokenNamespace)
						}
					case hcl.TraverseAttr:
						add(stepRange(step), map[bool]int{true: tokenVariable, false: tokenProperty}[i == 1])
					}
				}
			}
			return nil
		})
	}
	for _, b := range body.Blocks {
		add(b.TypeRange, tokenKeyword)
		for _, r := range b.LabelRanges {
			add(r, tokenClass)
		}
		if b.Body != nil {
			all = tokensOf(b.Body, all)
		}
	}
	return all
}
