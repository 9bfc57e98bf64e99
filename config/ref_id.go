package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/internal/text/lazyregexp"
)

// braced is a reference in a text whose braces have no dollar sign before them.
var braced = lazyregexp.New(`(^|[^$])\{each\.(\w+(?:\.\w+)*)\}`)

// withKey is the expression of a ref_id with the key behind it, as it is written in HCL.
func withKey(expr hclsyntax.Expression, files map[string]*hcl.File) string {
	at := expr.Range()
	if file := files[at.Filename]; file != nil && at.CanSliceBytes(file.Bytes) && at.Start.Line == at.End.Line {
		if text := string(at.SliceBytes(file.Bytes)); len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
			if braces := braced.ReplaceAllString(text, `$1$${each.$2}`); braces != text {
				return braces
			}
			return text[:len(text)-1] + `-${each.key}"`
		}
	}
	return `"rent-${each.key}"`
}
