package lsp

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// pointed is what a place of a text points at.
type pointed struct {
	blocks    []*hclsyntax.Block // the outermost first
	attribute *hclsyntax.Attribute
	traversal hcl.Traversal // with steps up to the one that is pointed at; nil for none
	function  string
	text      string    // a text without anything computed in it, that is pointed at
	isName    bool      // the name of the argument is pointed at
	isHeader  bool      // the header of the innermost block is
	at        hcl.Range // in the piece
	start     int       // of the piece
}

// kinds are the types of the blocks.
func (p pointed) kinds() []string {
	var kinds []string
	for _, b := range p.blocks {
		kinds = append(kinds, b.Type)
	}
	return kinds
}

// pointedAt finds what a byte of a text is in.
func pointedAt(o *outline, offset int) pointed {
	piece := o.at(offset)
	p := pointed{start: piece.start}
	at := offset - piece.start
	p.blocks = enclosing(piece.tree.body, at)
	if len(p.blocks) == 0 {
		return p
	}
	inner := p.blocks[len(p.blocks)-1]
	if header := inner.DefRange(); at <= header.End.Byte {
		p.isHeader, p.at = true, header
		return p
	}
	for _, a := range inner.Body.Attributes {
		if at < a.SrcRange.Start.Byte || at > a.SrcRange.End.Byte {
			continue
		}
		p.attribute = a
		if at <= a.NameRange.End.Byte {
			p.isName, p.at = true, a.NameRange
			return p
		}
		p.inValue(a.Expr, at)
	}
	return p
}

// inValue finds the reference, the function or the text of a value.
func (p *pointed) inValue(expr hclsyntax.Expression, at int) {
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		switch e := node.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			if r := e.SrcRange; at < r.Start.Byte || at > r.End.Byte {
				return nil
			}
			for i, step := range e.Traversal {
				if at <= stepRange(step).End.Byte || i == len(e.Traversal)-1 {
					p.traversal, p.at = e.Traversal[:i+1], stepRange(step)
					return nil
				}
			}
		case *hclsyntax.FunctionCallExpr:
			if r := e.NameRange; at >= r.Start.Byte && at <= r.End.Byte {
				p.function, p.at = e.Name, r
			}
		case *hclsyntax.TemplateExpr:
			if r := e.SrcRange; e.IsStringLiteral() && at >= r.Start.Byte && at <= r.End.Byte {
				if v, diags := e.Value(nil); !diags.HasErrors() {
					p.text, p.at = v.AsString(), r
				}
			}
		}
		return nil
	})
}

func stepRange(step hcl.Traverser) hcl.Range {
	switch step := step.(type) {
	case hcl.TraverseRoot:
		return step.SrcRange
	case hcl.TraverseAttr:
		r := step.SrcRange
		if r.End.Byte-r.Start.Byte > len(step.Name) { // with the dot
			r.Start.Byte = r.End.Byte - len(step.Name)
		}
		return r
	case hcl.TraverseIndex:
		return step.SrcRange
	}
	return hcl.Range{}
}
