package syntax

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
	"remit/internal/text/jsontext"
	"remit/internal/text/lazyregexp"
)

const (
	// nestingMax bounds how deeply expressions and blocks may nest: the parser and the
	// evaluator recurse, and a stack that overflows can't be recovered from.
	nestingMax = 500
	// nestingSuspect is how many bytes that could nest make a file worth a count.
	nestingSuspect = 2000
	// numberExponentMax bounds the size of number literals, in binary digits: printing
	// 1e999999999 would take a gigabyte.
	numberExponentMax = 4096
)

// lexer is one of the scanners of hclsyntax.
type lexer func(src []byte, filename string, start hcl.Pos) (hclsyntax.Tokens, hcl.Diagnostics)

// CheckNesting refuses source that would make a recursive parser or evaluator recurse more
// than nestingMax deep. Most sources are too short for that and are not scanned.
func CheckNesting(src []byte, filename string, start hcl.Pos, lex lexer) hcl.Diagnostics {
	if !suspect(src) {
		return nil
	}
	return checkDepth(src, filename, start, lex)
}

// checkNestingOfFile is [CheckNesting] of a whole file. It scans from the first segment on that could nest too deeply by its length, or that
// can't be followed: at the end of each before it nothing is open.
func checkNestingOfFile(src []byte, filename string) hcl.Diagnostics {
	if !suspect(src) {
		return nil
	}
	outline := outline{src: src}
	for from, line := 0, 1; from < len(src); {
		end, ok := outline.next()
		if !ok || nestable(src[from:end]) > nestingMax {
			return checkDepth(src[from:], filename, hcl.Pos{Line: line, Column: 1, Byte: from}, hclsyntax.LexConfig)
		}
		line += bytes.Count(src[from:end], []byte{'\n'})
		from = end
	}
	return nil
}

func checkDepth(src []byte, filename string, start hcl.Pos, lex lexer) hcl.Diagnostics {
	tokens, _ := lex(src, filename, start) // the parser reports their mistakes
	depth := nesting{chains: []int{0}}
	for i, token := range tokens {
		if depth.take(tokens, i) {
			return tooDeep(token.Range)
		}
	}
	return nil
}

func suspect(src []byte) bool { return nestable(src) > nestingSuspect }

// nestable counts the bytes that could nest: a source nests no deeper.
func nestable(src []byte) int {
	count := 0
	for _, c := range src {
		if bytes.IndexByte([]byte("([{!?+-*/%<>=&|"), c) >= 0 {
			count++
		}
	}
	return count
}

func tooDeep(r hcl.Range) hcl.Diagnostics {
	return hcl.Diagnostics{mistake.New(r, nestedTooDeeply,
		"Brackets, blocks and operators may nest %d deep. Split the expression with locals.", nestingMax)}
}

// nesting counts, for each bracket that is open, itself and the operators at its level
// since the last separator: as deep may a parser recurse.
type nesting struct {
	chains []int // operators of each open level, outermost first
	sum    int   // of chains, and one for each level
	curly  []bool
}

// take reads the i-th token and reports whether the nesting is too deep.
func (n *nesting) take(tokens hclsyntax.Tokens, i int) bool {
	last := len(n.chains) - 1
	switch tokens[i].Type { //nolint:exhaustive // the other tokens do not nest
	case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenOQuote,
		hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
		n.chains = append(n.chains, 0)
		n.curly = append(n.curly, tokens[i].Type == hclsyntax.TokenOBrace)
		n.sum++
	case hclsyntax.TokenTemplateControl: // %{ if } … %{ endif }: the text after it nests
		n.chains[last]++
		n.chains = append(n.chains, 0)
		n.curly = append(n.curly, false)
		n.sum += 2
	case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenCQuote,
		hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		if last > 0 {
			n.sum -= n.chains[last] + 1
			n.chains = n.chains[:last]
			n.curly = n.curly[:last-1]
		}
	case hclsyntax.TokenComma:
		n.reset(last)
	case hclsyntax.TokenNewline:
		if last == 0 || n.curly[last-1] {
			n.reset(last)
		}
	case hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
		hclsyntax.TokenBang, hclsyntax.TokenQuestion, hclsyntax.TokenAnd, hclsyntax.TokenOr,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq:
		n.chains[last]++
		n.sum++
	}
	return n.sum > nestingMax
}

func (n *nesting) reset(level int) {
	n.sum -= n.chains[level]
	n.chains[level] = 0
}

// checkNestingJSON is [CheckNesting] for JSON: brackets outside of strings.
func checkNestingJSON(src []byte, filename string) hcl.Diagnostics {
	if at := jsontext.NestedAt(src, nestingMax); at >= 0 {
		start := hcl.Pos{Line: 1 + bytes.Count(src[:at], []byte("\n")), Column: 1, Byte: at}
		return tooDeep(hcl.Range{Filename: filename, Start: start, End: start})
	}
	return nil
}

// checkDates refuses dates and months that would be computed.
func checkDates(expr hclsyntax.Expression) hcl.Diagnostics {
	computed := hcl.Range{} // the date that was told last: its parts are none of their own
	return hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		date := dateComputed(node)
		if date == "" || computed.Overlaps(node.Range()) {
			return nil
		}
		computed = node.Range()
		return hcl.Diagnostics{mistake.New(node.Range(), "Date is computed",
			"Without quotation marks this is arithmetic with numbers, and no date. Write:\n\n  %q", date)}
	})
}

// CheckNumbers refuses number literals of absurd size.
func CheckNumbers(expr hclsyntax.Expression) hcl.Diagnostics {
	return hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		literal, ok := node.(*hclsyntax.LiteralValueExpr)
		if !ok || literal.Val.IsNull() || literal.Val.Type() != cty.Number {
			return nil
		}
		if exponent := literal.Val.AsBigFloat().MantExp(new(big.Float)); exponent <= numberExponentMax && exponent >= -numberExponentMax {
			return nil
		}
		return hcl.Diagnostics{mistake.New(literal.SrcRange, "Number out of range",
			"Numbers may have about 1,200 digits. Amounts are quoted decimals.")}
	})
}

var dateForm = lazyregexp.New(`^(?:\d{4}-\d{2}(?:-\d{2})?|\d{1,2}/\d{1,2}/\d{4})$`)

// dateComputed is the date or the month that an expression is to be, as it is written, where the expression
// computes with its parts; "" for any other.
func dateComputed(node hclsyntax.Node) string {
	if operation, ok := node.(*hclsyntax.BinaryOpExpr); ok {
		if written, isPlain := numbersWritten(operation); isPlain && dateForm.MatchString(written) {
			return written
		}
	}
	return ""
}

// numbersWritten is an expression of digits and signs as it is written; false where there are spaces or anything
// else.
func numbersWritten(expr hclsyntax.Expression) (string, bool) {
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		if e.Val.IsNull() || e.Val.Type() != cty.Number {
			return "", false
		}
		return fmt.Sprintf("%0*s", e.SrcRange.End.Byte-e.SrcRange.Start.Byte, e.Val.AsBigFloat().Text('f', 0)), true
	case *hclsyntax.BinaryOpExpr:
		sign := map[*hclsyntax.Operation]string{hclsyntax.OpSubtract: "-", hclsyntax.OpDivide: "/"}[e.Op]
		left, isLeft := numbersWritten(e.LHS)
		right, isRight := numbersWritten(e.RHS)
		if sign == "" || !isLeft || !isRight || e.RHS.Range().Start.Byte != e.LHS.Range().End.Byte+1 {
			return "", false
		}
		return left + sign + right, true
	}
	return "", false
}
