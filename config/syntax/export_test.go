package syntax

import (
	"iter"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Parts splits a file and parses its parts: the ranges of their blocks, how many parts have
// only transfers, and whether all could be parsed.
func Parts(content []byte, name string) (blocks []hcl.Range, late int, ok bool) {
	end := 0
	parts := Split(content, name, false)
	if parts == nil && len(content) > 0 {
		return nil, 0, false
	}
	for _, p := range parts {
		if p.start.Byte != end {
			panic("a part does not begin where the one before it ends")
		}
		end += len(p.content)
		if p.TransfersOnly {
			late++
		}
		body := p.Parse()
		if body == nil {
			return nil, late, false
		}
		for _, b := range body.Blocks {
			blocks = append(blocks, b.Range())
		}
	}
	if end != len(content) {
		panic("the parts end before the file does")
	}
	return blocks, late, true
}

// Ahead is ahead.
func Ahead[T, R any](items []T, work func(T) R) iter.Seq[R] { return Parallel(items, work) }

// ParsePlain parses plain blocks from a place on; it is false where they are not plain.
func ParsePlain(content []byte, name string, start hcl.Pos) (*hclsyntax.Body, bool) {
	body := parsePlain(content, name, start)
	return body, body != nil
}
