package lsp_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/lsp"
	"remit/internal/proof/suite"
)

// TestAnEditedOutlineIsThatOfTheWholeText edits a long text at random places, most of them near the beginnings of blocks and texts of
// several lines.
func TestAnEditedOutlineIsThatOfTheWholeText(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 3_500 {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&text, "transfer \"internal\" \"t-%d\" {\n  amount = \"%d.00\"\n  note = <<EOT\nlocals {\nEOT\n}\n", i, i)
		case 1:
			fmt.Fprintf(&text, "locals {\n  x%d = \"%s\"\n}\n\n", i, strings.Repeat("x", 150))
		default:
			text.WriteString("# profile \"x\" {\nprofile \"p\" {\n}\n")
		}
	}
	before := text.String()
	words := []string{"", "", "locals {\n", "\n", "<<EOT\n", "EOT\n", "profile", "x", "}\n", "\ntransfer \"a\" \"b\" {\n", "é"}
	suite.CheckSome(t, suite.Dose(5, 15, 300), func(r *rapid.T) {
		after := before
		for range rapid.IntRange(1, 2).Draw(r, "edits") {
			from := rapid.IntRange(0, len(after)).Draw(r, "from")
			if near := strings.IndexAny(after[from:], "l<EtpT"); near >= 0 && rapid.Bool().Draw(r, "near") {
				from += near
			}
			to := min(from+rapid.IntRange(0, 20).Draw(r, "size"), len(after))
			after = after[:from] + rapid.SampledFrom(words).Draw(r, "text") + after[to:]
		}
		diff, isEdited := lsp.OutlineDiffers(before, after)
		if diff != "" {
			r.Fatal(diff)
		}
		if !isEdited {
			r.Fatal("the text is too short")
		}
	})
}
