package lsp

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
)

// OutlineDiffers is how the outline of a text that was made of that of an earlier version differs from a fresh one; "" where it does not. It
// is false where the earlier one was of no use.
func OutlineDiffers(before, after string) (diff string, isEdited bool) {
	pieces := func(o *outline) (all []string) {
		for _, c := range o.chunks {
			all = append(all, fmt.Sprintf("%d %d %v %s", c.start, c.line, c.tree.whole, c.tree.text))
		}
		return all
	}
	edited := outlineOf(before, nil).edited(after)
	if edited == nil {
		return "", false
	}
	return cmp.Diff(pieces(outlineOf(after, nil)), pieces(edited)), true
}
