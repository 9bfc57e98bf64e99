package config

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// checkSent refuses text that a reviewer could not tell from another.
func checkSent(text string) error {
	if err := checkSpacing(text); err != nil {
		return err
	}
	if first, last := text[0], text[len(text)-1]; first <= ' ' || last <= ' ' || first >= utf8.RuneSelf || last >= utf8.RuneSelf {
		return transfer.CheckRefID(text)
	}
	return transfer.CheckText(text)
}

// checkSpacing refuses a text that looks like the columns of a plan, or like a text that a plan cut
// short.
func checkSpacing(text string) error {
	switch {
	case strings.Contains(text, "  "):
		return errors.New("has two spaces or more in a row, which would look like two columns of a plan; write one")
	case strings.Contains(text, "…"):
		return errors.New("has a …, by which a plan shows that it left something out; write it otherwise")
	}
	return nil
}

// checkRefID refuses a text that may not be declared as a ref_id. A state of before may have one
// that is refused here for its spaces.
func checkRefID(text string) error {
	if err := checkSpacing(text); err != nil {
		return err
	}
	return transfer.CheckRefID(text)
}

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
